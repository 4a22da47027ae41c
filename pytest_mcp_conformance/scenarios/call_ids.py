"""Scenarios of CALL: requests, answers and cancellations, paired by their ids."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from pytest_mcp_conformance.contract.calls import (
    ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT,
    CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST,
    LATE_ANSWER_HARMS_NOTHING,
    REQUEST_IDS_DO_NOT_CLASH,
)
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import NOT_HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import BLOCKS, arrives_or_ends, cannot_give_up, give_up
from pytest_mcp_conformance.server import V1, ScriptedServer
from pytest_mcp_conformance.server.connection import Connection
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD, stamped

LIMIT = 2.0
"""Seconds after which one call is to end: long enough to be sent on a busy machine."""


@scenario(REQUEST_IDS_DO_NOT_CLASH)
async def ids_of_many_requests(server: ScriptedServer, connect: Connect) -> None:
    """Twenty calls at once, one of them given up and one failed; forty more; a lost connection; then ten."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            calls = [wrapper.start_call("old", f"n{n}") for n in range(20)]
            await gate.arrived()
            await server.settle()
            if wrapper.is_async("call_tool"):
                await calls[0].cancel()
            gate.held[-1].fail(-32603, "the tool broke")
            gate.open()
            gate.release_all()
        for call in calls:
            await call.ended()
        for n in range(20, 60):
            await wrapper.call("old", f"n{n}")
        if "error" in wrapper.claims.resends_calls:
            server.fails("tools/call")
            await wrapper.call("old", "again")
        if wrapper.claims.makes("redials"):
            server.drop()
            for n in range(60, 70):
                await wrapper.call("old", f"n{n}")
    reached(len(server.ledger.calls()) >= 60, "the calls were not sent")
    with check(REQUEST_IDS_DO_NOT_CLASH):
        clashes = _clashes(server)
        assert not clashes, f"{len(clashes)} ids that clash, the first: {clashes[0]}"


def _clashes(server: ScriptedServer) -> list[str]:
    """What is wrong with the ids of requests, in words.

    In the modern era an id is free again once its request is answered or cancelled; yet a call that is sent
    again on its connection has a new one.
    """
    found: list[str] = []
    taken: dict[Hashable, Event] = {}
    called: set[Hashable] = set()
    for event in server.ledger:
        key = _key(event, event.id)
        if event.kind == "asked":
            call = (key, event.arguments.get("nonce"))
            if not isinstance(event.id, str | int) or isinstance(event.id, bool):
                found.append(f"{event.method} has the id {event.id!r}, which is no text and no integer")
            elif key in taken:
                found.append(f"{event.method} has the id {event.id!r} of an earlier {taken[key].method}")
            elif event.method == "tools/call" and call in called:
                found.append(f"a call was sent again under its old id, {event.id!r}")
            taken[key] = event
            called.add(call)
        elif server.era == "modern" and event.kind in ("answered", "failed"):
            taken.pop(key, None)
        elif server.era == "modern" and event.method == "notifications/cancelled":
            taken.pop(_key(event, event.params.get("requestId")), None)
    return found


@scenario(
    LATE_ANSWER_HARMS_NOTHING, variants=("caller", "timeout", "limit"), ways=NOT_HTTP
)  # there its stream has ended
async def answer_to_a_call_given_up(server: ScriptedServer, connect: Connect, by: str) -> None:
    """A call is given up and another one is out, when the answer to the first arrives after all.

    It is given up by its caller, by the wrapper's limit for all calls, or by a limit of its own.
    """
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        if reason := cannot_give_up(wrapper, by):
            leave_out(LATE_ANSWER_HARMS_NOTHING, reason)
            return
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            first = (
                wrapper.start_call_within("old", "n1", LIMIT)
                if by == "limit"
                else wrapper.start_call("old", "n1")
            )
            late = await gate.arrived()
            await give_up(wrapper, first, by)
            if not first.done:
                leave_out(LATE_ANSWER_HARMS_NOTHING, "a limit that ends no call")
                return
            await server.settle()
            if not late.connection.open:
                leave_out(LATE_ANSWER_HARMS_NOTHING, "leaves the connection of a call that it gave up")
                return
            second = wrapper.start_call("old", "n2")
            out = 2
            await gate.arrived(out)
            while not server.ledger.calls("n2"):  # what arrived was the first call, sent again
                out += 1
                await gate.arrived(out)
            late.release()
            await server.settle()
            ended = second.done
            with check(LATE_ANSWER_HARMS_NOTHING):
                assert not ended, f"the late answer ended the next call: {await second.result()}"
                assert late.connection.open, "the late answer ended the connection"
                gate.call("n2").release()
                outcome = await second.result()
                assert outcome.ok, f"the next call: {outcome}"
                assert outcome.shows("n2"), f"the next call got another answer: {outcome}"


