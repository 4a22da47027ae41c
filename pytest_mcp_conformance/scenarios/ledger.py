"""Scenarios of LDG: the ledger says which requests went out for which call."""

from __future__ import annotations

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from typing import Any

import anyio

from pytest_mcp_conformance.contract import HANDSHAKE, MODERN
from pytest_mcp_conformance.contract.ledger import (
    ABANDONED_CALLS_LEAVE_NOTHING_OPEN,
    ANSWERS_ARE_TIED_BY_ID,
    CALL_WITHOUT_A_REQUEST_IS_NOT_SENT,
    IDS_ARE_OF_ONE_CONNECTION,
    ONE_WATCHER_PER_CONNECTION,
    PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER,
    REQUEST_OF_NO_CALL_IS_RECORDED,
    REQUESTS_ARE_MATCHED_BY_MARKER_ONLY,
    REQUESTS_OF_THE_SDK_ARE_NOT_THE_CALLS,
    SEND_THAT_RAISES_IS_NO_SEND,
    WATCHED_SEND_KEEPS_THE_CONTRACT,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._reach import reach
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._sdk import (
    Transport,
    call_tool,
    direct_session,
    item,
    marked_call,
    notify,
    session_over,
    watched_session,
)
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import V1, ScriptedServer
from pytest_mcp_conformance.server.ways._wire import decode, encode

BARE = {"name": "old", "arguments": {"nonce": "n1"}}
OPEN = ("sending", "sent")
MANY, TOO_MANY = 2_100, 20_000
"""More than a ledger keeps; more than any ledger keeps."""
NO_REQUESTS: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 9, "result": {}},
)


@scenario(REQUESTS_ARE_MATCHED_BY_MARKER_ONLY, REQUEST_OF_NO_CALL_IS_RECORDED, eras=HANDSHAKE)
async def equal_call_past_the_ledger(server: ScriptedServer, connect: Connect) -> None:
    """A call is begun; before it is sent, and once it is over, equal ones are sent without a marker."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as session:
            await session.list_tools()
            over = anyio.Event()
            with ledger.call(deepcopy(BARE)) as call:
                await call_tool(session, BARE)
                await call_tool(session, call.params)
                late = Pending(_call_after(over, session), "a request that outlives the call it began in")
            over.set()
            with check(REQUEST_OF_NO_CALL_IS_RECORDED):
                await late.result()
            await call_tool(session, BARE)
            unmarked, marked, *later = (frame.id for frame in server.ledger.calls("n1"))
            with check(REQUESTS_ARE_MATCHED_BY_MARKER_ONLY):
                assert _ids(ledger, call.ref) == [marked]
            with check(REQUEST_OF_NO_CALL_IS_RECORDED):
                records = [r for r in ledger.records() if r.request_id in (unmarked, *later)]
                assert [(r.call, r.method) for r in records] == [(None, "tools/call")] * 3
                assert not any(record.attempt for record in records), "an attempt of a call"
                if hasattr(records[-1], "within"):  # it has a second witness
                    assert records[-1].within is None, "written within a call that is over"


@scenario(CALL_WITHOUT_A_REQUEST_IS_NOT_SENT, eras=HANDSHAKE)
async def call_refused_before_it_leaves(server: ScriptedServer, connect: Connect) -> None:
    """Of two calls one is refused by the wrapper, which has asked other things; one is sent and answered."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as session:
            await session.list_tools()
            try:
                with ledger.call(deepcopy(BARE)) as refused:
                    await session.send_ping()
                    await session.list_tools()
                    raise PermissionError("refused before it leaves")
            except PermissionError:
                pass
            refs: list[str] = []
            await marked_call(ledger, session, BARE, refs)
            reached(_states(ledger, refs[0]) == ["answered"], "the call that was sent was not seen")
            with check(CALL_WITHOUT_A_REQUEST_IS_NOT_SENT):
                assert _states(ledger, refused.ref) == ["not sent"]
                assert _ids(ledger, refused.ref) == [None]
                used = {r.connection for r in ledger.records() if r.request_id is not None}
                assert not [r for r in ledger.records() if r.call == refused.ref and r.connection in used], (
                    "it is shown on a connection"
                )


