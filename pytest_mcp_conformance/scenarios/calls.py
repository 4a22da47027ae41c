"""Scenarios of CALL: what becomes of a call, whatever else happens."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from pytest_mcp_conformance.contract.calls import (
    EQUAL_CALLS_GET_THEIR_OWN_ANSWERS,
    FAILED_CALL_IS_NEVER_REDIRECTED,
    FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE,
    GIVEN_UP_CALL_IS_CANCELLED_ON_THE_WIRE,
    LIMIT_BOUNDS_THE_WHOLE_VERB,
    ONE_CALL_IS_SENT_ONCE,
    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER,
    TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import (
    ONE_BY_ONE,
    arrives_or_ends,
    cannot_give_up,
    elapsed,
    give_up,
    out_together,
)
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import DEADLINE, FAULTS, V1, ScriptedServer
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD

FOR_EVER = float("inf")

BROKE = replace(FAULTS["error"], text="the tool broke")
FAILS = {
    "error": BROKE,
    "dropped": FAULTS["hangs_up"],
    "timeout": FAULTS["silent"],
    **{name: FAULTS[name] for name in ("malformed", "server_error", "cut_body")},
}
"""How a call fails at its server."""

EXCUSED_AS = {"malformed": {"error", "wrong_answer"}, "server_error": {"error"}, "cut_body": {"dropped"}}
"""What a wrapper may take a failure for, and send the call again."""


@scenario(
    ONE_CALL_IS_SENT_ONCE,
    variants=("wrong_answer", "error", "malformed", "dropped", "timeout", "hidden_listing_fails"),
)
async def one_call_one_frame(server: ScriptedServer, connect: Connect, cause: str) -> None:
    """A call fails in one way or another; within a minute it is not sent a second time."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        excused = {*wrapper.claims.resends_calls, *(("dropped",) if server.era == "modern" else ())}
        if excused & {cause, *EXCUSED_AS.get(cause, ())}:
            leave_out(ONE_CALL_IS_SENT_ONCE, f"may send a call again: {cause}")
            return
        if cause == "timeout" and not (wrapper.claims.makes("own_timeout") and wrapper.claims.makes("clock")):
            leave_out(ONE_CALL_IS_SENT_ONCE, "own_timeout, clock")
            return
        if cause != "hidden_listing_fails":
            await wrapper.list_tools()
        if cause == "wrong_answer":
            server.answers("a", "bad")
        elif cause in FAILS:
            server.suffers(FAILS[cause], "call")
        with server.holding("tools/call", when=lambda _: cause == "hidden_listing_fails") as gate:
            call = wrapper.start_call("a", "n1")
            if cause == "hidden_listing_fails" and await arrives_or_ends(gate, call):
                server.fails("tools/list", times=FOR_EVER)
                gate.open()
                gate.release_all()
            await call.ended(wrapper.patience)
            await asyncio.sleep(60.0)
        sent = server.ledger.calls("n1")
        if cause == "hidden_listing_fails" and not sent:
            leave_out(ONE_CALL_IS_SENT_ONCE, "refuses a tool that it has not listed")
            return
        with check(ONE_CALL_IS_SENT_ONCE):
            assert len(sent) == 1


@scenario(ONE_CALL_IS_SENT_ONCE, variants=("server_error", "cut_body"), ways=HTTP)
async def one_call_one_post(server: ScriptedServer, connect: Connect, cause: str) -> None:
    """A call is answered with HTTP 500, or its answer breaks off; within a minute it is not sent again."""
    await one_call_one_frame.play(server, connect, cause)


