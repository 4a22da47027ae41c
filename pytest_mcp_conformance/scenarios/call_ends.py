"""Scenarios of CALL: how a call ends, where it does not simply end well."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_mcp_conformance.contract import Outcome
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract._tool import names_of
from pytest_mcp_conformance.contract.calls import (
    CANCELLED_VERB_ENDS_AS_CANCELLED,
    LONGER_LIMIT_IS_NOT_CUT_SHORT,
    PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL,
    STALE_BINDING_IS_REFUSED,
    UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS,
)
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import BLOCKS, SAYS_CLOSED, arrives_or_ends
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import V1, V2, Brittle, ScriptedServer
from pytest_mcp_conformance.server.connection import Connection
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD

ROUNDS = 1_000
"""A call that is sent more often than this is taken for an endless one."""

QUESTION = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "Which account?",
        "requestedSchema": {"type": "object", "properties": {"account": {"type": "string"}}},
    },
}


CUT = "the cable was cut"


@scenario(LONGER_LIMIT_IS_NOT_CUT_SHORT, variants=("connect", "listing", "call", "second_server"))
async def answer_just_in_time(server: ScriptedServer, connect: Connect, step: str) -> None:
    """The server answers when nine tenths of the wrapper's own limit are over."""
    late = 0.9 * (connect.claims.own_timeout or 0.0)
    server.has_tools(*V1)

    if step == "connect":
        await _slow_handshake(server, connect, late)
        return
    async with connect(server) as first:
        if step != "second_server":
            await _slow_answer(server, first, "tools/list" if step == "listing" else "tools/call", late)
            return
        other = server.another("another server")
        other.has_tools(*V1)
        async with connect(other) as second:
            await first.list_tools()
            await _slow_answer(other, second, "tools/call", late)


async def _slow_handshake(server: ScriptedServer, connect: Connect, late: float) -> None:
    if server.era == "modern":
        leave_out(LONGER_LIMIT_IS_NOT_CUT_SHORT, "silence here may mean a server of the older era")
        return
    with server.holding(HANDSHAKE_METHOD[server.era]) as gate:
        opening = connect.start(server)
        lazy = not await arrives_or_ends(gate, opening)
        listing = (await opening.result()).start_listing() if lazy else None
        held = await gate.arrived()
        await asyncio.sleep(late)
        gate.open()
        held.release()
        with check(LONGER_LIMIT_IS_NOT_CUT_SHORT):
            holder = await opening.result()
            assert holder.error is None, f"the handshake was answered after {late:g} s, and {holder.failure}"
            tools = await (listing.result() if listing is not None else holder.list_tools())
            assert names_of(tools) == ["a", "old"]


async def _slow_answer(server: ScriptedServer, wrapper: Holder, method: str, late: float) -> None:
    if method == "tools/call":
        await wrapper.list_tools()
    with server.holding(method) as gate:
        verb: Any = wrapper.start_listing() if method == "tools/list" else wrapper.start_call("old", "n1")
        if not await arrives_or_ends(gate, verb):
            leave_out(LONGER_LIMIT_IS_NOT_CUT_SHORT, f"{verb.step} sends no {method} here")
            return
        await asyncio.sleep(late)
        gate.open()
        gate.held[0].release()
        with check(LONGER_LIMIT_IS_NOT_CUT_SHORT):
            ended = await verb.result()
            good = not isinstance(ended, Outcome) or ended.ok
            assert good, f"{method} was answered after {late:g} s, and {verb.step} gave {ended}"


