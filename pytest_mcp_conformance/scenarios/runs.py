"""Scenarios of CHK and CALL: one run of a framework's own agent, whose model says what it is told to."""

from __future__ import annotations

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract.calls import CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN
from pytest_mcp_conformance.contract.checks import CALLS_DO_NOT_EACH_COST_A_LISTING
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import arrives_or_ends
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import HOUR_MS, V1, ScriptedServer

STEPS = 5


@scenario(CALLS_DO_NOT_EACH_COST_A_LISTING)
async def calls_of_one_run(server: ScriptedServer, connect: Connect) -> None:
    """The model makes five calls in one run. The server has promised to tell of other tools, and has none."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)
    calls = [(name, {"nonce": f"n{n}"}) for n, name in zip(range(STEPS), ("a", "old") * STEPS, strict=False)]

    async with connect(server) as wrapper:
        if not wrapper.has("run"):
            leave_out(CALLS_DO_NOT_EACH_COST_A_LISTING, "run")
            return
        if wrapper.claims.makes("dials_per_operation"):
            leave_out(CALLS_DO_NOT_EACH_COST_A_LISTING, "dials_per_operation: each step may list")
            return
        if not wrapper.claims.makes("caches_listings"):
            leave_out(CALLS_DO_NOT_EACH_COST_A_LISTING, "caches_listings: its model is shown today's list")
            return
        await wrapper.list_tools()
        await server.settle()
        mark = server.ledger.mark
        await wrapper.verb("run", calls)
        reached(len(server.ledger.calls(since=mark)) >= STEPS, "not all calls were sent")
        walks = [frame for frame in server.ledger.listings(since=mark) if "cursor" not in frame.params]
        with check(CALLS_DO_NOT_EACH_COST_A_LISTING):
            assert len(walks) <= 1, f"a run of {STEPS} calls cost {len(walks)} walks through the list"


@scenario(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN)
async def slow_call_of_a_run(server: ScriptedServer, connect: Connect) -> None:
    """The first call of a run is never answered; the model goes on to a second one, which is."""
    server.has_tools(*V1)
    calls = [("a", {"nonce": "n1"}), ("old", {"nonce": "n2"})]

    async with connect(server) as wrapper:
        with server.holding("tools/call", when=lambda call: call.arguments.get("nonce") == "n1") as gate:
            run = wrapper.start("run", calls)
            reached(await arrives_or_ends(gate, run), "the first call was not sent")
            if not await run.ended(2 * wrapper.patience):
                await run.cancel()
                leave_out(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN, "is never given up: see CALL-9")
                return
            with check(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN):
                assert run.error is None, f"a call ran into its limit, and the run ended: {_why(run)}"
                assert server.ledger.calls("n2"), "a call ran into its limit, and the next one was not sent"


def _why(run: Pending[object]) -> str:
    return "" if run.error is None else describe(run.error)
