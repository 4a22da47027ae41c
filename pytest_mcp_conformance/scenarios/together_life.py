"""Scenarios about one object that holds several servers: what it opens, keeps and closes."""

from __future__ import annotations

from pytest_mcp_conformance.contract.connections import (
    CLOSE_AND_CONNECT_DO_NOT_OVERLAP,
    FAILED_DIAL_RAISES_PROMPTLY,
    ONE_FAILED_SERVER_LEAVES_NOTHING_OPEN,
    OPERATIONS_SHARE_ONE_SESSION,
    SAID_TO_BE_CONNECTED_IS_CONNECTED,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._together import call_all, left_open, refusal_of, together, two_servers
from pytest_mcp_conformance.server import FAULTS, ScriptedServer
from pytest_mcp_conformance.server.faults import SHAKES_HANDS

FOR_EVER = float("inf")


@scenario(
    ONE_FAILED_SERVER_LEAVES_NOTHING_OPEN,
    FAILED_DIAL_RAISES_PROMPTLY,
    variants=("first_fails", "second_fails", "second_is_not_there"),
)
async def one_of_two_fails(server: ScriptedServer, connect: Connect, which: str) -> None:
    """Of two servers of one object one fails: all is refused, or the object goes on with the other one."""
    one, two = two_servers(server)
    failing, working = (one, two) if which == "first_fails" else (two, one)
    steps = ("connect",) if which == "second_is_not_there" else SHAKES_HANDS.values()
    for step in steps:
        failing.suffers(FAULTS["refused" if step == "connect" else "error"], step, times=FOR_EVER)

    async with connect(server) as wrapper:
        held = await connect.attempt_together(wrapper, one, two)
        refusal = await refusal_of(held)
        if refusal is None:
            shown = await held.list_tools()
            went_well = await call_all(held, shown, "n")
            with check(FAILED_DIAL_RAISES_PROMPTLY):
                assert [each.name for each in shown] != [], "nothing raised, and there are no tools"
                assert all(went_well), "a tool of the server that works"
                assert working.ledger.calls(), "a tool of the server that works was not called there"
        else:
            with check(FAILED_DIAL_RAISES_PROMPTLY):
                assert isinstance(refusal, Exception), "what is raised is no ordinary error"
        if held.error is None:
            await held.close()
        left = await left_open((one, two))
        reached(one.ledger.frames() or two.ledger.frames(), "nothing was dialled")
        with check(ONE_FAILED_SERVER_LEAVES_NOTHING_OPEN):
            assert left == [], "one of two servers failed, and these connections are open after all was over"


@scenario(OPERATIONS_SHARE_ONE_SESSION)
async def operations_on_two_servers(server: ScriptedServer, connect: Connect) -> None:
    """One object that holds two servers lists, calls the tools of both three times, and lists again."""
    if connect.claims.makes("dials_per_operation"):
        leave_out(OPERATIONS_SHARE_ONE_SESSION, "dials_per_operation")
        return
    two = two_servers(server)
    async with together(server, connect, two) as held:
        shown = await held.list_tools()
        for nonce in ("x", "y", "z"):
            await call_all(held, shown, nonce)
        await held.list_tools()
        reached(all(len(each.ledger.calls()) >= 3 for each in two), "the calls were not sent")
        dialled = [len(each.connections) for each in two]
        with check(OPERATIONS_SHARE_ONE_SESSION):
            assert dialled == [1, 1], f"five operations on each of two servers took {dialled} connections"


@scenario(CLOSE_AND_CONNECT_DO_NOT_OVERLAP, variants=("close_first", "reconnect_first"))
async def close_beside_a_reconnect(server: ScriptedServer, connect: Connect, order: str) -> None:
    """One object that holds two servers is closed and connected anew at one moment, and closed at last."""
    two = two_servers(server)
    async with together(server, connect, two) as held:
        for verb in ("close", "reconnect"):
            if not held.has(verb):
                leave_out(CLOSE_AND_CONNECT_DO_NOT_OVERLAP, verb)
                return
        verbs = ("close", "reconnect") if order == "close_first" else ("reconnect", "close")
        running = [held.start(verb) for verb in verbs]
        with check(CLOSE_AND_CONNECT_DO_NOT_OVERLAP):
            for each in running:
                ended = await each.ended()
                assert ended, f"{' and '.join(verbs)} were out together, and {each.step} still waits"
            await held.verb("close")
            left = await left_open(two)
            assert left == [], f"connections that are open after the last close, after {' and '.join(verbs)}"


@scenario(SAID_TO_BE_CONNECTED_IS_CONNECTED, variants=("close", "reconnect", "one_fails"))
async def what_is_said_to_be_live(server: ScriptedServer, connect: Connect, after: str) -> None:
    """An object says which of two servers it is connected to: after its close, and after a second connect."""
    two = two_servers(server)
    async with together(server, connect, two) as held:
        verb = "close" if after == "close" else "reconnect"
        for needed in ("connected_servers", verb):
            if not held.has(needed):
                leave_out(SAID_TO_BE_CONNECTED_IS_CONNECTED, needed)
                return
        before = await _said(held)
        reached(before == 2, f"{before} of two servers are said to be connected")
        two[1].refusing = after == "one_fails"
        await held.start(verb).ended()
        live = len(await left_open(two))
        if after != "close" and server.era == "modern" and connect.transport in HTTP:
            leave_out(SAID_TO_BE_CONNECTED_IS_CONNECTED, "nothing is held open between requests")
            return
        with check(SAID_TO_BE_CONNECTED_IS_CONNECTED):
            said = await _said(held)
            assert said <= live, f"{said} servers are said to be connected, and {live} connections are live"


async def _said(held: Holder) -> int:
    return len(list(await held.verb("connected_servers")))