@scenario(ONE_CALL_IS_SENT_ONCE)
async def two_equal_calls(server: ScriptedServer, connect: Connect) -> None:
    """The same tool is called twice with the same arguments, one call after the other."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with check(ONE_CALL_IS_SENT_ONCE):
            for value in (1, 2):
                server.answers("a", value)
                outcome = await wrapper.call("a", "same")
                assert outcome.shows(value), f"the answer of the call whose tool gave {value}: {outcome}"
            assert len(server.ledger.calls("same")) == 2


@scenario(
    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER,
    variants=("listing_fails", "listing_hangs", "refetch_fails"),
)
async def result_whatever_else_fails(server: ScriptedServer, connect: Connect, what: str) -> None:
    """A call is executed; a listing that goes with it fails, or is never answered.

    The failure is armed when the call has reached the server: nothing that comes later may cost its result.
    """
    server.has_tools(*V1)
    limit = connect.claims.own_timeout
    within = 1.5 * limit if limit else DEADLINE

    async with connect(server) as wrapper:
        if what == "refetch_fails":
            await wrapper.list_tools()
            await server.settle()
        with server.holding("tools/call") as calls:
            call = wrapper.start_call("a", "n1")
            if not await arrives_or_ends(calls, call):
                leave_out(
                    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER, "refuses a tool that it has not listed"
                )
                return
            answer = calls.held[0]
            with server.holding("tools/list", when=lambda _: what == "listing_hangs"):
                if what != "listing_hangs":
                    server.fails("tools/list", times=FOR_EVER)
                if what == "refetch_fails":
                    await server.notify_list_changed()
                answer.release()
                if not connect.claims.makes("clock") and not await call.ended(within):
                    await call.cancel()
                    leave_out(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER, "clock: it waits in real time")
                    return
                with check(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER):
                    outcome = await call.result(within)
                    assert outcome.ok, f"the server executed the call, and the caller got {outcome}"
                    assert outcome.shows("n1"), f"the server executed the call, and the caller got {outcome}"


@scenario(EQUAL_CALLS_GET_THEIR_OWN_ANSWERS, variants=("reverse", "shuffled"))
async def equal_calls_at_once(server: ScriptedServer, connect: Connect, order: str) -> None:
    """Five calls of one tool are out at the same time, and their answers do not come in order."""
    server.has_tools(*V1)
    nonces = [f"n{n}" for n in range(5)]

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            calls = [wrapper.start_call("a", nonce) for nonce in nonces]
            if not await out_together(gate, calls):
                leave_out(EQUAL_CALLS_GET_THEIR_OWN_ANSWERS, ONE_BY_ONE)
                return
            gate.release_all({"reverse": (5, 4, 3, 2, 1), "shuffled": (3, 5, 1, 4, 2)}[order])
        with check(EQUAL_CALLS_GET_THEIR_OWN_ANSWERS):
            for nonce, call in zip(nonces, calls, strict=True):
                outcome = await call.result()
                assert outcome.ok
                assert outcome.shows(nonce), f"the call {nonce} got another call's answer: {outcome}"


@scenario(GIVEN_UP_CALL_IS_CANCELLED_ON_THE_WIRE, variants=("caller", "timeout"))
async def call_given_up(server: ScriptedServer, connect: Connect, by: str) -> None:
    """The caller, or the wrapper's own limit, gives up a call that is out."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        if reason := cannot_give_up(wrapper, by):
            leave_out(GIVEN_UP_CALL_IS_CANCELLED_ON_THE_WIRE, reason)
            return
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            call = wrapper.start_call("a", "n1")
            held = await gate.arrived()
            await give_up(wrapper, call, by)
            await server.settle()
            cancelled = [
                frame.params.get("requestId") for frame in server.ledger.frames("notifications/cancelled")
            ]
            with check(GIVEN_UP_CALL_IS_CANCELLED_ON_THE_WIRE):
                number = held.request.id
                assert number in cancelled, f"call {number} was given up, and the server is not told"


