"""Scenarios of CONN over streamable HTTP of the handshake era: an answer that is cut, and resumed."""

from __future__ import annotations

import asyncio

from pytest_mcp_conformance.contract.connections import CUT_ANSWER_IS_RESUMED
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._http import LAST_EVENT, Seen, Traffic
from pytest_mcp_conformance.scenarios._judge import check, leave_out
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.server import V1, NotReached, ScriptedServer
from pytest_mcp_conformance.server.ways.http import Reply

RETRY = 3.0
"""Seconds that the server asks a client to wait."""

SOON = 60.0
"""Seconds within which whoever resumes an answer has done so."""

QUIET = 600.0
"""Seconds after which nobody asks for an answer any more that was given up, and for which that is watched."""


@scenario(CUT_ANSWER_IS_RESUMED, variants=("twice", "for_ever"), ways=HTTP)
async def answer_that_is_cut(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The answer to a call is cut before it comes. It is resumed, cut again with nothing new, and resumed.

    Or each response that would go on with it ends at once. A limit that is over by then may end the call.
    """
    server.has_tools(*V1)
    traffic = Traffic(server, connect)
    traffic.engine.event_ids, traffic.engine.retry_ms = True, int(1000 * RETRY)
    now = asyncio.get_running_loop().time

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            call, began = wrapper.start_call("old", "n1"), now()
            held = await gate.arrived()
            await server.settle()
            stream = traffic.engine.answer_to(held.request)
            if stream is None:
                raise NotReached("nobody reads the answer to the call")
            last = f"{stream.name}.{len(stream.messages)}"

            def tries() -> list[Seen]:
                return [
                    each
                    for each in traffic.requests("GET")
                    if each.headers.get(LAST_EVENT, "").startswith(f"{stream.name}.")
                ]

            def ends(seen: Seen) -> Reply | None:
                return Reply(200, {"content-type": "text/event-stream"}) if seen in tries() else None

            if how == "for_ever":
                traffic.instead = ends
            at = now()
            stream.cut()
            try:
                await traffic.until(lambda: bool(tries()), "a GET that goes on with the answer", SOON)
            except NotReached:
                leave_out(CUT_ANSWER_IS_RESUMED, "an answer that is cut is not resumed")
                return
            with check(CUT_ANSWER_IS_RESUMED):
                _is_right(tries()[0], at, last)
            if how == "for_ever":
                with check(CUT_ANSWER_IS_RESUMED):
                    assert await call.ended(wrapper.patience), (
                        f"a call still waits after {len(tries())} tries to resume its answer"
                    )
                    outcome = await call.result()
                    assert not outcome.ok, f"a call that was never answered: {outcome}"
                await asyncio.sleep(QUIET)
                before = len(tries())
                await asyncio.sleep(QUIET)
                with check(CUT_ANSWER_IS_RESUMED):
                    more = len(tries()) - before
                    assert not more, (
                        f"{more} tries in {QUIET:g} s to resume the answer to a call that is over"
                    )
                return
            await server.settle()
            at = now()
            limit = connect.claims.own_timeout
            if limit is not None and at + RETRY - began >= 0.9 * limit:
                leave_out(CUT_ANSWER_IS_RESUMED, "its limit is over while it waits as the server asks")
                return
            stream.cut()
            with check(CUT_ANSWER_IS_RESUMED):
                await traffic.until(lambda: len(tries()) > 1, "a GET after the second cut", SOON)
                _is_right(tries()[1], at, last)
            gate.open()
            gate.release_all()
            with check(CUT_ANSWER_IS_RESUMED):
                outcome = await call.result()
                assert outcome.ok, f"a call whose answer was resumed: {outcome}"


def _is_right(seen: Seen, cut_at: float, last: str) -> None:
    """Assert that a try came not too early, and by the right id."""
    waited = seen.at - cut_at
    assert waited >= RETRY, f"the server asked to wait {RETRY:g} s, and the GET came after {waited:g} s"
    assert seen.headers[LAST_EVENT] == last, (
        f"the last event was {last!r}, and the GET asks for what follows {seen.headers[LAST_EVENT]!r}"
    )
