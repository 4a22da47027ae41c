"""Scenarios of CONN: dials that fail, are given up, or take the place of an earlier connection."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract._tool import names_of
from pytest_mcp_conformance.contract.connections import (
    CANCELLED_DIAL_LEAVES_NOTHING_OPEN,
    FAILED_CONNECT_LEAVES_NOTHING_OPEN,
    FAILED_DIAL_RAISES_PROMPTLY,
    SECOND_CONNECT_LEAVES_ONE_LIVE,
    USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import NotClaimed, check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import BLOCKS, SAYS_CLOSED, arrives_or_ends, elapsed
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import FAULTS, V1, Fault, Gate, ScriptedServer
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD
from pytest_mcp_conformance.server.faults import SHAKES_HANDS

PROMPT = 60.0
"""Seconds for a dial that fails: whoever tries a few times more is given the time for it."""

SHAKES = tuple(SHAKES_HANDS.values())
NOT_TODAY = replace(FAULTS["error"], text="not today")
SAYS_NOT_TODAY = re.compile("not today|-32603")
CAUSES = {
    "refused": (FAULTS["refused"], ("connect",), re.compile("refus|reach", re.IGNORECASE)),
    "error": (NOT_TODAY, SHAKES, SAYS_NOT_TODAY),
    "hung_up": (FAULTS["hangs_up"], SHAKES, SAYS_CLOSED),
    "first_listing": (NOT_TODAY, ("list",), SAYS_NOT_TODAY),
}
"""How a dial fails: by which fault, at which steps; and what an error says of it."""

REFUSES_BY_HANGING_UP = ("stdio", "loopback")
"""The ways in over which nobody can refuse: the child ends at once, the socket was accepted before."""

FOR_EVER = float("inf")
GOES_ON = "goes on without server/discover, which nobody has to ask in the modern era"
EACH_ITS_OWN = "dials_per_operation: each verb has a connection of its own"


@scenario(FAILED_DIAL_RAISES_PROMPTLY, FAILED_CONNECT_LEAVES_NOTHING_OPEN, variants=tuple(CAUSES))
async def connect_that_fails(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The server refuses the connection, hangs up on the handshake, or fails that or the first listing.

    Where the set-up asks for none of it, the first `list_tools` does.
    """
    server.has_tools(*V1)
    fault, steps, cause = CAUSES[how]
    if how == "refused" and connect.ways.transport in REFUSES_BY_HANGING_UP:
        cause = SAYS_CLOSED
    for step in steps:
        server.suffers(fault, step, times=FOR_EVER)

    with elapsed() as spent:
        holder = await connect.attempt(server)
        connected = holder.error is None
        error, listed = holder.error, ""
        if connected:
            listing = holder.start_listing()
            reached(await listing.ended(), "list_tools did not end")
            error = listing.error
            if error is None:
                listed = f", and list_tools gave {[tool.name for tool in await listing.result()]}"
        seconds, bound = spent.seconds, max(PROMPT, 1.5 * (connect.claims.own_timeout or 0.0))
    await server.settle()
    step = "list_tools" if connected else "connect"
    with check(FAILED_DIAL_RAISES_PROMPTLY):
        assert seconds <= bound, f"{step} took {seconds:g} s to fail"
        failed = error is not None
        if not failed and _goes_on(server):
            raise NotClaimed(GOES_ON)
        assert failed, f"the server could not be used{listed}"
        said = "" if error is None else describe(error)
        ordinary = isinstance(error, Exception)
        assert ordinary, f"{step} raised {said}, which is no ordinary error"
        tells = bool(cause.search(said))
        assert tells, f"{step} raised {said}, which does not tell the cause"
    if connected:
        await holder.close()
    left = await (connect.left_open(server) if connected else server.left_open())
    with check(FAILED_CONNECT_LEAVES_NOTHING_OPEN):
        assert left == [], f"connections that are open after {step} failed"
    reached(how == "refused" or server.ledger.frames(), "nothing was dialled")