@scenario(FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE)
async def siblings_of_a_failed_call(server: ScriptedServer, connect: Connect) -> None:
    """Of three calls that are out one is cancelled and one fails."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = wrapper.connections
        with server.holding("tools/call") as gate:
            calls = [wrapper.start_call("a", nonce) for nonce in ("n1", "n2", "n3")]
            if not await out_together(gate, calls):
                leave_out(FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE, ONE_BY_ONE)
                return
            if wrapper.is_async("call_tool"):
                await calls[0].cancel()
            gate.call("n2").fail(-32603, "the tool broke")
            await calls[1].ended()
            gate.open()
            with check(FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE):
                gate.call("n3").release()
                outcome = await calls[2].result()
                assert outcome.shows("n3"), f"the sibling: {outcome}"
                outcome = await wrapper.call("a", "n4")
                assert outcome.shows("n4"), f"a later call: {outcome}"
                assert wrapper.same_connections(before), "dialled again"


@scenario(
    LIMIT_BOUNDS_THE_WHOLE_VERB,
    variants=("connect", "listing", "second_page", "call", "after_the_answer", "one_call"),
)
async def silent_server(server: ScriptedServer, connect: Connect, step: str) -> None:
    """The server falls silent at one step; the wrapper's own limit bounds the whole verb.

    Of one call it is a limit of its own, half that of the wrapper. Half the limit is granted on top, for a
    wrapper that adds a short probe of its own.
    """
    limit = connect.claims.own_timeout or 0.0
    if step == "second_page":
        server.pages(["a"], ["b"])
    else:
        server.has_tools(*V1)

    if step == "connect":
        with server.holding(HANDSHAKE_METHOD[server.era]), elapsed() as spent:
            opening = connect.start(server)
            await opening.ended(4 * limit)
            with check(LIMIT_BOUNDS_THE_WHOLE_VERB):
                holder = await opening.result()
                if holder.error is None:
                    await holder.start_listing().ended(4 * limit)
                assert spent.seconds <= 1.5 * limit, (
                    f"connect ended after {spent.seconds:g} s; the limit is {limit:g} s"
                )
            await server.settle()  # an answer that crosses the farewell opens what nobody has heard of
        reached(server.connections, "nothing was dialled")
        return
    async with connect(server) as wrapper:
        await _silent_later(server, wrapper, step, limit)


async def _silent_later(server: ScriptedServer, wrapper: Holder, step: str, limit: float) -> None:
    if step in ("second_page", "after_the_answer") and not wrapper.claims.limits_verbs:
        leave_out(LIMIT_BOUNDS_THE_WHOLE_VERB, "limits_verbs: it is the limit of each request, as documented")
        return
    if step == "second_page" and not wrapper.claims.follows_pages:
        leave_out(LIMIT_BOUNDS_THE_WHOLE_VERB, "follows_pages")
        return
    if step == "one_call" and not wrapper.has("call_within"):
        leave_out(LIMIT_BOUNDS_THE_WHOLE_VERB, "call_within")
        return
    if step in ("call", "one_call"):
        await wrapper.list_tools()
    first = "tools/list" if step in ("listing", "second_page") else "tools/call"
    with server.holding(first) as gate, elapsed() as spent:
        verb: Pending[Any]
        if step == "one_call":
            verb = wrapper.start_call_within("a", "n1", limit := limit / 2)
        else:
            verb = wrapper.start_listing() if first == "tools/list" else wrapper.start_call("a", "n1")
        if not await arrives_or_ends(gate, verb):
            leave_out(LIMIT_BOUNDS_THE_WHOLE_VERB, f"{verb.step} sends no {first} here")
            return
        if step in ("second_page", "after_the_answer"):
            await asyncio.sleep(0.9 * limit)
            with server.holding(
                "tools/list", when=lambda r: step == "after_the_answer" or "cursor" in r.params
            ):
                if step == "after_the_answer":
                    gate.open()
                gate.held[0].release()
                await verb.ended(4 * limit)
        else:
            await verb.ended(4 * limit)
        with check(LIMIT_BOUNDS_THE_WHOLE_VERB):
            assert verb.done, f"{verb.step} still runs after {spent.seconds:g} s; the limit is {limit:g} s"
            assert spent.seconds <= 1.5 * limit, (
                f"{verb.step} ended after {spent.seconds:g} s; the limit is {limit:g} s"
            )


@scenario(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT)
async def tool_that_says_it_failed(server: ScriptedServer, connect: Connect) -> None:
    """A tool answers isError with a text for the model; the next call works."""
    server.has_tools("a")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = wrapper.connections
        server.answers("a", is_error=True, text="bad date: try 2026-01-31")
        outcome = await wrapper.call("a", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(TOOL_ERROR_IS_SHOWN_WITH_ITS_TEXT):
            assert not outcome.ok, f"shown as a success: {outcome}"
            assert "bad date: try 2026-01-31" in outcome.text
            server.answers("a")
            outcome = await wrapper.call("a", "n2")
            assert outcome.ok, f"the next call: {outcome}"
            assert wrapper.same_connections(before), "taken for a lost connection"


@scenario(FAILED_CALL_IS_NEVER_REDIRECTED, variants=("error", "malformed", "dropped", "refused"))
async def failure_stays_on_its_server(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Two servers have a tool of one name, for two principals; a call on the first one fails."""
    other = server.another("another server")
    for each in (server, other):
        each.has_tools("a")

    async with connect(server, "A") as wrapper, connect(other, "B") as theirs:
        await wrapper.list_tools()
        await theirs.list_tools()
        fault = replace(BROKE, code=-32602, text="Unknown tool: a") if how == "refused" else FAILS[how]
        server.suffers(fault, "call", times=1 if how == "dropped" else FOR_EVER)
        await wrapper.start_call("a", "n1").ended()  # or never, which is about other rules
        await asyncio.sleep(60.0)
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(FAILED_CALL_IS_NEVER_REDIRECTED):
            assert not other.ledger.calls(), "the call went to another server, as another principal"
