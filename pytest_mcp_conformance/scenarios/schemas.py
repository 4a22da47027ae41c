"""More scenarios of CHK: what an output schema may be, and what an answer to it."""

from __future__ import annotations

import warnings
from typing import Any

from pytest_mcp_conformance.contract.checks import (
    EVERY_JSON_VALUE_IS_A_VALUE,
    NETWORK_REFERENCE_IS_NEVER_FETCHED,
    SCHEMA_IS_READ_IN_ITS_OWN_DIALECT,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._sink import Sink
from pytest_mcp_conformance.server import ScriptedServer, output, tool

VALUES: dict[str, tuple[Any, ...]] = {
    "null": (None,),
    "array": ([], [1, "x"]),
    "number": (0, 1.5),
    "string": ("", "x"),
    "boolean": (False, True),
}
"""Values that are no objects, by their type; the falsy one comes first."""

FIRST_OF_A_TUPLE = {
    "type": "object",
    "properties": {"out": {"type": "array", "prefixItems": [{"type": "integer"}]}},
    "required": ["out"],
}
"""The first item is an integer, in the words of 2020-12, which older dialects pass over."""

DRAFT_07 = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    **output("integer"),
    "dependencies": {"out": ["unit"]},
}
"""With `out` there is a `unit`, in the words of draft-07, which 2020-12 passes over."""

NO_DIALECT = {"$schema": "urn:example:no-dialect", **output("integer")}


@scenario(EVERY_JSON_VALUE_IS_A_VALUE, variants=tuple(VALUES))
async def answer_that_is_no_object(server: ScriptedServer, connect: Connect, kind: str) -> None:
    """A tool declares values of one type, which is no object: it gives some, and then an object after all."""
    server.has_tools(tool("a", {"type": kind}))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with check(EVERY_JSON_VALUE_IS_A_VALUE):
            for n, value in enumerate(VALUES[kind]):
                server.answers("a", structured=value)
                outcome = await wrapper.call("a", f"n{n}")
                assert outcome.ok, f"{value!r} is what the schema asks for: {outcome}"
            server.answers("a", structured={})
            outcome = await wrapper.call("a", "wrong")
            assert not outcome.ok, f"an object, handed out as good: {outcome}"
        reached(server.ledger.calls(), "no call was sent")


@scenario(SCHEMA_IS_READ_IN_ITS_OWN_DIALECT)
async def schema_without_a_dialect(server: ScriptedServer, connect: Connect) -> None:
    """A schema names no dialect, and says something that only 2020-12 knows."""
    server.has_tools(tool("a", FIRST_OF_A_TUPLE))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with check(SCHEMA_IS_READ_IN_ITS_OWN_DIALECT):
            server.answers("a", [1])
            outcome = await wrapper.call("a", "good")
            assert outcome.ok, f"a good answer: {outcome}"
            server.answers("a", ["x"])
            outcome = await wrapper.call("a", "wrong")
            assert not outcome.ok, f"wrong by 2020-12, and handed out as good: {outcome}"
        reached(server.ledger.calls(), "no call was sent")


@scenario(SCHEMA_IS_READ_IN_ITS_OWN_DIALECT, variants=("draft_07", "unknown"))
async def schema_of_another_dialect(server: ScriptedServer, connect: Connect, which: str) -> None:
    """A schema names draft-07 and says something that only draft-07 knows; or names a dialect that is none.

    A wrapper need not know draft-07: then that one tool has an error, as under the dialect that is none.
    """
    server.has_tools(tool("a", DRAFT_07 if which == "draft_07" else NO_DIALECT), tool("z", "integer"))

    async with connect(server) as wrapper:
        with check(SCHEMA_IS_READ_IN_ITS_OWN_DIALECT):
            names = await wrapper.names()
            if "a" in names:
                with warnings.catch_warnings():  # a suite may make errors of them, and a program does not
                    warnings.simplefilter("ignore")
                    outcome = await wrapper.call("a", "n1")
                assert not outcome.ok, {
                    "draft_07": f"wrong by draft-07, and handed out as good: {outcome}",
                    "unknown": f"judged by nobody knows what, and handed out as good: {outcome}",
                }[which]
            outcome = await wrapper.call("z", "good")
            assert outcome.ok, f"a good answer of another tool: {outcome}"
        reached(server.ledger.calls("good"), "no call was sent")


@scenario(NETWORK_REFERENCE_IS_NEVER_FETCHED)
async def reference_to_the_network(server: ScriptedServer, connect: Connect) -> None:
    """A part of an output schema is said to be at an address, where somebody listens; the tool is called."""
    with Sink() as sink:
        part = {"type": "object", "properties": {"out": {"$ref": sink.url}}}
        server.has_tools(tool("a", part), tool("z", "integer"))

        async with connect(server) as wrapper:
            await wrapper.list_tools()
            await wrapper.call("a", "n1")
            await wrapper.call("z", "n2")
            await server.settle()
            reached(server.ledger.calls("n2"), "no call was sent")
            with check(NETWORK_REFERENCE_IS_NEVER_FETCHED):
                assert sink.asked == []