@scenario(
    FAILED_DIAL_RAISES_PROMPTLY, variants=("first_use", "first_use_hung_up", "redial", "redial_hung_up")
)
async def dial_that_fails_under_several(server: ScriptedServer, connect: Connect, of: str) -> None:
    """Two calls and a listing wait for one handshake; the server fails it, or hangs up on it.

    A listing of before the loss may be served all the same, and the cause is for whoever dialled.
    """
    server.has_tools(*V1)
    fault = FAULTS["hangs_up"] if of.endswith("hung_up") else NOT_TODAY
    if connect.claims.makes("dials_per_operation"):
        leave_out(FAILED_DIAL_RAISES_PROMPTLY, EACH_ITS_OWN)
        return
    if of.startswith("first_use"):
        with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
            opening = connect.start(server)
            await arrives_or_ends(gate, opening)
            await server.settle()
            if opening.done:
                await _waits_in_vain(server, await opening.result(), gate, fault)
                return
        await opening.result()
        leave_out(FAILED_DIAL_RAISES_PROMPTLY, "it has dialled when it is set up")
        return
    if not connect.claims.makes("redials"):
        leave_out(FAILED_DIAL_RAISES_PROMPTLY, "redials")
        return
    if not connect.tells_of_a_loss:
        leave_out(FAILED_DIAL_RAISES_PROMPTLY, "over HTTP the next answer tells of a loss")
        return
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
            server.drop()
            await server.settle()
            await _waits_in_vain(server, wrapper, gate, fault, listed=True)


async def _waits_in_vain(
    server: ScriptedServer, wrapper: Holder, gate: Gate, fault: Fault, *, listed: bool = False
) -> None:
    """Several verbs wait for a handshake that is held, and the server fails it: none of them waits on."""
    reached(wrapper.error is None, wrapper.failure)
    verbs: list[Pending[Any]] = [wrapper.start_call("old", nonce) for nonce in ("n1", "n2")]
    verbs.append(wrapper.start_listing())
    if not await arrives_or_ends(gate, verbs[0]):
        leave_out(FAILED_DIAL_RAISES_PROMPTLY, "a call does not dial here")
        return
    await server.settle()
    mark = server.ledger.mark
    for step in SHAKES if server.era == "modern" else (SHAKES_HANDS["handshake"],):
        server.suffers(fault, step, times=FOR_EVER)
    gate.open()
    for held in gate.held:
        held.drop()
        fault.play(held.connection, held.request, lambda: lambda: None)
    for verb in verbs:
        await verb.ended(max(PROMPT, 1.5 * (wrapper.claims.own_timeout or 0.0)))
    with check(FAILED_DIAL_RAISES_PROMPTLY):
        waiting = [verb.step for verb in verbs if not verb.done]
        assert waiting == [], "verbs that still wait for a dial that failed"
        strange = [describe(v.error) for v in verbs if v.error and not isinstance(v.error, Exception)]
        assert strange == [], "verbs that waited for a dial that failed, and raised no ordinary error"
        if _goes_on(server, mark):
            raise NotClaimed(GOES_ON)
        served = [str(outcome) for call in verbs[:2] if (outcome := await call.result()).ok]
        assert served == [], "calls that gave a result, though the server cannot be used"
        failed = listed or verbs[2].error is not None
        assert failed, "list_tools gave tools, though the server cannot be used"


def _goes_on(server: ScriptedServer, since: int = 0) -> bool:
    """True where a server of the modern era gave what it was asked for, though its discovery failed."""
    return server.era == "modern" and bool(
        server.ledger.frames("tools/list", kind="answered", since=since)
        or server.ledger.frames("tools/call", kind="answered", since=since)
    )


