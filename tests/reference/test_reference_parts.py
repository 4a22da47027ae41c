"""The parts by themselves: frozen definitions, counted listings, shared work, and what rarely happens."""

from __future__ import annotations

import asyncio
import gc
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from mcp_conformance_reference import (
    ClientClosed,
    ConnectionLost,
    DialFailed,
    Dialler,
    Exchange,
    ListingGenerations,
    ReferenceClient,
    ToolList,
    VerbTimeout,
    definition_of,
    listings_of,
)
from mcp_conformance_reference.definitions import canonical, plain_copy
from mcp_conformance_reference.sdk import Frame, frame_of
from mcp_conformance_reference.taps import ReadTap, WriteTap
from mcp_conformance_reference.tasks import Shared
from mcp_conformance_reference.walk import Walk

from tests.reference.peer import ERAS, Peer, tool, value
from tests.reference.virtual import passes, play, settle, until

modern = pytest.mark.skipif("modern" not in ERAS, reason="mcp 1.x speaks the handshake era alone")

# -- definitions


def itself() -> Any:
    loop: dict[str, Any] = {}
    loop["again"] = [loop]
    return loop


@pytest.mark.parametrize(
    "odd",
    [math.nan, math.inf, {1: "x"}, (1,), {1}, b"x", object(), "\ud800", {"\ud800x": 1.0, "k": "\udfff"}],
    ids=["nan", "infinity", "number as key", "tuple", "set", "bytes", "object", "surrogate", "surrogates"],
)
def test_what_is_no_plain_json_makes_no_definition(odd: Any) -> None:
    with pytest.raises(ValueError, match=r"inputSchema"):
        definition_of(tool("a", inputSchema={"type": "object", "default": odd}))


def test_data_that_holds_itself_is_no_plain_json() -> None:
    with pytest.raises(ValueError, match="holds itself"):
        plain_copy(itself())
    twice = [1]
    assert plain_copy([twice, twice]) == [[1], [1]]


def test_a_definition_is_a_copy_and_hands_out_copies() -> None:
    entry = tool("a", "integer")
    frozen = definition_of(entry)
    entry["outputSchema"]["type"] = "array"
    frozen.listed["outputSchema"]["type"] = "string"
    assert frozen.output_schema["type"] == "object"
    assert list(frozen.listed) == list(tool("a", "integer"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": None}, {}, False),
        ({"a": {}}, {"a": []}, False),
    ],
)
def test_definitions_are_the_same_by_their_canonical_text(one: Any, other: Any, same: bool) -> None:
    assert (canonical(one) == canonical(other)) is same
    first, second = definition_of(tool("a", x=one)), definition_of(tool("a", x=other))
    assert (first.canonical == second.canonical) is same
    assert (first == second) is same
    assert list(first.differences(second)) == ([] if same else ["x"])


def test_the_differences_of_two_definitions_name_what_came_and_went() -> None:
    assert list(definition_of(tool("a", x=1)).differences(definition_of(tool("a", y=1)))) == ["x", "y"]


# -- counted listings


def test_a_listing_is_the_latest_while_no_request_is_out() -> None:
    async def script() -> None:
        count = ListingGenerations()
        assert not count.is_latest(0)
        gates = [anyio.Event(), anyio.Event()]

        async def answer(at: int) -> int:
            await gates[at].wait()
            return at

        asked = [asyncio.ensure_future(count.ask(lambda at=at: answer(at))) for at in range(2)]
        await settle()
        gates[1].set()
        later = await asked[1]
        assert (later.answer, later.generation) == (1, 1)
        assert not count.is_latest(1), "the older one is still out"
        gates[0].set()
        assert (await asked[0]).generation == 2
        assert count.is_latest(2)
        assert not count.is_latest(1)

    play(script)


def test_a_request_that_fails_or_is_cancelled_settles_too_and_raises_what_it_raised() -> None:
    async def script() -> None:
        count = ListingGenerations()
        fault = ZeroDivisionError()

        def at_once() -> Any:
            raise fault

        with pytest.raises(ZeroDivisionError) as caught:
            await count.ask(at_once)
        assert caught.value is fault
        asked = asyncio.ensure_future(count.ask(anyio.sleep_forever))
        await settle()
        asked.cancel()
        await settle()
        assert asked.cancelled()
        assert (await count.ask(lambda: asyncio.sleep(0, "x"))).generation == 3
        assert count.is_latest(3)

    play(script)


