"""Scenarios of CONN: closing, twice, from elsewhere, under a verb, and under others."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.clock import NeverQuiet
from pytest_mcp_conformance.contract import HANDSHAKE, Outcome
from pytest_mcp_conformance.contract.connections import (
    CLOSE_ENDS_THE_VERB_UNDER_WAY,
    CLOSE_WORKS_FROM_ANOTHER_TASK,
    CLOSING_TWICE_IS_CLOSING_ONCE,
    CONNECTION_IN_USE_STAYS_OPEN,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._legs import legs_of
from pytest_mcp_conformance.scenarios._owner import Opener
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import arrives_or_ends
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import V1, V2, ScriptedServer
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD
from pytest_mcp_conformance.server.ways.configuration import Configuration

SOON = 1.0
"""Seconds in which a verb ends that was out when its holder closed."""


@scenario(CLOSING_TWICE_IS_CLOSING_ONCE, variants=("twice", "at_once", "without_a_connect"))
async def closes_twice(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Of two holders one closes twice, one after the other or at once; the other one goes on."""
    server.has_tools(*V1)
    if how == "without_a_connect" and not connect.claims.makes("lazy_connect"):
        leave_out(CLOSING_TWICE_IS_CLOSING_ONCE, "lazy_connect: it is connected once it is set up")
        return
    if connect.claims.makes("same_task_close"):
        leave_out(CLOSING_TWICE_IS_CLOSING_ONCE, "same_task_close: a second task cannot close it")
        return

    async with connect(server) as wrapper, connect(server) as other:
        if how != "without_a_connect":
            await wrapper.list_tools()
        await other.list_tools()
        before = other.connections
        with check(CLOSING_TWICE_IS_CLOSING_ONCE):
            closes = [wrapper.start("close")]
            if how != "at_once":
                await closes[0].result()
            closes.append(wrapper.start("close"))
            for close in closes:
                await close.result()
            await server.settle()
            outcome = await other.call("old", "n1")
            assert outcome.ok, f"another holder, which did not close: {outcome}"
            assert other.same_connections(before), "the connection of another holder was closed"
        reached(server.ledger.calls("n1"), "the other holder's call was not sent")


@scenario(CLOSE_WORKS_FROM_ANOTHER_TASK, variants=("in_order", "in_reverse"))
async def closes_elsewhere(server: ScriptedServer, connect: Connect, order: str) -> None:
    """One task opens two holders; another one closes the first, uses the second, and closes that."""
    server.has_tools(*V1)
    if connect.claims.makes("same_task_close"):
        leave_out(CLOSE_WORKS_FROM_ANOTHER_TASK, "same_task_close: it closes only where it was opened")
        return
    async with connect(server) as alone:
        await alone.list_tools()
    if connect.took_session:
        leave_out(CLOSE_WORKS_FROM_ANOTHER_TASK, "stands on a session, which its user closes")
        return
    opener = Opener()
    try:
        two = [await connect.attempt(server, opener=opener) for _ in range(2)]
        for holder in two:
            reached(holder.error is None, holder.failure)
            await holder.list_tools()
        first, second = two if order == "in_order" else reversed(two)
        said = await _closes(server, first)
        outcome = await second.call("old", "n1")
        said += await _closes(server, second)
        left = [] if said else await connect.left_open(server)
        with check(CLOSE_WORKS_FROM_ANOTHER_TASK):
            assert said == [], "closed from another task; claim same_task_close if that is not meant to work"
            assert outcome.ok, f"one of two was closed, and the other gives {outcome}"
            assert left == [], "connections that are open after both were closed"
    finally:
        await connect.close_all()
        await opener.end()


async def _closes(server: ScriptedServer, holder: Holder) -> list[str]:
    """Close from another task than the one that opened; gives what went wrong, in words."""
    await holder.close()
    said, holder.trouble = holder.trouble, []
    try:
        await server.settle()
    except NeverQuiet as restless:
        said.append(f"never at rest again: {restless}")
    return said


