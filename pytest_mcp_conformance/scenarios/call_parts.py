"""More scenarios of CALL: arguments with unlucky names and values, and results of several parts."""

from __future__ import annotations

import json
from typing import Any

from pytest_mcp_conformance.contract.calls import (
    ARGUMENTS_ARRIVE_AS_GIVEN,
    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER,
    TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import V1, ScriptedServer, output, tool
from pytest_mcp_conformance.server.eras import MODERN_VERSION, stamped

NAMES = ("name", "tool_name", "arguments", "config", "context", "timeout")
"""Names that tools give their arguments, and that wrappers have for parameters of their own."""

NULLABLE = {"anyOf": [{"type": "string"}, {"type": "null"}]}
VALUES: dict[str, dict[str, tuple[Any, dict[str, Any]]]] = {
    "null": {"due": (None, NULLABLE)},
    "falsy": {
        "text": ("", {"type": "string"}),
        "count": (0, {"type": "integer"}),
        "flag": (False, {"type": "boolean"}),
        "items": ([], {"type": "array", "items": {"type": "string"}}),
    },
}
"""Values that may be taken for none, each with the schema that allows it."""

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}

PARTS: dict[str, dict[str, Any]] = {
    "two_texts": {"content": [{"type": "text", "text": text} for text in ("part one", "part two")]},
    "structured_alone": {"content": [], "structuredContent": {"out": "part one, part two"}},
    "image_first": {"content": [IMAGE, {"type": "text", "text": "part one, part two"}]},
}
"""Results, as the protocol has them, of more, of less or of other than one text."""

FIRST_WITH_STRUCTURED_CONTENT = "2025-06-18"

IN_WORDS = {
    "two_texts": "two texts",
    "structured_alone": "structured content and no text",
    "image_first": "an image and a text behind it",
}


@scenario(ARGUMENTS_ARRIVE_AS_GIVEN, variants=NAMES)
async def argument_of_that_name(server: ScriptedServer, connect: Connect, name: str) -> None:
    """A tool takes an argument of a name that is usual in libraries; a call gives it another tool's name."""
    server.has_tools(tool("save"), tool("other"), tool("load", takes=name))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("save", "n1")
        reached(server.ledger.calls("n1"), f"a plain call was not sent: {outcome}")
        mark = server.ledger.mark
        outcome = await wrapper.start_call_given("load", {name: "other"}).result()
        with check(ARGUMENTS_ARRIVE_AS_GIVEN):
            sent = [
                (call.params["name"], call.arguments.get(name)) for call in server.ledger.calls(since=mark)
            ]
            assert sent == [("load", "other")], f"the call of load gave {outcome}"


@scenario(ARGUMENTS_ARRIVE_AS_GIVEN, variants=tuple(VALUES))
async def argument_of_that_value(server: ScriptedServer, connect: Connect, kind: str) -> None:
    """A call gives null where that is allowed; or an empty text, zero, false and an empty list."""
    properties = {name: schema for name, (_, schema) in VALUES[kind].items()}
    given = {name: value for name, (value, _) in VALUES[kind].items()}
    server.has_tools(tool("save"), tool("load", inputSchema={"type": "object", "properties": properties}))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("save", "n1")
        reached(server.ledger.calls("n1"), f"a plain call was not sent: {outcome}")
        mark = server.ledger.mark
        outcome = await wrapper.start_call_given("load", given).result()
        with check(ARGUMENTS_ARRIVE_AS_GIVEN):
            calls = server.ledger.calls(since=mark)
            assert calls, f"a call with {given} was not sent: {outcome}"
            arrived = calls[0].arguments
            lost = [name for name in given if name not in arrived]
            assert lost == [], f"arguments of a call with {given} that did not arrive"
            other = {
                name: arrived[name] for name in given if _as_sent(arrived[name]) != _as_sent(given[name])
            }
            assert other == {}, f"arguments of a call with {given} that arrived otherwise"


@scenario(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT)
async def failed_tool_that_shows_an_image(server: ScriptedServer, connect: Connect) -> None:
    """A tool answers isError with an image, and behind that with a text for the model."""
    server.has_tools(tool("report"))
    content = [IMAGE, {"type": "text", "text": "no such page"}]
    server.gives("tools/call", stamped({"content": content, "isError": True}, server.era))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("report", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT):
            assert not outcome.ok, f"shown as a success: {outcome}"
            assert "no such page" in outcome.text, f"the text behind an image is lost: {outcome}"


@scenario(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT)
async def failed_tool_with_structured_content(server: ScriptedServer, connect: Connect) -> None:
    """A tool answers isError with a text for the model, and with the structured content that it promised."""
    server.has_tools(*V1)
    server.answers("a", is_error=True, structured={"out": 1}, text="try next week")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("a", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT):
            assert not outcome.ok, f"shown as a success, by its structured content: {outcome}"


@scenario(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER, variants=tuple(PARTS))
async def parts_of_a_result(server: ScriptedServer, connect: Connect, what: str) -> None:
    """A tool answers with two texts; with structured content and no text; or with a text behind an image."""
    schema = output("string") if what == "structured_alone" else None
    server.has_tools(tool("report", schema))
    server.gives("tools/call", stamped({**PARTS[what], "isError": False}, server.era))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("report", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        if what == "structured_alone" and _agreed(server) < FIRST_WITH_STRUCTURED_CONTENT:
            leave_out(
                RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER, "speaks a revision without structured content"
            )
            return
        with check(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER):
            lost = [part for part in ("part one", "part two") if not _holds(outcome, part)]
            assert lost == [], f"the caller got {outcome}, of a result with {IN_WORDS[what]}"


def _agreed(server: ScriptedServer) -> str:
    """The revision that the last handshake agreed on; in the modern era, where there is none, its own."""
    shaken = server.ledger.frames("initialize", kind="answered")
    return shaken[-1].message["result"]["protocolVersion"] if shaken else MODERN_VERSION


def _as_sent(value: Any) -> str:
    """A value as JSON, where false is not 0."""
    return json.dumps(value)


def _holds(outcome: Any, part: str) -> bool:
    return part in outcome.text or part in str(outcome.value)