@scenario(IDS_ARE_OF_ONE_CONNECTION, eras=HANDSHAKE)
async def ids_begin_anew(server: ScriptedServer, connect: Connect) -> None:
    """Two connections have a call out under one id; the second is answered."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as first, watched_session(server, ledger) as second:
            refs: list[str] = []
            for session in (first, second):
                await session.list_tools()
            with server.holding("tools/call") as gate:
                calls = []
                for nth, session in enumerate((first, second), 1):
                    calls.append(Pending(marked_call(ledger, session, BARE, refs), "call"))
                    await gate.arrived(nth)
                one, two = gate.held
                reached(one.request.id == two.request.id, "the two sessions count differently")
                two.release()
                await server.settle()
                with check(IDS_ARE_OF_ONE_CONNECTION):
                    assert [_ids(ledger, ref) for ref in refs] == [[one.request.id], [two.request.id]]
                    assert [_states(ledger, ref) for ref in refs] == [["sent"], ["answered"]]
                    assert len({r.connection for r in ledger.records() if r.call in refs}) == 2
            for call in calls:
                await call.result()


@scenario(IDS_ARE_OF_ONE_CONNECTION, eras=HANDSHAKE)
async def one_of_three_connections_ends(server: ScriptedServer, connect: Connect) -> None:
    """Three connections have a call out under one id; the second one is closed."""
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        with ExitStack() as stack, check(IDS_ARE_OF_ONE_CONNECTION):
            ends, refs = [ledger.watch(object(), Transport())[1] for _ in range(3)], []
            for write in ends:
                call = stack.enter_context(ledger.call(deepcopy(BARE)))
                refs.append(call.ref)
                await Pending(write.send(item(1, call.params)), "send").result()
            await ends[1].aclose()
            assert [_states(ledger, ref) for ref in (refs[0], refs[2])] == [["sent"], ["sent"]], (
                "lost with the connection of another call"
            )
            assert _states(ledger, refs[1])[0] not in OPEN, "waits for an answer on a closed connection"


@scenario(REQUESTS_OF_THE_SDK_ARE_NOT_THE_CALLS)
async def sdk_lists_inside_a_call(server: ScriptedServer, connect: Connect) -> None:
    """A tool is called that was never listed: the SDK lists by itself before it gives the result."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as session:
            mark, refs = server.ledger.mark, []  # type: ignore[var-annotated]
            await marked_call(ledger, session, BARE, refs)
            listings = server.ledger.listings(since=mark)
            reached(listings, "the SDK sent no listing of its own")
            with check(REQUESTS_OF_THE_SDK_ARE_NOT_THE_CALLS):
                assert _ids(ledger, refs[0]) == [frame.id for frame in server.ledger.calls()]
                hidden = [record for record in ledger.records() if record.method == "tools/list"]
                assert [(r.request_id, r.call) for r in hidden] == [(listings[0].id, None)]