@scenario(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL, variants=("error", "transport_breaks"))
async def failure_below_a_call(server: ScriptedServer, connect: Connect, what: str) -> None:
    """The server answers a call with an error; or the transport breaks, which cancels whoever entered it."""
    server.has_tools(*V1)
    if what == "transport_breaks" and connect.transport != "memory":
        leave_out(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL, "only streams over memory break from within")
        return
    server.brittle = Brittle() if what == "transport_breaks" else None

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        if server.brittle is None:
            server.fails("tools/call", -32602, "no such account", times=float("inf"))
            outcome = await wrapper.call("old", "n1")
            reached(server.ledger.calls("n1"), "the call was not sent")
            with check(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL):
                assert not outcome.ok, f"an error, handed out as good: {outcome}"
                told = "no such account" in outcome.text or "-32602" in outcome.text
                assert told, f"nothing of what the server said: {outcome}"
            return
        with server.holding("tools/call") as gate:
            call = wrapper.start_call("old", "n1")
            await gate.arrived()
            gate.open()
            server.brittle.breaks(OSError(CUT))
            with check(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL):
                outcome = await call.result()
                again = len(server.ledger.calls("n1")) > 1
                assert again or not outcome.ok, f"a call that nobody answered: {outcome}"
                why = CUT in outcome.text or bool(SAYS_CLOSED.search(outcome.text))
                assert outcome.ok or why, f"nothing of what happened: {outcome}"
    # whoever entered the transport is told of it once more when it leaves
    wrapper.trouble = [line for line in wrapper.trouble if CUT not in line]


@scenario(STALE_BINDING_IS_REFUSED)
async def bound_tool_that_is_gone(server: ScriptedServer, connect: Connect) -> None:
    """A tool is bound and called; it is gone from the next listing, and called once more."""
    server.has_tools(*V1)
    promised = connect.claims.makes("refuses_stale_bindings")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        bound = await wrapper.verb("bind", "old")
        outcome = await wrapper.call("old", "n1", handle=bound)
        reached(outcome.ok and server.ledger.calls("n1"), f"the bound tool cannot be called: {outcome}")
        server.has_tools(*V2)
        if "old" in await wrapper.take_newer("new"):
            leave_out(STALE_BINDING_IS_REFUSED, "no list lacks a tool that it ever had: CCH-17 is about that")
            return
        mark = server.ledger.mark
        outcome = await wrapper.call("old", "n2", handle=bound)
        sent = server.ledger.calls(since=mark)
        with check(STALE_BINDING_IS_REFUSED):
            assert not outcome.ok, f"a tool that is gone was called, and gave {outcome}"
            assert {frame.params.get("name") for frame in sent} <= {"old"}, "another tool was called"
            if sent:
                assert "Unknown tool" in outcome.text or "-32602" in outcome.text, (
                    f"sent, and the server's error is lost: {outcome}"
                )
                assert not promised, "sent, although refuses_stale_bindings is claimed"
        if sent and not promised:
            leave_out(STALE_BINDING_IS_REFUSED, "refuses_stale_bindings: sent, and the error was handed on")


@scenario(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS)
async def result_of_an_unknown_type(server: ScriptedServer, connect: Connect) -> None:
    """The result of a call is of a type that nobody knows, and reads like a good one."""
    server.has_tools(*V1)
    half = {"content": [{"type": "text", "text": "half an answer"}], "isError": False, "resultType": "later"}

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.gives("tools/call", half)
        outcome = await wrapper.call("old", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS):
            assert not outcome.ok, f"a result of the type 'later', handed out as good: {outcome}"