def test_there_is_one_count_for_one_object_and_it_does_not_keep_the_object() -> None:
    class Session:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    one, other = Session(), Session()
    assert listings_of(one) is listings_of(one)
    assert listings_of(one) is not listings_of(other)
    listings_of(one)._settled = 5
    del one
    gc.collect()
    assert all(listings_of(Session())._settled == 0 for _ in range(100))


# -- shared work


def test_the_last_waiter_to_leave_stops_the_work_and_the_others_leave_alone() -> None:
    async def script() -> None:
        ended = []

        async def work() -> int:
            try:
                await anyio.sleep_forever()
            finally:
                ended.append(1)
            return 1

        shared = Shared(work, "work")
        shared.start()
        waiters = [asyncio.ensure_future(shared.wait()) for _ in range(2)]
        await settle()
        waiters[0].cancel()
        await settle()
        assert ended == []
        waiters[1].cancel()
        await settle()
        assert ended == [1]
        assert shared.finished.is_set()
        with pytest.raises(RuntimeError, match="given up"):
            await shared.wait()

    play(script)


def test_work_that_is_failed_before_it_started_is_never_done() -> None:
    async def script() -> None:
        done = []

        async def work() -> None:
            done.append(1)

        shared = Shared(work, "work")
        shared.start()
        shared.fail(ZeroDivisionError())
        shared.fail(ValueError())
        with pytest.raises(ZeroDivisionError):
            await shared.wait()
        await settle()
        assert done == []
        assert shared.finished.is_set()

    play(script)


# -- what rarely happens


def test_a_walk_that_was_overtaken_asks_for_no_further_page(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "new")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            peer.pages({"tools": [tool("old")], "nextCursor": "2"})
            waiting = asyncio.ensure_future(client.names())
            await settle()
            peer.line.tools_changed()
            await settle()
            peer.take().release()
            assert await waiting == ["new"]
            assert [frame.get("params", {}).get("cursor") for frame in peer.frames("tools/list")] == [
                None,
                None,
            ]

    play(script)


