"""Scenarios of CONN: the life of a connection, from the dial to the close."""

from __future__ import annotations

import asyncio

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract._tool import names_of
from pytest_mcp_conformance.contract.connections import (
    BROKEN_CONNECTION_IS_NOT_USED_AGAIN,
    CLOSE_ENDS_EVERYTHING_IT_OPENED,
    CONCURRENT_FIRST_USE_IS_ONE_DIAL,
    DEAD_CONNECTION_ENDS_ITS_CALLS,
    FAILED_DIAL_IS_NOT_REMEMBERED,
    OPERATIONS_SHARE_ONE_SESSION,
    WHAT_IS_HELD_OPEN_STAYS_BOUNDED,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import NOT_HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import (
    SAYS_CLOSED,
    arrives_or_ends,
    cannot_give_up,
    elapsed,
    give_up,
    time_to_leave,
)
from pytest_mcp_conformance.server import V1, V2, ScriptedServer
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD
from pytest_mcp_conformance.server.faults import SHAKES_HANDS
from pytest_mcp_conformance.server.ways._home import VISIT

MANY = 100
"""How often something is done that must not leave something behind each time."""

HOUR = 3600.0
"""How long a pool may keep what nobody uses, in seconds."""


@scenario(CONCURRENT_FIRST_USE_IS_ONE_DIAL)
async def first_use_at_once(server: ScriptedServer, connect: Connect) -> None:
    """One holder, a slow handshake, and five verbs at once: three listings and two calls."""
    server.has_tools(*V1)
    if connect.claims.makes("dials_per_operation"):
        leave_out(
            CONCURRENT_FIRST_USE_IS_ONE_DIAL, "dials_per_operation: each verb has a connection of its own"
        )
        return

    with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
        opening = connect.start(server)
        if await arrives_or_ends(gate, opening):  # it dials when it is set up
            gate.open()
            gate.release_all()
        wrapper = await opening.result()
        listings = [wrapper.start_listing() for _ in range(3)]
        calls = [wrapper.start_call("old", nonce) for nonce in ("n1", "n2")]
        await server.settle()
    with check(CONCURRENT_FIRST_USE_IS_ONE_DIAL):
        for listing in listings:
            assert names_of(await listing.result()) == ["a", "old"]
        for call in calls:
            assert (await call.result()).ok
        assert len(server.connections) == 1
        await wrapper.close()
        assert await connect.left_open(server) == []


@scenario(FAILED_DIAL_IS_NOT_REMEMBERED, variants=("refused", "error", "malformed", "hangs_up"))
async def dial_after_a_failed_dial(server: ScriptedServer, connect: Connect, fault: str) -> None:
    """The server refuses connections, or its handshake fails in one way or another; then it is well."""
    server.has_tools(*V1)
    server.suffers(fault, "connect" if fault == "refused" else SHAKES_HANDS[server.era], times=float("inf"))

    failed = await connect.attempt(server)
    if failed.error is None:  # a lazy wrapper dials at its first verb
        shown = await failed.try_names()
        if shown == []:
            leave_out(FAILED_DIAL_IS_NOT_REMEMBERED, "tells nobody that a dial failed, which is about CONN-3")
            return
        reached(shown is None, "no dial failed")
        server.recovers()
        if not failed.claims.makes("one_shot"):
            with check(FAILED_DIAL_IS_NOT_REMEMBERED):
                assert await failed.names() == ["a", "old"]
    server.recovers()
    await failed.close()
    with check(FAILED_DIAL_IS_NOT_REMEMBERED):
        assert await server.left_open() == [], "the failed dial left a connection open"
    again = await connect.attempt(server)
    with check(FAILED_DIAL_IS_NOT_REMEMBERED):
        assert again.error is None, f"the server is well, and {again.failure}"
        assert await again.names() == ["a", "old"]
    if again.error is not None:
        return
    reached(server.ledger.listings(), "no listing reached the server")


@scenario(BROKEN_CONNECTION_IS_NOT_USED_AGAIN, ways=NOT_HTTP)  # there a loss shows in the next answer: CONN-5
async def verbs_after_a_loss(server: ScriptedServer, connect: Connect) -> None:
    """The connection is lost under a call; five more verbs follow."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            call = wrapper.start_call("a", "n0")
            await gate.arrived()
            server.has_tools(*V2)
            gate.open()
            server.drop()
            await call.ended()
        failures = []
        with elapsed() as spent, check(BROKEN_CONNECTION_IS_NOT_USED_AGAIN):
            for verb in ("list", "list", "call", "list", "call"):
                if verb == "list":
                    listing = wrapper.start_listing()
                    assert await listing.ended(), "list_tools did not end"
                    if listing.error is not None:
                        failures.append(describe(listing.error))
                    else:
                        served = names_of(await listing.result())
                        if wrapper.claims.makes("redials") and wrapper.claims.lifetimes:
                            assert served == ["a", "new"], "served as if the lost connection were live"
                else:
                    outcome = await wrapper.call("a", "n1")
                    if not outcome.ok:
                        failures.append(outcome.text)
            if wrapper.claims.makes("redials"):
                assert len(failures) <= 1
            else:
                silent = [text for text in failures if not SAYS_CLOSED.search(text)]
                assert not silent, "errors that do not say that the connection is closed"
                assert spent.seconds < 1, f"five verbs on a lost connection took {spent.seconds:g} s"


@scenario(DEAD_CONNECTION_ENDS_ITS_CALLS, variants=("one", "five"))
async def loss_under_calls(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The connection is lost while calls are out: they end, and no timer is needed.

    Where a call may be sent again, it may take its time to end. So may one that sees to the child first.
    """
    server.has_tools(*V1)
    number = {"one": 1, "five": 5}[how]
    leaving = time_to_leave(connect, lost=True)
    may_resend = server.era == "modern" or "dropped" in connect.claims.resends_calls

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            calls = [wrapper.start_call("a", f"n{n}") for n in range(number)]
            await gate.arrived(number)
            gate.open()
            with elapsed() as spent:
                server.drop()
                await server.settle()
                if may_resend:
                    for call in calls:
                        await call.ended(wrapper.patience)
                elif leaving:
                    for call in calls:
                        await call.ended(leaving)
                with check(DEAD_CONNECTION_ENDS_ITS_CALLS):
                    waiting = [call for call in calls if not call.done]
                    assert waiting == [], "calls that are still waiting for a dead connection"
                    assert may_resend or spent.seconds <= leaving
                    for n, call in enumerate(calls):
                        outcome = await call.result()
                        again = len(server.ledger.calls(f"n{n}")) > 1
                        assert again or not outcome.ok, f"a call that nobody answered: {outcome}"


@scenario(CLOSE_ENDS_EVERYTHING_IT_OPENED, variants=("once", "in_flight", "many"))
async def close_ends_everything(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A holder lists, calls, gets a notice, and closes; with a call out, or twenty times in a row."""
    server.has_tools(*V1)

    for _ in range(20 if how == "many" else 1):
        async with connect(server) as wrapper:
            await wrapper.list_tools()
            await wrapper.call("old", "n1")
            await server.notify_list_changed()
            if (
                how == "in_flight"
                and connect.claims.makes("dials_per_operation")
                and not wrapper.has("close")
            ):
                leave_out(CLOSE_ENDS_EVERYTHING_IT_OPENED, "dials_per_operation: there is nothing to close")
                return
            if how == "in_flight":
                with server.holding("tools/call") as gate:
                    call = wrapper.start_call("old", "n2")
                    await gate.arrived()
                    await wrapper.close()
                    with check(CLOSE_ENDS_EVERYTHING_IT_OPENED):
                        assert await call.ended(), "a call that was out at close still waits"
    reached(server.ledger.calls(), "no call was sent")
    with check(CLOSE_ENDS_EVERYTHING_IT_OPENED):
        assert await connect.left_open(server) == []


@scenario(OPERATIONS_SHARE_ONE_SESSION)
async def operations_of_one_holder(server: ScriptedServer, connect: Connect) -> None:
    """One holder lists, calls three times, and lists again."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        if wrapper.claims.makes("dials_per_operation"):
            leave_out(OPERATIONS_SHARE_ONE_SESSION, "dials_per_operation")
            return
        await wrapper.list_tools()
        for nonce in ("n1", "n2", "n3"):
            await wrapper.call("old", nonce)
        await wrapper.list_tools()
        reached(len(server.ledger.calls()) >= 3, "the calls were not sent")
        dialled = len(server.connections)
        with check(OPERATIONS_SHARE_ONE_SESSION):
            assert dialled == 1, f"five operations took {dialled} connections"


@scenario(WHAT_IS_HELD_OPEN_STAYS_BOUNDED, variants=("calls", "principals"))
async def many_operations(server: ScriptedServer, connect: Connect, of: str) -> None:
    """Three hundred calls, a third of them given up; or a hundred principals, each of whom comes and closes.

    Bounded is whatever does not grow with each of them: a pool may keep some connections for later, or all
    of them for a while.
    """
    server.has_tools(*V1)
    if of == "principals":
        if not connect.claims.makes("isolates_principals"):
            leave_out(WHAT_IS_HELD_OPEN_STAYS_BOUNDED, "isolates_principals")
            return
        for number in range(MANY):
            async with connect(server, f"principal {number}") as wrapper:
                await wrapper.list_tools()
        reached(server.ledger.listings(), "no listing reached the server")
        if connect.claims.makes("pools_connections"):
            if not connect.claims.makes("clock"):
                leave_out(WHAT_IS_HELD_OPEN_STAYS_BOUNDED, "clock: a pool may keep them for a while")
                return
            await asyncio.sleep(HOUR)
        await _is_bounded(server, 0, "principals who have closed")
        return
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        before = _tasks()
        for number in range(MANY):
            await wrapper.call("old", f"good {number}")
            server.fails("tools/call")
            await wrapper.call("old", f"bad {number}")
            by = "timeout" if number % 10 == 0 else "caller"
            if cannot_give_up(wrapper, by):
                continue
            with server.holding("tools/call") as gate:
                call = wrapper.start_call("old", f"given up {number}")
                held = await gate.arrived()
                await give_up(wrapper, call, by)
                held.drop()
        await _is_bounded(server, before, "calls that have ended")


def _tasks() -> int:
    """How many tasks there are beside the kit's own."""
    return sum(task.get_name() != VISIT for task in asyncio.all_tasks())


async def _is_bounded(server: ScriptedServer, before: int, what: str) -> None:
    live = len(await server.left_open())
    tasks = _tasks() - before
    with check(WHAT_IS_HELD_OPEN_STAYS_BOUNDED):
        assert live < MANY, f"{live} connections are open after {MANY} {what}"
        assert tasks < MANY, f"{tasks} tasks are left after {MANY} {what}"
