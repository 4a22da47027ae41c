"""What servers say unasked, and the listen stream of the modern era."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from mcp_conformance_reference import ListFailed, LogMessage, ReferenceClient

from tests.reference.peer import ERAS, SUBSCRIPTION_ID, Peer, tool
from tests.reference.virtual import passes, play, settle

modern = pytest.mark.skipif("modern" not in ERAS, reason="mcp 1.x speaks the handshake era alone")


def test_after_a_notice_the_next_list_is_new_whatever_is_left_of_its_lifetime(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has("new")
            peer.line.tools_changed()
            await settle()
            assert peer.lists == 1, "a notice asks nothing by itself"
            assert await client.names() == ["new"]
            assert (await client.call_tool(await client.bind("new"))).text == "new"

    play(script)


def test_a_notice_never_blocks_the_reading_of_answers(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.hold("tools/call")
            call = asyncio.ensure_future(client.call_tool("a"))
            await settle()
            peer.line.tools_changed()
            peer.take().release()
            await settle()
            assert call.done()
            assert (await client.call_tool("a")).text == "a"

    play(script)


def test_a_storm_of_notices_costs_the_walk_under_way_and_one_more(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            waiting = asyncio.ensure_future(client.names())
            await settle()
            peer.has("new")
            for _ in range(50):
                peer.line.tools_changed()
            peer.take().release()
            assert await waiting == ["new"]
            assert await client.names() == ["new"]
            assert peer.lists == 2

    play(script)


def test_a_notice_during_a_relisting_is_not_lost(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "v1")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.line.tools_changed()
            peer.hold("tools/list")
            waiting = asyncio.ensure_future(client.names())
            await settle()
            peer.has("v2")
            peer.line.tools_changed()
            await settle()
            peer.take().fail()
            with pytest.raises(ListFailed):
                await waiting
            assert await client.names() == ["v2"]

    play(script)


def test_a_relisting_that_fails_leaves_the_list_stale(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has("new")
            peer.line.tools_changed()
            await settle()
            peer.fails("tools/list")
            with pytest.raises(ListFailed):
                await client.list_tools()
            assert await client.names() == ["new"]

    play(script)


def test_after_the_close_nothing_is_started_by_what_comes_in(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        client = ReferenceClient(peer.streams, era=era)
        await client.connect()
        peer.hold("tools/list")
        waiting = asyncio.ensure_future(client.names())
        await settle()
        line, held = peer.line, peer.take()
        line.tools_changed()
        await client.close()
        frames = [len(line.received), peer.dials]
        held.release()
        line.tools_changed()
        await settle()
        assert [len(line.received), peer.dials] == frames
        assert isinstance(waiting.exception(), Exception)
        peer.has("new")
        await client.connect()
        assert await client.names() == ["new"]
        await client.close()

    play(script)


def test_a_notice_reaches_the_client_it_was_sent_to_also_after_the_other_was_closed(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "v1")
        one = ReferenceClient(peer.streams, era=era)
        await one.connect()
        async with ReferenceClient(peer.streams, era=era) as two:
            await one.list_tools()
            await two.list_tools()
            peer.has("v2")
            peer.lines[1].tools_changed()
            await settle()
            assert (await one.names(), await two.names()) == (["v1"], ["v2"])
            await one.close()
            peer.has("v3")
            peer.lines[1].tools_changed()
            await settle()
            assert await two.names() == ["v3"]

    play(script)


def test_overlapping_loads_end_with_each_tool_once(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a", "b")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            first = asyncio.ensure_future(client.names())
            await settle()
            held = peer.take()
            peer.hold("tools/list")
            peer.line.tools_changed()
            second = asyncio.ensure_future(client.names())
            await settle()
            peer.take().release()
            held.release()
            assert await first == await second == await client.names() == ["a", "b"]

    play(script)


ODD: list[tuple[str, Any]] = [
    ("notifications/message", {"level": "info", "data": "x"}),
    ("notifications/message", {"level": 7}),
    ("notifications/message", None),
    ("notifications/prompts/list_changed", None),
    ("notifications/resources/list_changed", {}),
    ("notifications/resources/updated", {"uri": 5}),
    ("notifications/unknown", {"a": [1]}),
    ("notifications/progress", {"progressToken": "nobody", "progress": "half"}),
    ("notifications/cancelled", {"requestId": 10_000}),
    ("notifications/cancelled", {}),
    ("notifications/subscriptions/acknowledged", {}),
    ("notifications/subscriptions/acknowledged", {"_meta": {SUBSCRIPTION_ID: [1]}, "notifications": 3}),
    ("notifications/tools/list_changed", {"_meta": {"x": 1}, "odd": True}),
]


def test_odd_notices_disturb_nothing_and_get_no_answer(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            before = len(peer.line.received)
            for method, params in ODD:
                peer.line.notify(method, params)
            await settle()
            assert len(peer.line.received) == before
            assert await client.names() == ["a"]
            assert (await client.call_tool("a")).text == "a"
            assert peer.dials == 1

    play(script)


# -- log messages


def test_log_messages_go_to_the_client_whose_connection_they_came_on(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        heard: dict[str, list[LogMessage]] = {"one": [], "two": []}
        one = ReferenceClient(peer.streams, era=era, on_log=heard["one"].append)
        two = ReferenceClient(peer.streams, era=era, on_log=heard["two"].append)
        async with one, two, ReferenceClient(peer.streams, era=era):
            peer.lines[1].notify("notifications/message", {"level": "info", "data": {"x": 1}, "logger": "l"})
            peer.lines[2].notify("notifications/message", {"level": "info", "data": "nobody"})
            peer.lines[0].notify("notifications/message", {"level": "error", "data": None})
            await settle()
            assert heard == {
                "one": [LogMessage("error", None, None)],
                "two": [LogMessage("info", {"x": 1}, "l")],
            }

    play(script)


def test_a_log_callback_that_raises_harms_nothing(era: str, caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: LogMessage) -> None:
        raise ZeroDivisionError

    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era, on_log=broken) as client:
            peer.line.notify("notifications/message", {"level": "info", "data": "x"})
            await settle()
            assert await client.names() == ["a"]

    play(script)
    assert "could not be used" in caplog.text


@modern
def test_in_the_modern_era_log_messages_are_asked_for_where_somebody_listens() -> None:
    key = "io.modelcontextprotocol/logLevel"

    async def script() -> None:
        peer = Peer("modern", "a")
        listening = ReferenceClient(peer.streams, era="modern", on_log=lambda _: None, log_level="warning")
        async with listening, ReferenceClient(peer.streams, era="modern") as deaf:
            await listening.call_tool("a")
            await deaf.call_tool("a")
            with_level, without = peer.frames("tools/call")
            assert with_level["params"]["_meta"][key] == "warning"
            assert key not in without["params"]["_meta"]

    play(script)


# -- the listen stream


@modern
def test_every_modern_connection_asks_to_hear_of_changes() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        client = ReferenceClient(peer.streams, era="modern")
        for turn in (1, 2):
            await client.connect()
            listens = peer.frames("subscriptions/listen")
            assert len(listens) == turn
            assert listens[-1]["params"]["notifications"] == {"toolsListChanged": True}
            await client.close()
            assert peer.cancelled == [frame["id"] for frame in listens]
        await client.connect()
        await client.list_tools()
        peer.line.cut()
        await settle()
        await client.list_tools()
        assert len(peer.frames("subscriptions/listen")) == 4
        await client.close()

    play(script)


@modern
def test_what_was_not_granted_is_not_counted_on() -> None:
    async def script() -> None:
        peer = Peer("modern", "old")
        peer.grants, peer.ttl = False, 0
        async with ReferenceClient(peer.streams, era="modern") as client:
            await client.list_tools()
            peer.has("new")
            assert await client.names() == ["new"]
            peer.ttl = 60_000
            await client.list_tools()
            await client.list_tools()
            assert peer.lists == 3, "lifetimes still count"
            peer.line.end_listen("result")
            await passes(3600)
            assert peer.count("subscriptions/listen") == 1

    play(script)


@modern
def test_a_server_without_listen_streams_leaves_lifetimes_alone() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.fails("subscriptions/listen", -32601, "Method not found")
        async with ReferenceClient(peer.streams, era="modern") as client:
            await client.list_tools()
            await client.list_tools()
            assert peer.lists == 1
            await passes(3600)
            await client.list_tools()
            assert (peer.lists, peer.count("subscriptions/listen")) == (2, 1)

    play(script)


@modern
@pytest.mark.parametrize("how", ["result", "error", "cancelled"])
def test_when_the_stream_ends_nothing_kept_is_trusted_and_it_is_opened_again(how: str) -> None:
    async def script() -> None:
        peer = Peer("modern", "old")
        async with ReferenceClient(peer.streams, era="modern") as client:
            await client.list_tools()
            peer.hold("tools/call")
            call = asyncio.ensure_future(client.call_tool("old"))
            await settle()
            peer.has("new", "old")
            peer.line.end_listen(how)
            await settle()
            assert await client.names() == ["new", "old"]
            assert peer.count("subscriptions/listen") == 2
            assert peer.cancelled == [], "what the server ended is not cancelled"
            peer.take().release()
            assert (await call).text == "old"
            await client.list_tools()
            assert peer.lists == 2, "the new stream covers what was listed on it"

    play(script)


@modern
def test_between_the_end_and_the_next_acknowledgement_every_list_is_asked_for() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        async with ReferenceClient(peer.streams, era="modern") as client:
            await client.list_tools()
            peer.hold("subscriptions/listen")
            peer.line.end_listen("result")
            await settle()
            await client.list_tools()
            await client.list_tools()
            assert peer.lists == 3

    play(script)


@modern
def test_a_stream_that_is_refused_again_and_again_is_asked_for_ever_more_seldom_and_then_no_more() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        moments: list[float] = []

        def refusing(_: Any) -> dict[str, Any]:
            peer.next["subscriptions/listen"].append(refusing)
            moments.append(asyncio.get_running_loop().time())
            return {"error": {"code": -32000, "message": "busy"}}

        peer.next["subscriptions/listen"].append(refusing)
        async with ReferenceClient(peer.streams, era="modern", max_reopen=9, reopen_limit=30) as client:
            await passes(24 * 3600)
            gaps = [later - earlier for earlier, later in pairwise(moments)]
            assert gaps == [0, 1, 2, 4, 8, 16, 30, 30, 30]
            await client.list_tools()
            await client.list_tools()
            assert peer.lists == 2, "what cannot be watched is not trusted"

    play(script)


@modern
def test_a_stream_that_ends_after_a_long_life_is_opened_again_at_once() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        async with ReferenceClient(peer.streams, era="modern", max_reopen=2):
            for turn in range(2, 7):
                await passes(100)
                peer.line.end_listen("result")
                await settle()
                assert peer.count("subscriptions/listen") == turn

    play(script)


@modern
def test_what_was_listed_before_the_acknowledgement_is_listed_again_after_it() -> None:
    async def script() -> None:
        peer = Peer("modern", "v1")
        peer.hold("subscriptions/listen")
        async with ReferenceClient(peer.streams, era="modern") as client:
            listed = await client.list_tools()
            peer.has("v2")
            held = peer.take()
            held.line.send(held._answer or {})
            await settle()
            assert await client.names() == ["v2"]
            await client.list_tools()
            assert peer.lists == 2
            assert listed[0].generation < (await client.bind("v2")).generation

    play(script)


@modern
def test_an_acknowledgement_or_end_of_another_stream_is_not_ours() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.hold("subscriptions/listen")
        async with ReferenceClient(peer.streams, era="modern") as client:
            mine = peer.take().request["id"]
            for other in (f"{mine}", True, mine + 1, None):
                peer.line.notify(
                    "notifications/subscriptions/acknowledged",
                    {"notifications": {"toolsListChanged": True}, "_meta": {SUBSCRIPTION_ID: other}},
                )
            await settle()
            await client.list_tools()
            await client.list_tools()
            assert peer.lists == 2
            peer.line.notify("notifications/cancelled", {"requestId": mine + 1})
            await settle()
            assert peer.count("subscriptions/listen") == 1

    play(script)


def test_a_lost_tool_and_a_new_one_show_in_every_view(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old", tool("kept", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has(tool("kept", "string"), "new")
            peer.line.tools_changed()
            await settle()
            assert (await client.bind("kept")).output_schema["properties"]["value"]["type"] == "string"
            for read in client.accessors().values():
                assert "old" not in str(await read())

    play(script)
