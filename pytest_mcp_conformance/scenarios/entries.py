"""More scenarios of TOOL: entries of a listing that are long, odd, alike, or no tools at all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pytest_mcp_conformance.contract import HANDSHAKE, Outcome, Tool
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract.tools import (
    DEFINITION_IS_HANDED_OUT_WHOLE,
    MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS,
    NAME_GOES_BACK_AS_LISTED,
    ORDER_IS_KEPT_AND_NAMES_COME_ONCE,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._first_page import must_ask_for_a_second_page
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import NotClaimed, check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import definition
from pytest_mcp_conformance.server import ScriptedServer, tool

MALFORMED: dict[str, dict[str, Any]] = {
    "no_name": {"description": "a bad one", "inputSchema": {"type": "object"}},
    "odd_name": {"name": 7, "description": "a bad one", "inputSchema": {"type": "object"}},
    "null_schema": {"name": "bad", "inputSchema": None},
}

UNUSUAL: dict[str, dict[str, Any]] = {
    "closed": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    "choice": {"type": "object", "properties": {"a": {"anyOf": [{"enum": ["x", "y"]}, {"type": "null"}]}}},
    "list_of_types": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
    "nested": {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": True}}}},
    },
    "recursive": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}},
    },
    "nothing_said": {"type": "object"},
    "sealed_property": {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": False}
        },
    },
}
"""Input schemas as the specification allows them, in forms that not every server has."""

NAMES_THE_ENTRY = re.compile(r"bad|\b(?:tools?|entry|index|item)\W{0,3}1\b", re.IGNORECASE)
"""Words by which an error says which entry of a listing is malformed: by what is in it, or by its place."""

ALIKE = ("Get", "get", "a.b", "a_b", "a-b", "n" * 128)
"""Names as the specification allows them, some of which look the same in another form."""

ODD = "with blank"

EXTRAS: dict[str, Any] = {
    "title": "A title",
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "https://example.com/icon.png", "mimeType": "image/png"}],
    "_meta": {"com.example/kind": "sample"},
    "later": {"deep": [1]},
}
"""What a tool may have beside name, text and schemas; the last one is known to nobody."""

LATER: dict[str, dict[str, Any]] = {
    "lifetime": {"ttlMs": -1},
    "scope": {"cacheScope": "shared"},
    "unheard_of": {"later": {"deep": [1]}},
}
"""What a listing of the handshake era may have beside its tools: any JSON object is a result there.

