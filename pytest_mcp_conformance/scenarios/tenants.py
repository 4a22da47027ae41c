"""Scenarios of TEN: what belongs to one principal stays with it."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract.tenants import (
    FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS,
    LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL,
    PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER,
    PRINCIPALS_NEVER_SHARE_A_SESSION,
    QUESTIONS_REACH_THEIR_OWN_PRINCIPAL,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import arrives_or_ends, elapsed
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import HOUR_MS, V1, ScriptedServer, tool
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD

ALIKE: dict[str, tuple[str | None, str | None]] = {
    "joined": ("ab:c", "a:bc"),
    "empty": ("", None),
    "none": ("None", None),
    "case": ("alice", "Alice"),
}
"""Principals that a careless key takes for one."""


@scenario(FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS)
async def frames_of_two_principals(server: ScriptedServer, connect: Connect) -> None:
    """Two principals list, call and get notices, interleaved; each frame is on its owner's connection."""
    server.has_tools(*V1)

    async with connect(server, "A") as a, connect(server, "B") as b:
        await a.list_tools()
        await b.list_tools()
        with server.holding("tools/call") as gate:
            calls = [a.start_call("a", "of A"), b.start_call("a", "of B")]
            await gate.arrived(2)
            await server.notify_list_changed()
            gate.release_all((2, 1))
            for call in calls:
                await call.ended()
        await a.react()
        for holder, name in ((a, "A"), (b, "B")):
            mark = server.ledger.mark
            await holder.list_tools()
            await holder.call("a", f"again {name}")
            with check(FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS):
                assert {frame.principal for frame in server.ledger.frames(since=mark)} <= {name}
        for name in "AB":
            sent = server.ledger.calls(f"of {name}")
            reached(sent, f"no call of {name} was sent")
            with check(FRAMES_CARRY_ONLY_THEIR_OWN_HEADERS):
                assert [frame.principal for frame in sent] == [name]


@scenario(PRINCIPALS_NEVER_SHARE_A_SESSION, variants=tuple(ALIKE))
async def principals_that_look_alike(server: ScriptedServer, connect: Connect, kind: str) -> None:
    """Two principals whose names a careless key takes for one. Who gets whose list is for another rule."""
    server.ttl_ms = HOUR_MS
    one, other = ALIKE[kind]
    server.has_tools("everybodys")

    async with connect(server, one) as first, connect(server, other) as second:
        for holder, principal, nonce in ((first, one, "n1"), (second, other, "n2")):
            await holder.list_tools()
            await holder.call("everybodys", nonce)
            sent = server.ledger.calls(nonce)
            reached(sent, f"the call of {principal!r} was not sent")
            with check(PRINCIPALS_NEVER_SHARE_A_SESSION):
                assert [frame.principal for frame in sent] == [principal]
    with check(PRINCIPALS_NEVER_SHARE_A_SESSION):
        assert {connection.principal for connection in server.connections} == {one, other}


@scenario(LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL)
async def schemas_of_two_principals(server: ScriptedServer, connect: Connect) -> None:
    """One tool gives an integer to one principal and a text to the other, who has a tool more."""
    server.ttl_ms = HOUR_MS
    server.has_tools(tool("a", "integer"), principal="A")
    server.has_tools(tool("a", "string"), "b", principal="B")

    async with connect(server, "A") as a, connect(server, "B") as b:
        with check(LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL):
            assert await a.names() == ["a"]
            assert await b.names() == ["a", "b"]
            assert await a.names() == ["a"]
        for value in (1, "x"):
            server.answers("a", value)
            for holder, own in ((a, int), (b, str)):
                outcome = await holder.call("a", f"{value} for {holder.principal}")
                with check(LISTS_AND_CHECKS_STAY_WITH_THEIR_PRINCIPAL):
                    assert outcome.ok is isinstance(value, own), (
                        f"{value!r} for {holder.principal}: {outcome}"
                    )
        reached(server.ledger.calls(), "no call was sent")


@scenario(PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER, variants=("dial", "listing", "call", "refused"))
async def one_principal_is_held_up(server: ScriptedServer, connect: Connect, step: str) -> None:
    """A dial, a listing or a call of A gets no answer, or A is refused; B connects, lists and calls."""
    server.has_tools(*V1)
    method = {"listing": "tools/list", "call": "tools/call"}.get(step, HANDSHAKE_METHOD[server.era])
    if step == "refused":
        server.fails(method, -32603, "not you", times=float("inf"), when=lambda each: each.principal == "A")

    with server.holding(method, when=lambda each: each.principal == "A" and step != "refused") as gate:
        opening = connect.start(server, "A")
        verb: Pending[Any] = opening
        if not await arrives_or_ends(gate, opening):
            holder = await opening.result()
            if holder.error is None and step == "call":
                await holder.list_tools()
            if holder.error is None:
                verb = holder.start_call("old", "of A") if step == "call" else holder.start_listing()
                await arrives_or_ends(gate, verb)
        reached(
            gate.held or server.ledger.frames(method, kind="failed"),
            f"A sent no {method}, and nothing of it was held up",
        )
        with elapsed() as spent, check(PRINCIPALS_DO_NOT_WAIT_FOR_EACH_OTHER):
            other = await connect.start(server, "B").result()
            assert not other.failure, f"A is held up, and of B {other.failure}"
            names = await other.names()
            assert names == ["a", "old"], "the tools of B"
            outcome = await other.call("old", "of B")
            assert outcome.ok, f"the call of B: {outcome}"
            waited = spent.seconds
            assert waited < 1.0, f"B waited {waited:g} s for A"
        gate.open()
        gate.release_all()
        await verb.ended()


@scenario(QUESTIONS_REACH_THEIR_OWN_PRINCIPAL)
async def messages_of_two_calls(server: ScriptedServer, connect: Connect) -> None:
    """Two principals with equal settings have a call out each, and the server logs for each, in reverse."""
    server.has_tools(*V1)

    async with connect(server, "A") as a, connect(server, "B") as b:
        for holder in (a, b):
            await holder.list_tools()
        with server.holding("tools/call") as gate:
            calls = [holder.start_call("old", str(holder.principal)) for holder in (a, b)]
            await gate.arrived(2)
            for held in reversed(gate.held):
                held.connection.log(f"for {held.connection.principal}", related=held.request)
            await server.settle()
        for call in calls:
            await call.ended()
        with check(QUESTIONS_REACH_THEIR_OWN_PRINCIPAL):
            assert list(await a.verb("received")) == ["for A"]
            assert list(await b.verb("received")) == ["for B"]