def test_an_exception_on_the_read_stream_disturbs_nothing(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.line._out.send_nowait(ValueError("a line that is no JSON"))
            await settle()
            assert await client.names() == ["a"]

    play(script)
    assert frame_of(ValueError()) is None


def test_a_notice_that_comes_during_the_dial_is_of_no_listing_yet(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        method = "initialize" if era == "handshake" else "server/discover"

        def answer(frame: Any) -> Any:
            peer.line.notify("notifications/tools/list_changed")
            return peer._answer(peer.line, frame)

        peer.next[method].append(answer)
        async with ReferenceClient(peer.streams, era=era) as client:
            assert await client.names() == await client.names() == ["a"]
            assert peer.lists == 1

    play(script)


def test_an_answer_that_was_heard_is_handed_over_whatever_came_behind_it() -> None:
    async def script() -> None:
        gate = anyio.Event()

        class Session:
            async def ask(self, method: str, params: Any) -> Any:
                exchange.leaving(Frame(method, 7, {}))
                exchange.departed(Frame(method, 7, {}))
                await gate.wait()
                return {"x": 1}

        client = ReferenceClient(Peer().streams)
        lost: list[BaseException] = []
        exchange = Exchange(client._settings, Session, lost.append)  # type: ignore[arg-type, unused-ignore]
        answered, unanswered = (asyncio.ensure_future(exchange.ask("m", {})) for _ in range(2))
        await settle()
        exchange._by_id["8"] = next(r for r in exchange._requests if r is not exchange._by_id["7"])
        exchange.answered(Frame(None, "7", {}))
        exchange.end(ConnectionLost("closed"))
        gate.set()
        await asyncio.wait([answered, unanswered])
        outcomes = [verb.exception() is None for verb in (answered, unanswered)]
        assert sorted(outcomes) == [False, True]
        assert lost == []

    play(script)


def test_taps_pass_on_what_they_do_not_understand() -> None:
    async def script() -> None:
        send, receive = anyio.create_memory_object_stream[Any](9)
        seen: list[Any] = []

        async def note(frame: Any) -> None:
            seen.append(frame)

        writing = WriteTap(send, seen.append, seen.append, lambda: seen.append("gone"))
        reading = ReadTap(receive, note, lambda: seen.append("gone"))
        fault = ValueError("no message")
        await writing.send(fault)
        assert await reading.receive() is fault
        assert seen == []
        assert writing.statistics().open_send_streams == reading.statistics().open_receive_streams == 1
        await send.aclose()
        with pytest.raises(anyio.EndOfStream):
            await reading.receive()
        receive.close()
        with pytest.raises(anyio.ClosedResourceError):
            await writing.send(fault)
        assert seen == ["gone", "gone"]

    play(script)


def test_a_client_that_was_never_used_can_be_told_that_the_tools_changed() -> None:
    async def script() -> None:
        client = ReferenceClient(Peer().streams)
        client.invalidate()
        client.permissions_changed()
        assert not client.connected

    play(script)


def test_bind_finds_a_tool_behind_others_and_shows_what_it_is(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a", "b")
        async with ReferenceClient(peer.streams, era=era) as client:
            bound = await client.bind("b")
            assert repr(bound) == f"<ListedTool 'b' of list {bound.list_id}, generation 1>"

    play(script)


def test_a_schema_may_hold_true_and_false(era: str) -> None:
    async def script() -> None:
        schema = {"type": "object", "properties": {"value": True, "never": False}}
        peer = Peer(era, {**tool("a"), "outputSchema": schema})
        peer.results["a"] = value("anything")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.call_tool("a")

    play(script)


def test_a_reconnect_of_a_dead_connection_is_a_dial(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.line.cut()
            await settle()
            await client.reconnect()
            assert (peer.dials, peer.live) == (2, 1)

    play(script)


def test_a_dialler_that_refuses_dials_nothing() -> None:
    async def script() -> None:
        def never() -> Any:
            raise AssertionError

        dialler = Dialler(never)
        dialler.refuse(ClientClosed("closed"))
        await dialler.close(ClientClosed("closed"))
        with pytest.raises(ClientClosed):
            await dialler.connected()

    play(script)


def test_a_close_right_after_the_first_step_of_a_dial_opens_nothing(era: str) -> None:
    async def script() -> None:
        for hops in range(1, 12):
            peer = Peer(era, "a")
            client = ReferenceClient(peer.streams, era=era)
            connecting = asyncio.ensure_future(client.connect())
            for _ in range(hops):
                await asyncio.sleep(0)
            await client.close()
            frames = len(peer.lines[0].received) if peer.lines else 0
            await asyncio.wait([connecting])
            await settle()
            assert peer.live == 0
            assert sum(len(line.received) for line in peer.lines) == frames

    play(script)


@modern
def test_a_connection_that_ends_while_it_asks_to_listen_was_never_open() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.hold("subscriptions/listen")
        client = ReferenceClient(peer.streams, era="modern")
        connecting = asyncio.ensure_future(client.connect())
        await until(lambda: peer.held)
        peer.line.cut()
        with pytest.raises(DialFailed):
            await connecting
        await client.close()

    play(script)


@modern
@pytest.mark.parametrize("asked", ["auto", "modern"])
def test_a_negative_lifetime_of_the_discovery_counts_as_none(asked: Any) -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        found = peer._answer(None, {"method": "server/discover"})  # type: ignore[arg-type]
        assert found is not None
        found["result"]["ttlMs"] = -1
        peer.next["server/discover"].append(lambda _: found)
        async with ReferenceClient(peer.streams, era=asked) as client:
            assert await client.names() == ["a"]
            assert peer.count("initialize") == 0

    play(script)


@modern
def test_auto_does_not_take_an_outage_or_a_strange_revision_for_an_older_era() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        disjoint = {"code": -32022, "message": "v", "data": {"supported": ["2099-01-01"], "requested": "x"}}
        peer.next["server/discover"].append(lambda _: {"error": disjoint})
        client = ReferenceClient(peer.streams, era="auto")
        with pytest.raises(DialFailed):
            await client.connect()

        def cable(_: Any) -> Any:
            raise OSError("cable")

        peer.next["server/discover"].append(cable)
        with pytest.raises(DialFailed, match="cable"):
            await client.connect()
        assert peer.count("initialize") == 0
        await client.connect()
        assert peer.count("initialize") == 1
        await client.close()

    play(script)


def test_a_transport_that_breaks_and_does_not_say_why_ends_calls_in_bounded_time(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        breaks = anyio.Event()

        @asynccontextmanager
        async def mute() -> AsyncIterator[Any]:
            async with peer.streams() as pair, anyio.create_task_group() as group:

                async def crash() -> None:
                    await breaks.wait()
                    group.cancel_scope.cancel()

                group.start_soon(crash)
                try:
                    yield pair
                finally:
                    group.cancel_scope.cancel()
                    with anyio.CancelScope(shield=True):
                        await anyio.sleep(100)

        client = ReferenceClient(mute, era=era, timeout=None, close_limit=3)
        await client.list_tools()
        peer.hold("tools/call")
        call = asyncio.ensure_future(client.call_tool("a"))
        await settle()
        breaks.set()
        with pytest.raises(ConnectionLost, match="did not say why"):
            await call
        await client.close()
        await passes(100)

    play(script)


def test_a_verb_that_waits_for_a_connection_that_never_holds_ends_in_an_error(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")

        class Restless(ToolList):
            async def current(self) -> Any:
                found = await super().current()
                self.invalidate()
                return found

        class Client(ReferenceClient):
            tool_list_type = Restless

        async with Client(peer.streams, era=era, max_walks=3) as client:
            with pytest.raises(ConnectionLost, match="nothing was sent"):
                await client.call_tool("a")
            assert (peer.lists, peer.calls) == (3, 0)

    play(script)


def test_a_list_that_ends_before_its_waiter_wakes_is_asked_for_again(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")

        class EndsOnce(ToolList):
            def write(self, flight: Any, listing: Any) -> Any:
                written = super().write(flight, listing)
                if peer.lists == 1:
                    peer.has("new")
                    self.invalidate()
                return written

        class Client(ReferenceClient):
            tool_list_type = EndsOnce

        async with Client(peer.streams, era=era) as client:
            assert await client.names() == ["new"]
            assert peer.lists == 2

    play(script)


def test_parts_are_replaced_by_naming_others(era: str) -> None:
    class FirstPage(Walk):
        def ends(self, page: Any) -> bool:
            return True

    class Client(ReferenceClient):
        walk_type = FirstPage

    async def script() -> None:
        peer = Peer(era)
        async with Client(peer.streams, era=era) as client:
            peer.pages({"tools": [tool("a")], "nextCursor": "2"})
            assert await client.names() == ["a"]

    play(script)


def test_a_request_begun_on_a_closed_connection_is_refused(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era)
        await client.connect()
        connection = client._life.dialler.connection  # type: ignore[union-attr]
        assert connection is not None
        await client.close()
        with pytest.raises(ClientClosed):
            await connection.ask("ping", {})
        assert isinstance(connection.exchange, Exchange)
        assert connection.exchange.answered(frame_of(_answer(99))) is None  # type: ignore[arg-type]

    play(script)


def _answer(at: int) -> Any:
    return SimpleNamespace(message=SimpleNamespace(id=at))


def test_a_cancellation_that_finds_nobody_is_no_fault(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era, timeout=1) as client:
            await client.list_tools()
            peer.hold("tools/call")
            call = asyncio.ensure_future(client.call_tool("a"))
            await settle()
            peer.line.open = False
            with pytest.raises(VerbTimeout):
                await call
            await settle()
            assert peer.cancelled == []
            peer.holding.clear()
            assert (await client.call_tool("a")).text == "a"
            assert peer.dials == 2

    play(script)


def test_it_runs_on_trio_as_well(era: str) -> None:
    trio_testing = pytest.importorskip("trio.testing")

    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era, timeout=10)
        async with client:
            await client.list_tools()
            peer.has("b")
            peer.line.tools_changed()
            await anyio.wait_all_tasks_blocked()
            assert await client.names() == ["b"]
            peer.hold("tools/call")
            with pytest.raises(VerbTimeout):
                await client.call_tool("b")
            await anyio.wait_all_tasks_blocked()
            assert len(peer.cancelled) == 1
        assert peer.live == 0

    clock = trio_testing.MockClock(autojump_threshold=0)
    anyio.run(script, backend="trio", backend_options={"clock": clock})
