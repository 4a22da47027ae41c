"""More scenarios of CHK: what an answer is judged by and when, and what a refused one still holds."""

from __future__ import annotations

from pytest_mcp_conformance.contract._outcome import outcome_of
from pytest_mcp_conformance.contract.checks import (
    CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER,
    CALLS_DO_NOT_EACH_COST_A_LISTING,
    REFUSAL_KEEPS_WHAT_IT_HELD,
    TOOL_ERROR_IS_NOT_JUDGED_BY_THE_SCHEMA,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._first_page import must_ask_for_a_second_page
from pytest_mcp_conformance.scenarios._judge import check, current_judge, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import ONE_BY_ONE
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, ScriptedServer, tool

CALLS = 5


@scenario(CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER, variants=("good", "wrong"))
async def definition_replaced_under_a_call(server: ScriptedServer, connect: Connect, answer: str) -> None:
    """While a call of a tool is out that gives an integer, a listing says that the tool gives a text."""
    server.has_tools(*V1)
    server.answers("a", 1 if answer == "good" else "x")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            call = wrapper.start_call("a", "n1")
            await gate.arrived()
            server.has_tools(*V2)
            await wrapper.take_newer("new")
            if call.done:
                leave_out(CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER, ONE_BY_ONE)
                return
        outcome = await call.result()
        with check(CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER):
            if answer == "good":
                assert outcome.ok, f"good when the call was sent: {outcome}"
            else:
                assert not outcome.ok, f"wrong when the call was sent, and handed out as good: {outcome}"


@scenario(TOOL_ERROR_IS_NOT_JUDGED_BY_THE_SCHEMA, variants=("wrong", "absent"))
async def tool_error_beside_a_schema(server: ScriptedServer, connect: Connect, structured: str) -> None:
    """A tool says that it failed, and why; first with what its schema asks for, and then without."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.answers("a", is_error=True, structured={"out": 1}, text="try next week")
        outcome = await wrapper.call("a", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        if not outcome.shows("try next week"):
            leave_out(TOOL_ERROR_IS_NOT_JUDGED_BY_THE_SCHEMA, "shows no text of a tool that failed")
            return
        what = {"structured": {"out": "bad"}} if structured == "wrong" else {"bare": True}
        server.answers("a", is_error=True, text="try next month", **what)
        outcome = await wrapper.call("a", "n2")
        with check(TOOL_ERROR_IS_NOT_JUDGED_BY_THE_SCHEMA):
            assert outcome.shows("try next month"), f"the tool's text is lost: {outcome}"


@scenario(CALLS_DO_NOT_EACH_COST_A_LISTING, variants=("second_page", "never_listed"))
async def listings_of_many_calls(server: ScriptedServer, connect: Connect, which: str) -> None:
    """Two pages are listed; then a tool of the second one is called five times, or one that is on none."""
    server.ttl_ms = HOUR_MS
    server.pages([tool("a", "integer")], [tool("b", "integer")])
    name = "b" if which == "second_page" else "unlisted"
    server.answers("unlisted")

    async with connect(server) as wrapper:
        if wrapper.claims.makes("dials_per_operation"):
            leave_out(CALLS_DO_NOT_EACH_COST_A_LISTING, "dials_per_operation: each verb may list")
            return
        await wrapper.list_tools()
        if not wrapper.claims.follows_pages and wrapper.has("list_page"):
            await wrapper.verb("list_page", "c2")
        await server.settle()
        mark = server.ledger.mark
        for n in range(CALLS):
            await wrapper.call(name, f"n{n}")
        walks = [frame for frame in server.ledger.listings(since=mark) if "cursor" not in frame.params]
        with check(CALLS_DO_NOT_EACH_COST_A_LISTING):
            if which == "second_page":
                await must_ask_for_a_second_page(server, connect)
            assert len(walks) <= 1, f"{CALLS} calls of {name} cost {len(walks)} walks through the list"
        if which == "second_page" and not current_judge.get().leaves_out(CALLS_DO_NOT_EACH_COST_A_LISTING):
            reached(server.ledger.calls(), "no call was sent")


@scenario(REFUSAL_KEEPS_WHAT_IT_HELD)
async def refusal_is_read(server: ScriptedServer, connect: Connect) -> None:
    """A tool has done its work and says so in its text; its structured content is not what it promised."""
    server.has_tools(*V1)
    server.answers("a", "bad", text="booked as number 4711")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        call = wrapper.start("call_tool", wrapper.handle("a"), {"nonce": "n1"})
        await call.ended()
        reached(server.ledger.calls("n1"), "the call was not sent")
        refusal = await call.result() if call.error is None else call.error
        if call.error is None and outcome_of(refusal).ok:
            leave_out(REFUSAL_KEEPS_WHAT_IT_HELD, "refused nothing")
            return
        with check(REFUSAL_KEEPS_WHAT_IT_HELD):
            held = await wrapper.verb("refusal_payload", refusal)
            assert "booked as number 4711" in str(held), f"the refusal holds {held!r}"