The first two fields have a meaning in the modern era alone, and no such value there."""


@scenario(ORDER_IS_KEPT_AND_NAMES_COME_ONCE)
async def one_name_on_two_pages(server: ScriptedServer, connect: Connect) -> None:
    """One name is on two pages, with different definitions; the list is taken, taken again, and called by."""
    server.pages([tool("c"), _giving("integer")], [tool("b"), _giving("string")])
    if not connect.claims.follows_pages:
        leave_out(ORDER_IS_KEPT_AND_NAMES_COME_ONCE, "follows_pages")
        return

    wrapper = await connect.attempt(server)
    if wrapper.error is not None or await wrapper.try_names() is None:
        leave_out(ORDER_IS_KEPT_AND_NAMES_COME_ONCE, "refuses a listing that has a name twice")
        return
    before = await wrapper.list_tools()
    mark = server.ledger.mark
    await wrapper.make_stale()
    after = await wrapper.list_tools()
    reached(server.ledger.listings(since=mark), "no second listing reached the server")
    with check(ORDER_IS_KEPT_AND_NAMES_COME_ONCE):
        await must_ask_for_a_second_page(server, connect)
        names = [each.name for each in after]
        assert len(set(names)) == len(names), f"a name twice: {names}"
        assert [name for name in names if name in ("a", "b", "c")] in (["c", "a", "b"], ["c", "b", "a"])
        assert [definition(each) for each in after] == [definition(each) for each in before]
        if wrapper.claims.checks_output == "refuses":
            shown = _kind(next(each for each in after if each.name == "a"))
            accepted = await _accepted(server, wrapper)
            assert len(accepted) == 1
            assert shown in (None, *accepted), f"shown as giving {shown}, and checked for {accepted[0]}"


@scenario(DEFINITION_IS_HANDED_OUT_WHOLE)
async def definitions_with_more_in_them(server: ScriptedServer, connect: Connect) -> None:
    """Two tools have all that a definition may have, and each its own meaning of one name in `$defs`."""
    entries = {name: _full(name) for name in ("one", "two")}
    server.has_tools(*entries.values())

    async with connect(server) as wrapper:
        with check(DEFINITION_IS_HANDED_OUT_WHOLE):
            tools = {each.name: each for each in await wrapper.list_tools()}
            assert set(tools) == set(entries)
            if not any(each.input_schema or _whole(each.handle) for each in tools.values()):
                raise NotClaimed("shows no definitions")
            for name, other in (("one", "two"), ("two", "one")):
                schema = tools[name].input_schema
                if schema is not None:
                    text = json.dumps(dict(schema), default=str)
                    assert f"of_{name}" in text, f"the $defs of {name} are lost"
                    assert f"of_{other}" not in text, f"the $defs of {other} are shown for {name}"
                whole = _whole(tools[name].handle)
                lost = [key for key in EXTRAS if whole is not None and whole.get(key) != EXTRAS[key]]
                assert lost == [], f"{name} is not handed out as it was listed"
        reached(server.ledger.listings(), "no listing reached the server")


@scenario(DEFINITION_IS_HANDED_OUT_WHOLE, eras=HANDSHAKE, variants=tuple(LATER))
async def listing_with_more_in_it(server: ScriptedServer, connect: Connect, what: str) -> None:
    """A listing has a field beside its tools that the revision spoken knows nothing of."""
    server.has_tools("a")
    server.gives("tools/list", {"tools": [tool("a")], **LATER[what]}, times=float("inf"))

    wrapper = await connect.attempt(server)
    reached(wrapper.error is None or server.ledger.listings(), f"no connection: {wrapper.failure}")
    with check(DEFINITION_IS_HANDED_OUT_WHOLE):
        assert wrapper.error is None, f"cannot be connected: {wrapper.failure}"
        assert await wrapper.names() == ["a"]
        outcome = await wrapper.call("a", "n1")
        await _must_call_elsewhere(server, connect, outcome)
        assert outcome.ok, f"a call of the tool: {outcome}"
    reached(server.ledger.listings(), "no listing reached the server")


@scenario(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS, variants=tuple(MALFORMED))
async def malformed_entry(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Of three entries the middle one is no tool."""
    await _one_of_three(server, connect, MALFORMED[how], "malformed")


@scenario(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS, variants=tuple(UNUSUAL))
async def unusual_entry(server: ScriptedServer, connect: Connect, form: str) -> None:
    """Of three entries the middle one is a tool whose input schema is of a form that not every server has."""
    entry = {"name": "bad", "description": "an unusual one", "inputSchema": UNUSUAL[form]}
    await _one_of_three(server, connect, entry, "allowed and unusual")


async def _one_of_three(server: ScriptedServer, connect: Connect, entry: dict[str, Any], kind: str) -> None:
    """The list and a call, where one entry is hard to take, being of this kind."""
    server.has_tools("first", entry, "last")

    wrapper = await connect.attempt(server)
    error = wrapper.error
    if error is None:
        listing = wrapper.start_listing()
        await listing.ended()
        error = listing.error
    reached(server.ledger.listings(), "no listing reached the server")
    with check(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS):
        if error is not None:
            said = describe(error)
            named = bool(NAMES_THE_ENTRY.search(said))
            assert named, f"the error does not say which entry is {kind}: {said}; it is {json.dumps(entry)}"
        else:
            served = {each.name for each in await listing.result()}
            missing = sorted({"first", "last"} - served)
            assert missing == [], f"good tools that are not listed beside one entry that is {kind}"
            outcome = await wrapper.call("last", "n1")
            await _must_call_elsewhere(server, connect, outcome)
            assert outcome.ok, f"a call of a good tool: {outcome}"