@scenario(CANCELLED_DIAL_LEAVES_NOTHING_OPEN, variants=("connect", "first_use", "redial"))
async def dial_given_up(server: ScriptedServer, connect: Connect, of: str) -> None:
    """Of two who wait for a slow handshake one gives up, and then both do, some rounds long."""
    server.has_tools(*V1)
    needed = {"first_use": "lazy_connect", "redial": "redials"}.get(of)
    if needed is not None and not connect.claims.makes(needed):
        leave_out(CANCELLED_DIAL_LEAVES_NOTHING_OPEN, needed)
        return
    if of == "redial" and not connect.tells_of_a_loss:
        leave_out(CANCELLED_DIAL_LEAVES_NOTHING_OPEN, "over HTTP the next answer tells of a loss")
        return
    if of == "connect" and connect.adapter.blocks:
        leave_out(CANCELLED_DIAL_LEAVES_NOTHING_OPEN, BLOCKS)
        return
    for _ in range(3):
        if of == "connect":
            await _gives_up_connects(server, connect)
            if connect.claims.makes("pools_connections"):
                return  # the connection may be there for the next ones
            continue
        async with connect(server) as wrapper:
            if not (wrapper.is_async("list_tools") and wrapper.is_async("call_tool")):
                leave_out(CANCELLED_DIAL_LEAVES_NOTHING_OPEN, BLOCKS)
                return
            if of == "redial":
                await wrapper.list_tools()
                server.drop()
                await server.settle()
            await _gives_up_verbs(
                server, wrapper, again=connect.tells_of_a_loss and wrapper.claims.makes("redials")
            )
        left = await connect.left_open(server)
        with check(CANCELLED_DIAL_LEAVES_NOTHING_OPEN):
            assert left == [], "connections that are open after the close"


async def _gives_up_connects(server: ScriptedServer, connect: Connect) -> None:
    """Two holders, of which the first gives up; then one alone, who gives up as well."""
    with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
        openings = [connect.start(server) for _ in range(2)]
        if not await arrives_or_ends(gate, openings[0]):
            leave_out(CANCELLED_DIAL_LEAVES_NOTHING_OPEN, "sends nothing while it is set up")
            return
        await server.settle()
        first, second = connect.holders[-2:]
        leaving = asyncio.create_task(first.give_up(), name="one gives up its connect")
        await server.settle()  # an answer that crosses the farewell opens what nobody has heard of
        gate.open()
        gate.release_all()
        await server.settle()
        with check(CANCELLED_DIAL_LEAVES_NOTHING_OPEN):
            await openings[1].result()
            assert not second.failure, f"another one gave up its connect, and this {second.failure}"
            names = await second.names()
            assert names == ["a", "old"], "another one gave up its connect"
    await leaving
    await second.close()
    with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
        opening = connect.start(server)
        if not await arrives_or_ends(gate, opening):
            return  # a pool has kept the connection of the second one
        await connect.holders[-1].give_up()
        await server.settle()
        gate.open()
        gate.release_all()
    left = await server.left_open()
    with check(CANCELLED_DIAL_LEAVES_NOTHING_OPEN):
        assert left == [], "connections that are open after every connect was given up or closed"


async def _gives_up_verbs(server: ScriptedServer, wrapper: Holder, *, again: bool) -> None:
    """A call and a listing of one holder wait for a dial: both are given up, and `again` the call alone."""
    for both in (True, False):
        with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
            call, listing = wrapper.start_call("old", "n1"), wrapper.start_listing()
            await gate.arrived()
            await server.settle()
            await call.cancel()
            if both:
                await listing.cancel()
            await server.settle()
            gate.open()
            gate.release_all()
            await server.settle()
            with check(CANCELLED_DIAL_LEAVES_NOTHING_OPEN):
                tools = await (wrapper.list_tools() if both else listing.result())
                names = names_of(tools)
                assert names == ["a", "old"], "a dial was given up before"
                live = len(await server.left_open())
                assert live <= 1, f"{live} connections of one holder"
        if not again:
            return
        server.drop()
        await server.settle()