@scenario(WATCHED_SEND_KEEPS_THE_CONTRACT, eras=HANDSHAKE)
async def sends_through_the_watcher(server: ScriptedServer, connect: Connect) -> None:
    """Messages of all kinds go through a watched stream, among them a slow one and a failing one."""
    async with connect(server) as wrapper:
        ledger, transport = wrapper.part("request_ledger")(), Transport()
        _, write = ledger.watch(object(), transport)
        with ExitStack() as stack, check(WATCHED_SEND_KEEPS_THE_CONTRACT):
            given = ({**BARE, "Vendor": 1, "_meta": {}}, BARE, BARE)
            one, two, three = (stack.enter_context(ledger.call(deepcopy(each))).params for each in given)
            plain, metadata = item(1, BARE), object()
            for each in (plain, replace(item(2, one), metadata=metadata), item(3, None, "ping")):
                assert await Pending(write.send(each), "send").result() is transport.returns
            assert [encode(each)["id"] for each in transport.items] == [1, 2, 3], "the order"
            assert transport.items[0] is plain
            assert transport.items[1].metadata is metadata, "the metadata of a message without its marker"
            assert encode(transport.items[1])["params"].get("Vendor") == 1, (
                "a param that the SDK does not know"
            )
            for each in (decode(message) for message in NO_REQUESTS):
                assert await Pending(write.send(each), "send").result() is transport.returns
                assert transport.items[-1] is each
            transport.wait = anyio.Event()
            slow = Pending(write.send(item(4, two)), "send")
            await server.settle()
            assert not slow.done, "the send came back before the transport took the message"
            transport.wait.set()
            await slow.result()
            transport.error = OSError("broken")
            failing = Pending(write.send(item(5, three)), "send")
            assert await failing.ended()
            assert failing.error is transport.error, "another error than the transport's"