async def _must_call_elsewhere(server: ScriptedServer, connect: Connect, outcome: Outcome) -> None:
    """Go on with a wrapper whose calls end well where the listing is a plain one.

    Nothing is done where the call ended well here. Where it did not, one more holder lists and calls at a
    server with nothing odd in its listing.

    Raises:
        NotClaimed: The call ends badly there as well, so it is not the listing that does it.
    """
    if outcome.ok:
        return
    plain = server.another("a server with a plain listing")
    plain.has_tools("a", "last")
    holder = await connect.attempt(plain)
    if holder.error is None and await holder.try_names() is not None:
        there = await holder.call("last", "n1")
        if not there.ok:
            raise NotClaimed(f"a call ends badly where the listing is plain as well: {there}")


@scenario(NAME_GOES_BACK_AS_LISTED)
async def names_that_look_alike(server: ScriptedServer, connect: Connect) -> None:
    """The names of some tools differ in case and signs alone; each tool is called by what was handed out.

    A tool whose name the specification does not allow may be left out.
    """
    server.has_tools(*ALIKE, ODD)

    wrapper = await connect.attempt(server)
    if wrapper.error is not None or await wrapper.try_names() is None:
        leave_out(NAME_GOES_BACK_AS_LISTED, "refuses tools whose names are one in its form")
        return
    tools = await wrapper.list_tools()
    for n, each in enumerate(tools):
        await wrapper.call(each.name, f"n{n}", handle=each.handle)
    sent = {frame.arguments["nonce"]: frame.params["name"] for frame in server.ledger.calls()}
    reached(sent, "no call was sent")
    with check(NAME_GOES_BACK_AS_LISTED):
        assert set(sent.values()) - {*ALIKE, ODD} == set(), "names that were never listed"
        assert set(ALIKE) - set(sent.values()) == set(), "tools that cannot be called"
        for n, each in enumerate(tools):
            called = sent.get(f"n{n}")
            if each.description is not None and called is not None:
                assert called in each.description, f"called as {called}: {each.description}"


async def _accepted(server: ScriptedServer, wrapper: Holder) -> list[str]:
    """The types that an answer of the tool `a` may have."""
    kinds = []
    for kind, value in (("integer", 1), ("string", "x")):
        server.answers("a", value)
        if (await wrapper.call("a", kind)).ok:
            kinds.append(kind)
    return kinds


def _kind(shown: Tool) -> str | None:
    """The type that a tool is shown to give, by its output schema, or else by its text."""
    schema, text = shown.output_schema, shown.description or ""
    said = text if schema is None else json.dumps(dict(schema), default=str)
    return next((kind for kind in ("integer", "string") if kind in said), None)


def _giving(kind: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"out": {"type": kind}}, "required": ["out"]}
    return tool("a", schema, description=f"gives: {kind}")


def _full(name: str) -> dict[str, Any]:
    item = {"type": "object", "properties": {f"of_{name}": {"type": "string"}}}
    schema = {"type": "object", "properties": {"item": {"$ref": "#/$defs/Item"}}, "$defs": {"Item": item}}
    return tool(name, **EXTRAS, inputSchema=schema)


def _whole(handed_out: Any) -> Mapping[str, Any] | None:
    """The whole entry, where a tool as handed out shows it in the protocol's own form."""
    fields = getattr(type(handed_out), "model_fields", {})
    if any("inputSchema" in (name, field.alias) for name, field in fields.items()):
        return dict(handed_out.model_dump(by_alias=True, mode="json", exclude_unset=True))
    whole = handed_out if isinstance(handed_out, Mapping) else getattr(handed_out, "listed", None)
    return whole if isinstance(whole, Mapping) and "inputSchema" in whole else None
