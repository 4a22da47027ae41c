"""The life of a connection: dialled once, found dead, dialled again, closed for good."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp_conformance_reference import (
    MAJOR,
    ClientClosed,
    ConnectionLost,
    DialFailed,
    EraUnavailable,
    ReferenceClient,
    VerbTimeout,
)

from tests.reference.peer import ERAS, Peer, tool
from tests.reference.virtual import passes, play, settle, until

HANDSHAKES = ("initialize", "server/discover")
modern = pytest.mark.skipif("modern" not in ERAS, reason="mcp 1.x speaks the handshake era alone")


def hold_handshake(peer: Peer) -> None:
    peer.holding.update(HANDSHAKES)


def release_handshake(peer: Peer) -> None:
    peer.holding.difference_update(HANDSHAKES)
    held, peer.held = peer.held, []
    for one in held:
        one.release()


# -- dialling


def test_concurrent_first_use_is_one_dial(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era)
        hold_handshake(peer)
        verbs: list[Any] = [client.connect(), client.names(), client.refresh(), client.call_tool("a")]
        tasks = [asyncio.ensure_future(verb) for verb in [*verbs, client.bind("a")]]
        await settle()
        release_handshake(peer)
        await asyncio.gather(*tasks)
        assert (peer.dials, len(peer.lines), peer.live) == (1, 1, 1)
        await client.close()
        assert peer.live == 0

    play(script)


@pytest.mark.parametrize("how", ["refused", "error", "hang-up", "hang-up at once"])
def test_a_dial_that_fails_says_why_leaves_nothing_and_is_not_remembered(era: str, how: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era, timeout=None)
        if how == "refused":
            peer.refuse = ConnectionRefusedError("port is closed")
        for method in HANDSHAKES:
            if how == "error":
                peer.fails(method, -32603, "out of order")
            if how == "hang-up":
                peer.hold(method)
        connecting = asyncio.ensure_future(client.connect())
        if how == "hang-up at once":
            await until(lambda: peer.lines)
            peer.line.cut()
        await settle()
        if how == "hang-up":
            peer.line.cut()
            peer.holding.clear()
        says = {"refused": "port is closed", "error": "out of order"}.get(how, r"[Cc]losed|hung up|Broken")
        with pytest.raises(DialFailed, match=says) as caught:
            await connecting
        assert caught.value.__cause__ is not None
        assert peer.live == 0
        await asyncio.sleep(1)
        peer.refuse = None
        await client.connect()
        assert await client.names() == ["a"]
        await client.close()

    play(script)


def test_a_cancellation_born_in_a_dial_is_an_ordinary_error_and_cancels_nobody(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        peer.refuse = asyncio.CancelledError("inside")  # type: ignore[assignment]
        client = ReferenceClient(peer.streams, era=era)
        with pytest.raises(DialFailed, match="CancelledError"):
            await client.connect()
        await asyncio.sleep(1)
        peer.refuse = None
        assert await client.names() == ["a"]
        await client.close()

    play(script)


def test_a_cancelled_dial_leaves_nothing_and_spoils_no_other_waiter(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era)
        hold_handshake(peer)
        one, two = (asyncio.ensure_future(client.connect()) for _ in range(2))
        await settle()
        one.cancel()
        await settle()
        release_handshake(peer)
        await two
        assert peer.dials == 1
        await client.close()
        for _ in range(50):
            hold_handshake(peer)
            both = [asyncio.ensure_future(client.connect()) for _ in range(2)]
            await settle()
            for connecting in both:
                connecting.cancel()
            await settle()
            release_handshake(peer)
            await settle()
            assert peer.live == 0
            assert asyncio.all_tasks() == {asyncio.current_task()}
            await client.close()
        await client.connect()
        assert await client.names() == ["a"]
        await client.close()

    play(script)


def leaves_slowly(peer: Peer, *seconds: float) -> Callable[[], AbstractAsyncContextManager[Any]]:
    """Streams of which each takes so many seconds to be left, as a child does that has to end."""
    left = iter(seconds)

    @asynccontextmanager
    async def streams() -> AsyncIterator[tuple[Any, Any]]:
        takes = next(left)
        async with peer.streams() as pair:
            try:
                yield pair
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(takes)

    return streams


def test_close_waits_for_every_dial_that_was_given_up(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(leaves_slowly(peer, 3.0, 1.0, 0.0), era=era)
        for _ in range(2):
            hold_handshake(peer)
            connecting = asyncio.ensure_future(client.connect())
            await settle()
            connecting.cancel()
            await settle()
            assert connecting.cancelled(), "who gives up is not held up"
        release_handshake(peer)
        await client.connect()
        assert peer.live == 3
        await client.close()
        assert (peer.live, anyio.current_time()) == (0, 3.0)

    play(script)


@pytest.mark.parametrize("how", ["refused", "silent", "cancelled"])
def test_a_client_that_could_not_be_entered_has_left_everything(era: str, how: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(leaves_slowly(peer, 1.0, 0.0), era=era, timeout=10.0)
        if how == "refused":
            for method in HANDSHAKES:
                peer.fails(method)
        else:
            hold_handshake(peer)
        entering = asyncio.ensure_future(client.__aenter__())
        await settle()
        if how == "cancelled":
            entering.cancel()
        ends = {"refused": DialFailed, "silent": VerbTimeout, "cancelled": asyncio.CancelledError}
        with pytest.raises(ends[how]):
            await entering
        assert peer.live == 0
        peer.holding.clear()
        async with client:
            assert await client.names() == ["a"]

    play(script)


def test_connect_while_connected_dials_nothing(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.connect()
            await client.connect()
            assert client.connected
            assert peer.dials == 1
        assert not client.connected

    play(script)


def test_reconnect_replaces_the_connection_and_what_was_listed_on_it(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has("new")
            await asyncio.gather(client.reconnect(), client.reconnect())
            assert (peer.dials, peer.live) == (2, 1)
            assert await client.names() == ["new"]
            peer.lines[0].tools_changed()
            await client.list_tools()
            assert peer.lists == 2

    play(script)


def test_a_reconnect_that_fails_leaves_the_connection_in_use(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.refuse = ConnectionRefusedError("no")
            with pytest.raises(DialFailed):
                await client.reconnect()
            assert await client.names() == ["a"]
            assert (peer.dials, peer.live) == (1, 1)

    play(script)


def test_operations_share_one_connection(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            for _ in range(3):
                await client.call_tool("a")
            await client.refresh()
            assert peer.dials == 1

    play(script)


# -- loss


def test_a_connection_that_dies_under_calls_ends_them_all_without_a_timer(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era, timeout=None) as client:
            await client.list_tools()
            peer.hold("tools/call")
            calls = [asyncio.ensure_future(client.call_tool("a")) for _ in range(5)]
            await settle()
            peer.line.cut()
            await settle()
            for call in calls:
                assert call.done()
                with pytest.raises(ConnectionLost, match="closed"):
                    await call
            peer.holding.clear()
            for _ in range(5):
                await client.call_tool("a")
            assert (peer.dials, peer.live) == (2, 1)

    play(script)


def test_users_who_find_the_connection_dead_share_one_dial(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.hold("tools/call")
            peer.hold("tools/list")
            under = [asyncio.ensure_future(client.call_tool("old")) for _ in range(2)]
            under.append(asyncio.ensure_future(client.refresh()))
            await settle()
            peer.line.cut()
            peer.has("new")
            await settle()
            assert all(isinstance(verb.exception(), ConnectionLost) for verb in under)
            peer.holding.clear()
            hold_handshake(peer)
            after = [asyncio.ensure_future(verb) for verb in (client.names(), client.names())]
            await settle()
            release_handshake(peer)
            assert await asyncio.gather(*after) == [["new"], ["new"]]
            assert (peer.dials, peer.lists) == (2, 3)

    play(script)


def test_a_list_is_not_served_over_a_dead_connection(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            handle = await client.bind("old")
            peer.line.cut()
            peer.has("new")
            await settle()
            assert not client.connected
            assert await client.names() == ["new"]
            peer.has("old")
            await client.refresh()
            assert (await client.call_tool(handle)).text == "old"

    play(script)


def test_a_write_that_finds_nobody_fails_one_verb_at_most(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.line.open = False  # nothing is read of it: only writing tells
            with pytest.raises(ConnectionLost):
                await client.call_tool("a")
            for _ in range(4):
                await client.call_tool("a")
            assert (peer.dials, peer.calls) == (2, 4)

    play(script)


def test_a_walk_cut_in_two_starts_again_from_the_beginning(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.pages({"tools": [tool("a")], "nextCursor": "2"})
            waiting = asyncio.ensure_future(client.list_tools())
            await until(lambda: peer.lists)
            peer.hold("tools/list")
            await settle()
            assert peer.lists == 2
            peer.line.cut()
            with pytest.raises(ConnectionLost):
                await waiting
            peer.holding.clear()
            assert await client.names() == ["a"]
            assert "cursor" not in peer.line.received[-1].get("params", {})

    play(script)


def test_a_server_that_has_forgotten_the_session_is_dialled_anew(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.fails("tools/call", 32600, "Session terminated")
            with pytest.raises(ConnectionLost, match="Session terminated"):
                await client.call_tool("a")
            await client.call_tool("a")
            assert (peer.dials, peer.calls, peer.live) == (2, 2, 1)

    play(script)


# -- closing


@pytest.mark.parametrize("where", ["dial", "list", "call"])
def test_close_ends_what_is_under_way_and_nothing_follows(era: str, where: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era, timeout=None)
        if where == "dial":
            hold_handshake(peer)
        else:
            await client.connect()
            await client.list_tools()
            peer.hold("tools/list" if where == "list" else "tools/call")
        verb: Any = client.refresh() if where == "list" else client.call_tool("a")
        under = [asyncio.ensure_future(verb), asyncio.ensure_future(client.names())]
        await settle()
        before = [frame for frame in peer.line.received if frame["method"] != "notifications/cancelled"]
        await client.close()
        assert peer.live == 0
        assert isinstance(under[0].exception(), ClientClosed)
        for held in peer.held:
            held.release()
        await settle()
        goodbyes = [frame["id"] for frame in peer.frames("subscriptions/listen")]
        assert [frame["method"] for frame in peer.line.received[len(before) :]] == [
            "notifications/cancelled" for _ in goodbyes
        ]
        assert peer.cancelled == goodbyes
        assert len(peer.lines) == 1
        with pytest.raises(ClientClosed, match=r"connect\(\)"):
            await client.list_tools()
        peer.holding.clear()
        peer.has("b")
        await client.connect()
        assert await client.names() == ["b"]
        await client.close()

    play(script)


def test_closing_twice_is_closing_once_and_closing_nothing_is_nothing(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era)
        await client.close()
        assert peer.lines == []
        async with ReferenceClient(peer.streams, era=era) as other, client:
            await asyncio.gather(client.close(), client.close())
            await client.close()
            assert await other.names() == ["a"]
            assert peer.live == 1
        assert peer.live == 0

    play(script)


def test_close_works_from_any_task_and_in_any_order(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        clients = [ReferenceClient(peer.streams, era=era) for _ in range(2)]

        async def open_all() -> None:
            for client in clients:
                await client.connect()

        await asyncio.ensure_future(open_all())
        await asyncio.ensure_future(clients[0].close())
        assert await clients[1].names() == ["a"]
        await asyncio.ensure_future(clients[1].close())
        assert peer.live == 0

    play(script)


def test_a_close_whose_caller_is_cancelled_goes_on(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era)
        await client.connect()
        closing = asyncio.ensure_future(client.close())
        await asyncio.sleep(0)
        closing.cancel()
        await settle()
        assert peer.live == 0

    play(script)


def test_a_transport_that_does_not_want_to_be_left_is_left_by_force(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")

        @asynccontextmanager
        async def clinging() -> AsyncIterator[Any]:
            async with peer.streams() as pair:
                try:
                    yield pair
                finally:
                    await asyncio.sleep(10**6)

        client = ReferenceClient(clinging, era=era, close_limit=3)
        await client.connect()
        began = asyncio.get_running_loop().time()
        await client.close()
        assert asyncio.get_running_loop().time() - began == 3
        assert peer.live == 0

    play(script)


def test_a_write_that_never_ends_does_not_hold_up_the_close(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        stuck = False

        class Sticky:
            def __init__(self, write: Any) -> None:
                self._write = write

            def __getattr__(self, name: str) -> Any:
                return getattr(self._write, name)

            async def __aenter__(self) -> Any:
                return await self._write.__aenter__()

            async def __aexit__(self, *exc: Any) -> None:
                await self._write.__aexit__(*exc)

            async def send(self, item: Any) -> None:
                if stuck:
                    await anyio.sleep_forever()
                await self._write.send(item)

        @asynccontextmanager
        async def streams() -> AsyncIterator[Any]:
            async with peer.streams() as (read, write):
                yield read, Sticky(write)

        client = ReferenceClient(streams, era=era, timeout=2, close_limit=3)
        await client.list_tools()
        stuck = True
        with pytest.raises(TimeoutError):
            await client.call_tool("a")
        call = asyncio.ensure_future(client.call_tool("a"))
        await asyncio.sleep(1)
        await client.close()
        with pytest.raises(ClientClosed):
            await call
        assert peer.live == 0

    play(script)


def test_a_hundred_lives_leave_nothing(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era)
        for _ in range(100):
            async with client:
                await client.list_tools()
                await client.call_tool("a")
                peer.line.tools_changed()
        assert peer.live == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}
        del client
        gc.collect()

    play(script)


def test_a_transport_that_breaks_by_itself_is_a_lost_connection(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        breaks = anyio.Event()

        @asynccontextmanager
        async def fragile() -> AsyncIterator[Any]:
            async with peer.streams() as pair, anyio.create_task_group() as group:

                async def crash() -> None:
                    await breaks.wait()
                    raise OSError("cable")

                group.start_soon(crash)
                try:
                    yield pair
                finally:
                    group.cancel_scope.cancel()

        async with ReferenceClient(fragile, era=era, timeout=None) as client:
            await client.list_tools()
            peer.hold("tools/call")
            call = asyncio.ensure_future(client.call_tool("a"))
            await settle()
            breaks.set()
            await settle()
            with pytest.raises(ConnectionLost, match="cable"):
                await call
            breaks = anyio.Event()
            assert await client.names() == ["a"]

    play(script)


# -- eras


@pytest.mark.skipif(MAJOR == 2, reason="mcp 2.x speaks it")
def test_the_modern_era_needs_an_sdk_that_speaks_it() -> None:
    async def script() -> None:
        client = ReferenceClient(Peer("handshake").streams, era="modern")
        with pytest.raises(EraUnavailable, match=r"mcp 2\.x"):
            await client.connect()
        await client.close()

    play(script)


def test_auto_finds_out_which_era_the_server_speaks(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era="auto") as client:
            assert await client.names() == ["a"]
            assert bool(peer.frames("subscriptions/listen")) == (era == "modern")
            peer.has("b")
            peer.line.tools_changed()
            await settle()
            assert await client.names() == ["b"]
            assert peer.count("server/discover") == (MAJOR == 2)

    play(script)


@modern
@pytest.mark.parametrize("code", [-32601, -32602, -1, None])
def test_auto_falls_back_on_any_error_or_silence(code: int | None) -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        if code is None:
            peer.hold("server/discover")
        else:
            peer.fails("server/discover", code)
        async with ReferenceClient(peer.streams, era="auto", timeout=60) as client:
            assert await client.names() == ["a"]
            assert peer.count("initialize") == 1

    play(script)


@modern
@pytest.mark.parametrize("asked", ["auto", "modern"])
def test_a_modern_server_of_another_revision_is_asked_again_in_ours(asked: Any) -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.next["server/discover"].append(
            lambda _: {
                "error": {
                    "code": -32022,
                    "message": "version",
                    "data": {"supported": ["2026-07-28"], "requested": "x"},
                }
            }
        )
        async with ReferenceClient(peer.streams, era=asked) as client:
            assert await client.names() == ["a"]
            assert (peer.count("server/discover"), peer.count("initialize")) == (2, 0)

    play(script)


@modern
def test_a_server_of_no_common_revision_is_an_error_that_names_the_revisions() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.next["server/discover"].append(
            lambda _: {
                "error": {
                    "code": -32022,
                    "message": "v",
                    "data": {"supported": ["2099-01-01"], "requested": "x"},
                }
            }
        )
        client = ReferenceClient(peer.streams, era="modern")
        with pytest.raises(EraUnavailable, match="2099-01-01"):
            await client.connect()
        await client.close()

    play(script)


@modern
def test_a_modern_request_carries_the_envelope_of_its_era() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        info = {"name": "mine", "version": "7"}
        async with ReferenceClient(peer.streams, era="modern", client_info=info) as client:
            await client.call_tool("a")
            for frame in peer.line.received:
                meta = frame["params"]["_meta"]
                assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
                assert meta["io.modelcontextprotocol/clientInfo"] == info
                assert meta["io.modelcontextprotocol/clientCapabilities"] == {}

    play(script)


def test_an_unknown_era_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="handshake, modern, auto"):
        ReferenceClient(Peer().streams, era="ancient")  # type: ignore[arg-type]


# -- tenants


def test_clients_that_differ_in_their_dial_alone_share_nothing(era: str) -> None:
    async def script() -> None:
        lists = {"a": [tool("t", "integer")], "b": [tool("t", "string"), tool("only_b")]}
        peers = {who: Peer(era, *tools) for who, tools in lists.items()}
        one, two = (ReferenceClient(peers[who].streams, era=era, name="same") for who in "ab")
        async with one, two:
            assert await one.names() == ["t"]
            assert await two.names() == ["t", "only_b"]
            peers["a"].results["t"] = {"content": [], "structuredContent": {"value": 1}}
            peers["b"].results["t"] = {"content": [], "structuredContent": {"value": "x"}}
            await one.call_tool("t")
            await two.call_tool("t")
            assert await one.names() == ["t"]
            peers["a"].line.cut()
            peers["a"].refuse = ConnectionRefusedError("no")
            await settle()
            with pytest.raises(DialFailed):
                await one.call_tool("t")
            assert (await two.call_tool("t")).structured_content == {"value": "x"}
            assert (peers["a"].calls, peers["b"].calls) == (1, 2)

    play(script)


def test_a_server_that_asks_back_gets_an_answer(era: str) -> None:
    if era == "modern":
        pytest.skip("servers ask nothing in this era")

    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.line.send({"id": "s1", "method": "ping"})
            peer.line.send({"id": "s2", "method": "roots/list"})
            await settle()
            answers = {frame["id"]: frame for frame in peer.line.received if "method" not in frame}
            assert answers["s1"]["result"] == {}
            assert "error" in answers["s2"]
            assert await client.names() == ["a"]

    play(script)


def test_time_passes_in_these_tests_without_anyone_waiting() -> None:
    async def script() -> float:
        await passes(10**6)
        return asyncio.get_running_loop().time()

    assert play(script) == 10**6