@scenario(SECOND_CONNECT_LEAVES_ONE_LIVE, variants=("reconnect", "reconnect_fails", "redial"))
async def connection_in_place_of_another(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A holder connects anew, in vain or not, or dials again after a loss."""
    server.has_tools(*V1)
    if connect.claims.makes("dials_per_operation"):
        leave_out(SECOND_CONNECT_LEAVES_ONE_LIVE, EACH_ITS_OWN)
        return

    async with connect(server) as wrapper:
        if how == "redial" and not wrapper.claims.makes("redials"):
            leave_out(SECOND_CONNECT_LEAVES_ONE_LIVE, "redials")
            return
        if how != "redial" and not wrapper.has("reconnect"):
            leave_out(SECOND_CONNECT_LEAVES_ONE_LIVE, "reconnect")
            return
        await wrapper.list_tools()
        await wrapper.call("old", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        before = len(server.connections)
        if how == "redial":
            server.drop()
            await wrapper.start_call("old", "n2").ended()
        else:
            server.refusing = how == "reconnect_fails"
            await wrapper.start("reconnect").ended()
        await server.settle()
        if how == "reconnect":
            await wrapper.try_names()  # what was handed out before may be of the connection before
        outcome = await wrapper.call("old", "n3")
        if how == "redial" and not outcome.ok and len(server.connections) == before:
            leave_out(SECOND_CONNECT_LEAVES_ONE_LIVE, "is not dialled again here, which is for other rules")
            return
        live = await server.left_open()
        with check(SECOND_CONNECT_LEAVES_ONE_LIVE):
            assert outcome.ok, f"a call on the connection that is live: {outcome}"
            if not live and server.era == "modern" and connect.transport in HTTP:
                return  # each request is one by itself, and nothing is held open between them
            assert len(live) == 1, "the connections that are live"
            used = [frame.connection for frame in server.ledger.calls("n3")]
            assert used[-1:] == live, "the call went out on another connection than the live one"


@scenario(USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL)
async def loss_under_several_users(server: ScriptedServer, connect: Connect) -> None:
    """Two calls and a listing are out when the connection is lost; a listing and two calls follow at once."""
    server.has_tools(*V1)
    if connect.claims.makes("dials_per_operation"):
        leave_out(USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL, EACH_ITS_OWN)
        return

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = len(server.connections)
        with server.holding("tools/call") as calls, server.holding("tools/list") as lists:
            verbs: list[Pending[Any]] = [wrapper.start_call("old", nonce) for nonce in ("n1", "n2")]
            verbs.append(wrapper.start("refresh") if wrapper.has("refresh") else wrapper.start_listing())
            await calls.arrived()
            await server.settle()
            calls.open()
            lists.open()
            with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
                server.drop()
                await server.settle()
                verbs += [wrapper.start_listing(), *(wrapper.start_call("old", n) for n in ("n3", "n4"))]
                await arrives_or_ends(gate, verbs[-1])
                await server.settle()
                gate.open()
                gate.release_all()
                for verb in verbs:
                    await verb.ended(wrapper.patience)
        waiting = [verb.step for verb in verbs if not verb.done]
        cancelled = [verb.step for verb in verbs if isinstance(verb.error, asyncio.CancelledError)]
        with check(USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL):
            assert waiting == [], "verbs that still wait after the connection was lost"
            assert cancelled == [], "verbs that were cancelled by the loss"
            names = await wrapper.names()
            assert names == ["a", "old"], "a listing after all that"
            outcome = await wrapper.call("old", "n5")
            assert outcome.ok, f"a call after all that: {outcome}"
            redials = len(server.connections) - before
            assert redials == 1, f"the connection was lost once, and dialled again {redials} times"
        reached(len(server.connections) > before, "nothing was dialled after the loss")