@scenario(
    WATCHED_SEND_KEEPS_THE_CONTRACT,
    ABANDONED_CALLS_LEAVE_NOTHING_OPEN,
    variants=("closed", "left"),
    eras=HANDSHAKE,
)
async def watched_stream_ends(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A watched stream is closed, or left as a context manager, while a call is out on it."""
    async with connect(server) as wrapper:
        ledger, transport = wrapper.part("request_ledger")(), Transport()
        _, write = ledger.watch(object(), transport)
        with ledger.call(deepcopy(BARE)) as call:
            with check(WATCHED_SEND_KEEPS_THE_CONTRACT):
                if how == "closed":
                    await Pending(write.send(item(1, call.params)), "send").result()
                    await write.aclose()
                else:
                    async with write as entered:
                        await Pending(entered.send(item(1, call.params)), "send").result()
                assert transport.entered is (how == "left")
                assert transport.closed
                assert len(transport.items) == 1
            with check(ABANDONED_CALLS_LEAVE_NOTHING_OPEN):
                assert not [r for r in ledger.records() if r.state in OPEN], "open on a closed connection"


@scenario(SEND_THAT_RAISES_IS_NO_SEND, eras=HANDSHAKE)
async def sends_that_raise(server: ScriptedServer, connect: Connect) -> None:
    """A send raises after the message is written, one is cancelled, and one finds its own end closed."""
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        for error, before, state in (
            (OSError("broken"), False, "delivery unknown"),
            (None, False, "delivery unknown"),
            (anyio.ClosedResourceError(), True, "failed"),
        ):
            transport = Transport(error, sends_first=not before)
            _, write = ledger.watch(object(), transport)
            with ledger.call(deepcopy(BARE)) as call:
                if error is None:
                    transport.wait = anyio.Event()
                sending = Pending(write.send(item(1, call.params)), "send")
                await server.settle()
                if error is None:
                    await sending.cancel()
                reached(sending.done, "the send did not end")
                with check(SEND_THAT_RAISES_IS_NO_SEND):
                    assert len(transport.items) == (0 if before else 1), "how often it was written"
                    assert _states(ledger, call.ref) == [state]
            with check(SEND_THAT_RAISES_IS_NO_SEND):
                assert _states(ledger, call.ref) == [state], "once the call is over"


@scenario(ONE_WATCHER_PER_CONNECTION, eras=HANDSHAKE)
async def two_ledgers_over_one_connection(server: ScriptedServer, connect: Connect) -> None:
    """Two wrappers over one session have a ledger each, and make a call each."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        one, two = wrapper.part("request_ledger")(), wrapper.part("request_ledger")()
        async with server.dial().streams() as pair:
            read, write = two.watch(*one.watch(*pair))
            async with session_over(read, write, server.era) as session:
                await session.list_tools()
                refs: list[str] = []
                await marked_call(one, session, BARE, refs)
                await marked_call(two, session, BARE, refs)
            sent = [frame.id for frame in server.ledger.calls()]
            with check(ONE_WATCHER_PER_CONNECTION):
                assert [_ids(one, refs[0]), _ids(two, refs[1])] == [[sent[0]], [sent[1]]]
                assert [_states(one, refs[0]), _states(two, refs[1])] == [["answered"], ["answered"]]
                assert not [f for f in server.ledger.calls() if "_meta" in f.params], (
                    "a marker left the client"
                )


@scenario(ABANDONED_CALLS_LEAVE_NOTHING_OPEN, CALL_WITHOUT_A_REQUEST_IS_NOT_SENT, eras=HANDSHAKE)
async def calls_that_nobody_waits_for(server: ScriptedServer, connect: Connect) -> None:
    """Twenty calls are cancelled while they are out, and thousands are given up."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger, transport = wrapper.part("request_ledger")(), Transport()
        async with watched_session(server, ledger) as session:
            await session.list_tools()
            refs: list[str] = []
            with server.holding("tools/call") as gate:
                calls = [Pending(marked_call(ledger, session, BARE, refs), "call") for _ in range(20)]
                await gate.arrived(20)
                stray = Pending(call_tool(session, BARE), "call past the ledger")
                await gate.arrived(21)
                for call in (*calls, stray):
                    await call.cancel()
                reached(len(refs) == 20, "the calls were not made")
                with check(ABANDONED_CALLS_LEAVE_NOTHING_OPEN):
                    assert not [r for r in ledger.records() if r.call in refs and r.state in OPEN]
        with check(ABANDONED_CALLS_LEAVE_NOTHING_OPEN):
            assert not [r for r in ledger.records() if r.state in OPEN], "open on a closed connection"
        _, write = ledger.watch(object(), transport)
        with ledger.call(dict(BARE)) as over:
            pass
        with ledger.call(dict(BARE)) as idle:
            await Pending(write.send(item(0, over.params)), "a request of a call that is over").result()
            for message in NO_REQUESTS:
                await Pending(write.send(decode(message)), "what is no request").result()
        with check(ABANDONED_CALLS_LEAVE_NOTHING_OPEN):
            assert not [r for r in ledger.records() if r.state in OPEN], (
                "waits for an answer to a call that is over, or to what is no request"
            )
            assert over.ref not in str(transport.items)
        with check(CALL_WITHOUT_A_REQUEST_IS_NOT_SENT):
            assert _states(ledger, idle.ref) == ["not sent"], "by a request of another call"
        giving_up = Pending(_give_up_many(ledger, write, transport), "calls that are given up")
        made, held = await giving_up.result()
        with check(ABANDONED_CALLS_LEAVE_NOTHING_OPEN):
            assert len(ledger.records()) < made, f"{len(ledger.records())} records after {made} calls"
            assert held[1] - held[0] < MANY / 2, f"{MANY} more calls, and from {held[0]} objects to {held[1]}"


@scenario(PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER, eras=MODERN)
async def server_in_the_same_process(server: ScriptedServer, connect: Connect) -> None:
    """A session calls a server in its own process, by mcp 2.x's direct dispatcher: there are no frames."""
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        seen: list[Any] = []
        notified: list[str] = []
        async with direct_session(ledger, seen, notified) as session:
            refs: list[str] = []
            for meta in ({}, {"_meta": {"traceparent": "00-a-b-01"}}):
                call = Pending(marked_call(ledger, session, {**BARE, **meta}, refs), "call")
                with check(PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER):
                    await call.result()
            failing = Pending(marked_call(ledger, session, {**BARE, "name": "fails"}, refs), "call")
            await failing.ended()
            reached(len(refs) == 3, "the calls were not made")
            with check(PATH_WITHOUT_FRAMES_IS_WATCHED_AT_THE_DISPATCHER):
                assert "scripted failure" in str(failing.error), "another error than the server's"
                before = len(notified)
                await Pending(notify(session), "a notification").result()
                await server.settle()
                assert len(notified) == before + 1, "a notification did not reach the server"
                assert len(seen) == 3
                assert not [params for params in seen if any(ref in str(params) for ref in refs)], (
                    "the server was handed the marker"
                )
                assert [_ids(ledger, ref) for ref in refs] == [[None]] * 3
                assert [_states(ledger, ref) for ref in refs] == [["answered"]] * 3, (
                    "an error is an answer too"
                )


@scenario(ANSWERS_ARE_TIED_BY_ID, eras=HANDSHAKE)
async def equal_calls_answered_in_reverse(server: ScriptedServer, connect: Connect) -> None:
    """Two equal calls are out, and the later one is answered."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as session:
            await session.list_tools()
            refs: list[str] = []
            with server.holding("tools/call") as gate:
                calls = []
                for nth in (1, 2):
                    calls.append(Pending(marked_call(ledger, session, BARE, refs), "call"))
                    await gate.arrived(nth)
                reached(
                    [_states(ledger, ref) for ref in refs] == [["sent"], ["sent"]], "both calls were not seen"
                )
                gate.held[1].release()
                await calls[1].result()
                with check(ANSWERS_ARE_TIED_BY_ID):
                    assert [_states(ledger, ref) for ref in refs] == [["sent"], ["answered"]]
            await calls[0].result()
            with check(ANSWERS_ARE_TIED_BY_ID):
                assert [_states(ledger, ref) for ref in refs] == [["answered"], ["answered"]]


@scenario(ANSWERS_ARE_TIED_BY_ID, eras=HANDSHAKE)
async def server_asks_under_the_id_of_a_call(server: ScriptedServer, connect: Connect) -> None:
    """A call is out; the server asks something under the same id, and says something; then it answers."""
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        says, hears = anyio.create_memory_object_stream[Any](1)
        read, write = ledger.watch(hears, Transport())
        with says, hears, ledger.call(deepcopy(BARE)) as call, check(ANSWERS_ARE_TIED_BY_ID):
            await Pending(write.send(item(1, call.params)), "send").result()
            for message, state in (
                ({"id": 1, "method": "ping"}, "sent"),
                ({"method": "notifications/tools/list_changed"}, "sent"),
                ({"id": 1, "result": {"content": []}}, "answered"),
            ):
                await says.send(decode({"jsonrpc": "2.0", **message}))
                await Pending(read.receive(), "receive").result()
                assert _states(ledger, call.ref) == [state], f"once the server has said {message}"


async def _call_after(moment: anyio.Event, session: Any) -> None:
    await moment.wait()
    await call_tool(session, BARE)


async def _give_up_many(ledger: Any, write: Any, transport: Transport) -> tuple[int, list[int]]:
    """Send calls that nobody answers, each beside a request of nobody's, until some record was dropped.

    Returns:
        How many calls that took, and how many objects the ledger holds then, and after many more.
    """

    async def give_up(numbers: range) -> None:
        for number in numbers:
            with ledger.call(dict(BARE)) as left:
                await write.send(item(number, left.params))
            await write.send(item(10 * TOO_MANY + number, BARE))
            transport.items.clear()

    made = MANY
    await give_up(range(MANY))
    if len(ledger.records()) >= made:
        made = TOO_MANY
        await give_up(range(MANY, TOO_MANY))
    held = [_held(ledger)]
    await give_up(range(made, made + MANY))
    return made, [*held, _held(ledger)]


def _held(ledger: Any) -> int:
    """How many objects a ledger holds."""
    return len(reach(ledger, most=1_000_000))


def _ids(ledger: Any, ref: str) -> list[Any]:
    """The ids of the requests of one call."""
    return [record.request_id for record in ledger.records() if record.call == ref]


def _states(ledger: Any, ref: str) -> list[str]:
    """The states of the records of one call."""
    return [record.state for record in ledger.records() if record.call == ref]