@scenario(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS, variants=("question", "state_only"))
async def input_required_for_ever(server: ScriptedServer, connect: Connect, kind: str) -> None:
    """The server answers a call with a question, or with a state alone, again and again.

    Another call is made meanwhile, and one more when that has ended.
    """
    server.has_tools(*V1)
    asked: list[Event] = []

    def asks_again(connection: Connection, request: Event) -> None:
        asked.append(request)
        if len(asked) > ROUNDS:
            connection.drop()
            return
        question = {"inputRequests": {"q": QUESTION}} if kind == "question" else {}
        result = {"resultType": "input_required", "requestState": _state(len(asked)), **question}
        connection.answer(request, result)

    server.acts(
        "tools/call", asks_again, times=float("inf"), when=lambda each: each.arguments.get("nonce") == "n1"
    )
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        call = wrapper.start_call("old", "n1")
        await server.ledger.until(lambda: bool(asked), "tools/call at the server")
        others = [await wrapper.call("old", "n2")]
        with check(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS):
            outcome = await call.result(wrapper.patience)
            endless = len(asked) > ROUNDS
            assert not endless, f"still asking after {ROUNDS} rounds"
            assert not outcome.ok, f"a question, handed out as an answer: {outcome}"
            sent_back = [request.params.get("requestState") for request in asked[1:]]
            assert sent_back == [_state(n) for n in range(1, len(asked))]
            ids = [(request.connection, request.id) for request in asked]  # each connection counts its own
            assert len(set(ids)) == len(ids), "rounds of one call under one id"
        others.append(await wrapper.call("old", "n3"))
        with check(UNKNOWN_RESULT_TYPE_IS_NOT_A_SUCCESS):
            for nonce, other in zip(("n2", "n3"), others, strict=True):
                assert other.ok, f"another call: {other}"
                sent = server.ledger.calls(nonce)[0].params.keys()
                strange = sorted({"requestState", "inputResponses"} & sent)
                assert not strange, f"another call carries {', '.join(strange)}"


def _state(number: int) -> str:
    """A state that comes back changed where somebody decodes or trims it."""
    return f" state {number} \u2192 %2F "


@scenario(CANCELLED_VERB_ENDS_AS_CANCELLED, variants=("call", "listing", "refresh", "dial"))
async def verb_that_its_caller_cancels(server: ScriptedServer, connect: Connect, what: str) -> None:
    """The caller cancels a call, a listing or a refresh, whose answer the server holds back, or a first dial.

    A group of nothing but cancellations is another error: asyncio.timeout makes no TimeoutError of it.
    """
    server.has_tools(*V1)
    name = {"call": "call_tool", "refresh": "refresh"}.get(what, "list_tools")
    method = {"call": "tools/call", "dial": HANDSHAKE_METHOD[server.era]}.get(what, "tools/list")
    if what == "dial" and not connect.claims.makes("lazy_connect"):
        leave_out(CANCELLED_VERB_ENDS_AS_CANCELLED, "lazy_connect")
        return

    async with connect(server) as wrapper:
        if not wrapper.has(name) or not wrapper.is_async(name):
            leave_out(CANCELLED_VERB_ENDS_AS_CANCELLED, BLOCKS if wrapper.has(name) else name)
            return
        await server.settle()
        if what == "call":
            await wrapper.list_tools()
        elif what == "listing" and server.ledger.listings():  # at connect
            await wrapper.make_stale()
        with server.holding(method) as gate:
            verb: Pending[Any]
            if what == "call":
                verb = wrapper.start_call("a", "n1")
            else:
                verb = wrapper.start("refresh") if what == "refresh" else wrapper.start_listing()
            if not await arrives_or_ends(gate, verb):
                leave_out(CANCELLED_VERB_ENDS_AS_CANCELLED, f"{name} sends no {method} here")
                return
            await server.settle()
            if verb.done:  # what it has begun goes on in the background
                leave_out(CANCELLED_VERB_ENDS_AS_CANCELLED, f"{name} does not wait for {method} here")
                return
            await verb.cancel()
            with check(CANCELLED_VERB_ENDS_AS_CANCELLED):
                assert verb.done, f"{name} was cancelled a minute ago, and waits on"
                as_cancelled = isinstance(verb.error, asyncio.CancelledError)
                assert as_cancelled, f"{name} was cancelled, and {await _end_of(verb)}"
            await server.settle()  # an answer that crosses the farewell opens what nobody has heard of


async def _end_of(verb: Pending[Any]) -> str:
    """How a verb that has ended did so, in words."""
    if verb.error is not None:
        return f"raised {describe(verb.error)}"
    gave = await verb.result()
    return f"gave {names_of(gave) if isinstance(gave, list) else gave}"
