"""More scenarios of CALL: arguments called as a wrapper may call its own, and results of several parts."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract.calls import (
    ARGUMENTS_ARRIVE_AS_GIVEN,
    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import ScriptedServer, output, tool
from pytest_mcp_conformance.server.eras import stamped

NAMES = ("name", "tool_name", "arguments", "config", "context", "timeout")
"""Names that tools give their arguments, and that wrappers have for parameters of their own."""

PARTS: dict[str, dict[str, Any]] = {
    "two_texts": {"content": [{"type": "text", "text": text} for text in ("part one", "part two")]},
    "structured_alone": {"content": [], "structuredContent": {"out": "part one, part two"}},
}
"""Results, as the protocol has them, of more or less than one text."""


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


@scenario(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER, variants=tuple(PARTS))
async def parts_of_a_result(server: ScriptedServer, connect: Connect, what: str) -> None:
    """A tool answers with two texts; or with structured content, and without any text."""
    schema = output("string") if what == "structured_alone" else None
    server.has_tools(tool("report", schema))
    server.gives("tools/call", stamped({**PARTS[what], "isError": False}, server.era))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("report", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER):
            lost = [part for part in ("part one", "part two") if not _holds(outcome, part)]
            assert lost == [], f"the caller got {outcome}"


def _holds(outcome: Any, part: str) -> bool:
    return part in outcome.text or part in str(outcome.value)