@scenario(
    CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST, variants=("call", "answered", "connect", "connect_timeout")
)
async def cancellations(server: ScriptedServer, connect: Connect, of: str) -> None:
    """A call is given up behind one that was answered; or one is answered; or a handshake is given up.

    What is cancelled on the wire is looked at to the very end of the close.
    """
    server.has_tools(*V1)

    if of.startswith("connect"):
        reason = await _gives_up_to_connect(
            server, connect, "timeout" if of == "connect_timeout" else "caller"
        )
    else:
        async with connect(server) as wrapper:
            reason = await _gives_up_a_call(server, wrapper, answered=of == "answered")
    if reason:
        leave_out(CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST, reason)
        return
    await connect.close_all()
    with check(CANCELLATION_NAMES_ONLY_AN_OPEN_REQUEST):
        wrong = _cancelled_wrongly(server)
        assert not wrong, f"cancelled on the wire: {', '.join(wrong)}"


async def _gives_up_a_call(server: ScriptedServer, wrapper: Holder, *, answered: bool) -> str:
    """Play the part with calls; gives why nothing can be judged, or empty."""
    await wrapper.list_tools()
    if answered:
        await wrapper.call("old", "n1")
        await server.settle()
        return ""
    if reason := cannot_give_up(wrapper, "caller"):
        return reason
    with server.holding("tools/call", when=lambda request: request.arguments.get("nonce") == "n1") as gate:
        call = wrapper.start_call("old", "n1")
        await gate.arrived()
        await wrapper.call("old", "n2")
        await server.settle()
        await call.cancel()
        await server.settle()
    await server.settle()
    return "" if server.ledger.frames("notifications/cancelled") else "cancels nothing on the wire"


async def _gives_up_to_connect(server: ScriptedServer, connect: Connect, by: str) -> str:
    """Play the part with the handshake; gives why nothing can be judged, or empty."""
    if by == "timeout" and not (connect.claims.makes("own_timeout") and connect.claims.makes("clock")):
        return "own_timeout, clock"
    if by == "caller" and connect.adapter.blocks:
        return BLOCKS
    with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
        opening = connect.start(server)
        if await arrives_or_ends(gate, opening):
            if by == "caller":
                await connect.holders[-1].give_up()
            await opening.ended()
        else:  # a lazy wrapper dials at its first verb
            wrapper = await opening.result()
            verb = wrapper.start_listing()
            await gate.arrived()
            if by == "caller" and not wrapper.is_async("list_tools"):
                return BLOCKS
            await (verb.cancel() if by == "caller" else verb.ended(wrapper.patience))
        await server.settle()
    await server.settle()
    return ""


def _cancelled_wrongly(server: ScriptedServer) -> list[str]:
    """The cancellations of the client that name what they must not, in words."""
    found: list[str] = []
    waiting: dict[Hashable, str] = {}
    for event in server.ledger:
        if event.kind == "asked":
            waiting[_key(event, event.id)] = event.method
        elif event.kind in ("answered", "failed"):
            waiting.pop(_key(event, event.id), None)
        elif event.kind == "told" and event.method == "notifications/cancelled":
            number = event.params.get("requestId")
            method = waiting.get(_key(event, number))
            if method is None:
                found.append(f"{number!r}, which is no open request")
            elif method == "initialize":
                found.append(f"{number!r}, the handshake")
    return found


@scenario(ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT)
async def answer_under_a_text(server: ScriptedServer, connect: Connect) -> None:
    """The server answers a call under its id as a text where it was a number, or the other way round."""
    server.has_tools(*V1)
    answered: list[Any] = []

    def answers_otherwise(connection: Connection, request: Event) -> None:
        other = _of_another_type(request.id)
        answered.append(other)
        result = stamped({"content": [{"type": "text", "text": "the answer"}]}, server.era)
        connection.send(
            {"jsonrpc": "2.0", "id": request.id if other is None else other, "result": result},
            related=request.id,
        )

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.acts("tools/call", answers_otherwise)
        call = wrapper.start_call("old", "n1")
        await server.settle()
        reached(answered, "the call was not sent")
        if answered[0] is None:
            leave_out(
                ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT, "its ids cannot be written as a number"
            )
            return
        with check(ANSWER_UNDER_AN_ID_OF_ANOTHER_TYPE_IS_NOT_WAITED_OUT):
            assert await call.ended(1.0), (
                f"the answer under {answered[0]!r} has arrived, and its call still waits"
            )
            outcome = await call.result()
            assert not outcome.ok or outcome.shows("the answer"), f"something else: {outcome}"


def _of_another_type(number: Any) -> Any:
    if isinstance(number, int):
        return str(number)
    return int(number) if str(number).isdecimal() else None


def _key(event: Event, number: Any) -> Hashable:
    return event.connection, type(number), str(number)