@scenario(CLOSE_ENDS_THE_VERB_UNDER_WAY, variants=("listing", "call", "dial", "redial"))
async def close_under_a_verb(server: ScriptedServer, connect: Connect, verb: str) -> None:
    """A holder closes while a listing, a call or a dial is out, and then the answer comes."""
    server.has_tools(*V1)
    needed = {"dial": "lazy_connect", "redial": "redials"}.get(verb)
    if needed is not None and not connect.claims.makes(needed):
        leave_out(CLOSE_ENDS_THE_VERB_UNDER_WAY, needed)
        return
    method = {"listing": "tools/list", "call": "tools/call"}.get(verb, HANDSHAKE_METHOD[server.era])

    async with connect(server) as wrapper:
        if connect.claims.makes("dials_per_operation") and not wrapper.has("close"):
            leave_out(CLOSE_ENDS_THE_VERB_UNDER_WAY, "dials_per_operation: there is nothing to close")
            return
        if verb in ("call", "redial"):
            await wrapper.list_tools()
        if verb == "redial":
            server.has_tools(*V2)
            server.drop()
            await server.settle()
        with server.holding(method) as gate:
            running: Pending[Any] = (
                wrapper.start_call("old", "n1") if verb == "call" else wrapper.start_listing()
            )
            if not await arrives_or_ends(gate, running):
                leave_out(CLOSE_ENDS_THE_VERB_UNDER_WAY, f"{running.step} sends no {method} here")
                return
            gate.open()
            dialled, mark = wrapper.connections, server.ledger.mark
            await wrapper.close()
            ended = await running.ended(SOON)
        await server.settle()
        with check(CLOSE_ENDS_THE_VERB_UNDER_WAY):
            assert ended, f"{running.step} was out when its holder closed, and still waits {SOON:g} s later"
            gave = _good(running, await running.result()) if running.error is None else ""
            assert gave == "", f"{running.step} was out when its holder closed, and ended well"
            assert wrapper.connections == dialled, "dialled behind the close"
            sent = [frame.method for frame in server.ledger.frames(kind="asked", since=mark)]
            assert sent == [], "sent behind the close"
            left = await connect.left_open(server)
            assert left == [], "connections that are open after the close"


def _good(verb: Pending[Any], returned: Any) -> str:
    """What a verb gave that ought to have failed; empty where that is right: an older list may be served."""
    if isinstance(returned, Outcome):
        return str(returned) if returned.ok else ""
    return "" if returned else "no tools"


@scenario(CONNECTION_IN_USE_STAYS_OPEN, variants=("closes", "closes_twice"))
async def one_of_two_users_leaves(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Two share a connection, and the second has a call out when the first closes, once or twice."""
    server.has_tools(*V1)
    if not connect.claims.makes("pools_connections"):
        await _one_of_two_leases(server, connect, how)
        return

    async with connect(server) as leaver, connect(server) as user:
        await leaver.list_tools()
        await user.list_tools()
        reached(len(server.connections) == 1, "two holders that pool their connections did not share one")
        if how == "closes_twice" and (leaver.claims.same_task_close or not leaver.has("close")):
            leave_out(CONNECTION_IN_USE_STAYS_OPEN, "close, without same_task_close")
            return
        with server.holding("tools/call") as gate:
            call = user.start_call("old", "n1")
            held = await gate.arrived()
            if how == "closes_twice":
                await leaver.verb("close")
            await leaver.close()
            await server.settle()
            with check(CONNECTION_IN_USE_STAYS_OPEN):
                in_use = held.connection.open
                assert in_use, "one user closed, and the connection was closed under the other one's call"
                held.release()
                outcome = await call.result()
                assert outcome.ok, f"the call of the one who stays: {outcome}"
                gate.open()
                outcome = await user.call("old", "n2")
                assert outcome.ok, f"a later call of the one who stays: {outcome}"
                assert len(server.connections) == 1, "dialled again"


@scenario(CONNECTION_IN_USE_STAYS_OPEN, ways=HTTP)
async def http_client_of_the_caller(server: ScriptedServer, connect: Connect) -> None:
    """One comes with an HTTP client that its caller has made, and leaves; then another one comes with it."""
    server.has_tools(*V1)
    if not connect.claims.makes("http_client"):
        leave_out(CONNECTION_IN_USE_STAYS_OPEN, "http_client")
        return
    from mcp.shared._httpx_utils import create_mcp_http_client  # of the HTTP library of the installed SDK

    given = connect.dial(server, "A").headers
    client = create_mcp_http_client(headers=given)
    try:
        connect.hand_out(Configuration(given, client))
        for nonce in ("n1", "n2"):
            async with connect(server, "A") as wrapper:
                await wrapper.list_tools()
                outcome = await wrapper.call("old", nonce)
            closed = client.is_closed
            with check(CONNECTION_IN_USE_STAYS_OPEN):
                assert not closed, "one user left, and the HTTP client that its caller had made is closed"
                assert outcome.ok, f"a call over the HTTP client of the caller: {outcome}"
            if closed:
                return
        reached(server.ledger.calls("n2"), "the call of the one who came later was not sent")
    finally:
        await client.aclose()


async def _one_of_two_leases(server: ScriptedServer, connect: Connect, how: str) -> None:
    if server.era not in HANDSHAKE:
        leave_out(
            CONNECTION_IN_USE_STAYS_OPEN, "pools_connections: a pool alone is played in the handshake era"
        )
        return
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        leaving, staying = await legs.lease(), await legs.lease()
        reached(legs.dials == 1, "two leases of one key did not share a connection")
        shared = legs.open
        with check(CONNECTION_IN_USE_STAYS_OPEN):
            await legs.release(*[leaving] * (2 if how == "closes_twice" else 1))
            left = legs.open
            assert left == shared, "one user left, and the connection of the other one is closed"
            assert [await legs.reaches(staying)] == shared
