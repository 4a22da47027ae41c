"""What a user is handed as the tool list, and when the server is asked for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_conformance_reference import ListedTool, ListFailed, ReferenceClient, WalkUnbounded

from tests.reference.peer import ERAS, Peer, tool
from tests.reference.virtual import passes, play, settle, until

modern = pytest.mark.skipif("modern" not in ERAS, reason="mcp 1.x speaks the handshake era alone")


def names(tools: list[ListedTool]) -> list[str]:
    return [listed.name for listed in tools]


def page(*tools: Any, **more: Any) -> dict[str, Any]:
    return {"tools": [tool(known) if isinstance(known, str) else known for known in tools], **more}


# -- lifetimes


@modern
def test_a_lifetime_of_zero_is_stale_at_once() -> None:
    async def script() -> None:
        peer = Peer("modern", "old")
        peer.ttl = 0
        async with ReferenceClient(peer.streams, era="modern") as client:
            await client.list_tools()
            peer.has("new")
            assert await client.names() == ["new"]

    play(script)


@modern
@pytest.mark.parametrize("ttl", [None, -1, -(2**53), True, "60000", 0.0])
def test_no_lifetime_or_a_senseless_one_counts_as_zero(ttl: Any) -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.ttl = ttl
        async with ReferenceClient(peer.streams, era="modern") as client:
            assert await client.names() == await client.names() == ["a"]
            assert peer.lists == 2

    play(script)


@modern
def test_a_lifetime_beyond_all_numbers_is_a_long_one() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.ttl = 10**400
        async with ReferenceClient(peer.streams, era="modern") as client:
            assert await client.names() == await client.names()
            assert peer.lists == 1

    play(script)


@modern
def test_a_lifetime_counts_from_receipt_and_ends_at_its_very_end() -> None:
    async def script() -> None:
        peer = Peer("modern", "a")
        peer.ttl = 60_000
        async with ReferenceClient(peer.streams, era="modern") as client:
            peer.hold("tools/list")
            first = asyncio.ensure_future(client.list_tools())
            await passes(20)
            peer.take().release()
            await first
            await passes(59)
            await client.list_tools()
            assert peer.lists == 1
            await passes(1)
            assert peer.lists == 1, "a lapse asks nothing by itself"
            await client.list_tools()
            assert peer.lists == 2

    play(script)


@modern
def test_lifetimes_are_counted_by_the_clock_that_was_given() -> None:
    class Clock:
        now = 100.0

        def monotonic(self) -> float:
            return self.now

    async def script() -> None:
        peer, clock = Peer("modern", "a"), Clock()
        async with ReferenceClient(peer.streams, era="modern", clock=clock) as client:
            await client.list_tools()
            await passes(2 * 3600)
            await client.list_tools()
            assert peer.lists == 1
            clock.now += 3600
            await client.list_tools()
            assert peer.lists == 2

    play(script)


@modern
def test_the_first_page_to_lapse_rules_the_walk() -> None:
    async def script() -> None:
        peer = Peer("modern")
        async with ReferenceClient(peer.streams, era="modern") as client:
            peer.pages(page("a", nextCursor="2", ttlMs=60_000), page("b", ttlMs=1_000))
            assert await client.names() == ["a", "b"]
            peer.pages(page("a", nextCursor="2"), page("c"))
            await passes(1)
            assert await client.names() == ["a", "c"]

    play(script)


def test_without_an_end_in_sight_a_handshake_listing_is_kept() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with ReferenceClient(peer.streams) as client:
            await client.list_tools()
            await passes(24 * 3600)
            assert await client.names() == ["a"]
            assert peer.lists == 1

    play(script)


def test_a_handshake_server_that_announces_no_changes_is_asked_each_time() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        peer.announces = False
        async with ReferenceClient(peer.streams) as client:
            await client.list_tools()
            peer.has("b")
            assert await client.names() == ["b"]

    play(script)


# -- invalidation and order


@pytest.mark.parametrize("first", [True, False], ids=["the first listing", "a refresh"])
@pytest.mark.parametrize("cause", ["notice", "invalidate", "permissions_changed"])
def test_a_listing_that_was_out_when_the_tools_changed_is_not_kept(era: str, first: bool, cause: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            if not first:
                await client.list_tools()
            peer.hold("tools/list")
            verb = client.names() if first else client.refresh()
            waiting = asyncio.ensure_future(verb)
            await settle()
            peer.has("new")
            if cause == "notice":
                peer.line.tools_changed()
            else:
                getattr(client, cause)()
            await settle()
            peer.take().release()
            assert await waiting in (["new"], None)
            assert await client.names() == ["new"]

    play(script)


def test_an_answer_with_the_notice_right_behind_it_is_not_kept(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            waiting = asyncio.ensure_future(client.names())
            await settle()
            peer.has("new")
            peer.take().release()
            peer.line.tools_changed()
            await waiting
            assert await client.names() == ["new"]

    play(script)


def test_a_list_asked_for_after_the_notice_is_not_answered_by_one_from_before(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            before = asyncio.ensure_future(client.names())
            await settle()
            doomed = peer.take()
            peer.has("new")
            peer.line.tools_changed()
            after = asyncio.ensure_future(client.names())
            await settle()
            doomed.release()
            assert await before == await after == ["new"]

    play(script)


def test_an_older_listing_answered_late_never_replaces_a_newer_one(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            waiting = asyncio.ensure_future(client.names())
            await settle()
            older = peer.take()
            peer.has("new")
            await client.refresh()
            older.release()
            assert await waiting == ["new"]
            assert await client.names() == ["new"]
            assert peer.lists == 2

    play(script)


def test_an_older_listing_that_arrives_first_does_not_spoil_the_newer_one(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "v0")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.hold("tools/list")
            peer.has("v1")
            one = asyncio.ensure_future(client.refresh())
            await settle()
            older = peer.take()
            peer.hold("tools/list")
            peer.has("v2")
            two = asyncio.ensure_future(client.refresh())
            await settle()
            newer = peer.take()
            older.release()
            await one
            newer.release()
            await two
            assert await client.names() == ["v2"]
            assert peer.lists == 3

    play(script)


def test_refresh_and_invalidate_pass_every_layer_and_every_view(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "old")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has("new")
            await client.refresh()
            for read in client.accessors().values():
                assert "old" not in str(await read())
            assert (await client.bind("new")).name == "new"
            assert peer.lists == 2
            peer.has("newer")
            client.invalidate()
            assert await client.names() == ["newer"]

    play(script)


def test_tools_that_change_during_every_walk_end_in_an_error(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")

        def changing(_: Any) -> dict[str, Any]:
            peer.next["tools/list"].append(changing)
            peer.line.tools_changed()
            return {"result": peer._fresh(page("a"))}

        async with ReferenceClient(peer.streams, era=era, max_walks=3) as client:
            peer.next["tools/list"].append(changing)
            with pytest.raises(ListFailed, match="changed during each of 3 walks"):
                await client.list_tools()
            assert peer.lists == 3

    play(script)


# -- sharing


def test_equal_lists_at_one_moment_share_one_walk_and_one_cancelled_waiter_hurts_nobody(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            verbs = [asyncio.ensure_future(client.names()) for _ in range(2)]
            await settle()
            verbs.append(asyncio.ensure_future(client.names()))
            await settle()
            verbs[0].cancel()
            await settle()
            peer.take().release()
            assert await verbs[1] == await verbs[2] == ["a"]
            assert verbs[0].cancelled()
            assert peer.lists == 1
            assert peer.cancelled == []

    play(script)


def test_a_walk_that_nobody_waits_for_any_more_is_given_up_on_the_wire(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            verbs = [asyncio.ensure_future(client.names()) for _ in range(2)]
            await settle()
            for verb in verbs:
                verb.cancel()
            await settle()
            held = peer.take()
            assert peer.cancelled == [held.request["id"]]
            held.release()
            assert await client.names() == ["a"]

    play(script)


def test_what_is_handed_out_is_not_what_is_kept(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer", annotations={"title": "A"}), "b")
        async with ReferenceClient(peer.streams, era=era) as client:
            tools = await client.list_tools()
            tools[0].listed["outputSchema"]["properties"]["value"]["type"] = "string"
            tools[0].input_schema["type"] = "array"
            tools[0].output_schema.clear()
            tools[0].annotations["title"] = "B"
            tools.clear()
            again = await client.list_tools()
            assert [listed.listed for listed in again] == peer.tools
            assert peer.lists == 1

    play(script)


def test_an_empty_listing_is_a_listing(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has()
            peer.line.tools_changed()
            await settle()
            assert await client.list_tools() == await client.list_tools() == []
            assert peer.lists == 2
            with pytest.raises(Exception, match="lacks it"):
                await client.bind("a")

    play(script)


# -- failures


def test_a_failed_listing_raises_and_changes_nothing_and_the_next_one_asks_again(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.fails("tools/list", -32000, "not today")
            with pytest.raises(ListFailed, match="not today") as caught:
                await client.refresh()
            assert caught.value.code == -32000
            assert await client.names() == ["a"]
            assert peer.lists == 2
            client.invalidate()
            peer.fails("tools/list")
            with pytest.raises(ListFailed):
                await client.list_tools()
            peer.has("b")
            assert await client.names() == ["b"]

    play(script)


@pytest.mark.parametrize(
    "result",
    [{"tools": "none"}, {}, {"tools": [], "nextCursor": 7}, {"tools": [], "resultType": "later"}],
    ids=str,
)
def test_a_malformed_page_fails_the_listing(era: str, result: dict[str, Any]) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.next["tools/list"].append(lambda _: {"result": result})
            with pytest.raises(ListFailed):
                await client.list_tools()
            assert await client.names() == ["a"]

    play(script)


# -- pages


def test_all_pages_are_walked_whatever_their_size_and_the_order_is_kept(era: str) -> None:
    async def script() -> None:
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era) as client:
            sizes = [3, 0, 1, 0, 5]
            left = iter("zyxwvutsr")
            pages = [
                page(*(next(left) for _ in range(size)), nextCursor=str(at)) for at, size in enumerate(sizes)
            ]
            del pages[-1]["nextCursor"]
            peer.pages(*pages)
            assert await client.names() == list("zyxwvutsr")
            assert (await client.call_tool("r")).text == "r"

    play(script)


@pytest.mark.parametrize(
    "cursor",
    [" x ", "2", "null", "%2F+=", "\"'", "é漢\U0001f600", "x" * 8192],
    ids=["spaces", "digit", "null", "encoded", "quotes", "not ascii", "8 kB"],
)
def test_a_cursor_goes_back_as_it_came(era: str, cursor: str) -> None:
    async def script() -> None:
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.pages(page("a", nextCursor=cursor), page("b", nextCursor=None))
            assert await client.names() == ["a", "b"]
            first, second = peer.frames("tools/list")
            assert "cursor" not in first.get("params", {})
            assert second["params"]["cursor"] == cursor

    play(script)


@modern
def test_in_the_modern_era_an_empty_cursor_is_followed() -> None:
    async def script() -> None:
        peer = Peer("modern")
        async with ReferenceClient(peer.streams, era="modern") as client:
            peer.pages(page("a", nextCursor=""), page("b"))
            assert await client.names() == ["a", "b"]
            assert peer.frames("tools/list")[1]["params"]["cursor"] == ""

    play(script)


def test_in_the_handshake_era_an_empty_cursor_is_the_end() -> None:
    async def script() -> None:
        peer = Peer("handshake")
        async with ReferenceClient(peer.streams) as client:
            peer.pages(page("a", nextCursor="2"), page("b", nextCursor=""))
            assert await client.names() == ["a", "b"]
            assert peer.lists == 2

    play(script)


@pytest.mark.parametrize("cycle", [["c1", "c1"], ["c1", "c2", "c1"]])
def test_pages_in_a_circle_end_in_an_error_that_says_so(era: str, cycle: list[str]) -> None:
    async def script() -> None:
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.pages(*(page(f"t{at}", nextCursor=cursor) for at, cursor in enumerate(cycle)))
            with pytest.raises(WalkUnbounded, match="circles"):
                await client.list_tools()
            assert peer.lists == len(cycle)
            peer.has("a")
            assert await client.names() == ["a"]

    play(script)


def test_pages_without_end_are_bounded_by_max_pages(era: str) -> None:
    async def script() -> None:
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era, max_pages=5) as client:
            peer.pages(*(page(f"t{at}", nextCursor=f"c{at}") for at in range(9)))
            with pytest.raises(WalkUnbounded, match="max_pages"):
                await client.list_tools()
            assert peer.lists == 5

    play(script)


def test_a_page_that_fails_fails_the_whole_listing(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.pages(page("b", nextCursor="2"))
            peer.fails("tools/list", -32602, "bad cursor")
            with pytest.raises(ListFailed, match="bad cursor"):
                await client.refresh()
            assert peer.lists == 3
            assert await client.names() == ["a"]

    play(script)


def test_a_walk_that_a_notice_came_into_is_not_kept(era: str) -> None:
    async def script() -> None:
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.pages(page("a", nextCursor="2"), page("old"))
            waiting = asyncio.ensure_future(client.names())
            await until(lambda: peer.lists)
            peer.hold("tools/list")
            await settle()
            peer.has("new")
            peer.line.tools_changed()
            await settle()
            peer.take().release()
            assert await waiting == ["new"]
            assert await client.names() == ["new"]

    play(script)


# -- entries


def test_a_name_comes_once_the_first_one_over_all_pages(era: str) -> None:
    async def script() -> None:
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.pages(page("c", tool("a", "integer"), nextCursor="2"), page("b", tool("a", "string")))
            tools = await client.list_tools()
            assert names(tools) == ["c", "a", "b"]
            assert tools[1].output_schema["properties"]["value"]["type"] == "integer"

    play(script)


def test_an_entry_is_handed_out_as_listed_unknown_fields_included(era: str) -> None:
    async def script() -> None:
        item = {"$defs": {"Item": {"type": "integer"}}, "type": "object", "title": None}
        other = {"$defs": {"Item": {"type": "string"}}, "type": "object"}
        one = tool("one", later=1, title="One", _meta={"x": None}, icons=[{"src": "i", "new": 1}])
        two = tool("two")
        one["inputSchema"], two["inputSchema"] = item, other
        peer = Peer(era, one, two)
        async with ReferenceClient(peer.streams, era=era) as client:
            tools = await client.list_tools()
            assert [listed.listed for listed in tools] == [one, two]
            assert (tools[0].title, tools[0].description, tools[0].meta) == (
                "One",
                "the tool one",
                {"x": None},
            )

    play(script)


def test_malformed_entries_take_no_good_tool_down_and_are_named(era: str) -> None:
    async def script() -> None:
        bad: list[Any] = [
            {"inputSchema": {}},
            tool("none", inputSchema=None),
            {**tool("x"), "name": 5},
            tool(""),
            7,
            None,
        ]
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.pages(page(), page("good", *bad[:3], nextCursor="2"), page(*bad[3:], "good2"))
            await client.list_tools()
            await client.refresh()
            assert await client.names() == ["good", "good2"]
            left_out = await client.left_out()
            assert [entry for entry, _ in left_out] == bad
            assert all(reason for _, reason in left_out)

    play(script)


def test_names_are_exact(era: str) -> None:
    async def script() -> None:
        exact = ["Get", "get", "a.b", "a_b", "a-b", "x" * 128, "with space"]
        peer = Peer(era, *exact)
        async with ReferenceClient(peer.streams, era=era) as client:
            for listed in await client.list_tools():
                await client.call_tool(listed)
            assert [frame["params"]["name"] for frame in peer.frames("tools/call")] == exact

    play(script)


def test_a_changed_tool_is_handed_out_changed_and_a_removed_one_not_at_all(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", inputSchema={"type": "object", "required": ["x"]}), "b")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has(tool("a", description="new", inputSchema={"type": "object", "required": ["y"]}))
            peer.line.tools_changed()
            await settle()
            (only,) = await client.list_tools()
            assert (only.description, only.input_schema["required"]) == ("new", ["y"])
            await client.call_tool(only, {"y": 1})
            assert await client.names() == ["a"]
            assert [known.name for known in await client.definitions()] == ["a"]

    play(script)


def test_generations_move_with_invalidations_and_with_listings_that_differ(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            one = (await client.bind("a")).generation
            await client.refresh()
            assert (await client.bind("a")).generation == one
            peer.has(tool("a", description="other"))
            await client.refresh()
            two = (await client.bind("a")).generation
            assert two > one
            client.invalidate()
            three = (await client.bind("a")).generation
            assert three == two + 1

    play(script)


def test_two_clients_share_nothing(era: str) -> None:
    async def script() -> None:
        one, two = Peer(era, "x"), Peer(era, "y")
        async with ReferenceClient(one.streams, era=era) as a, ReferenceClient(two.streams, era=era) as b:
            assert await a.names() == ["x"]
            assert await b.names() == ["y"]
            with pytest.raises(Exception, match="another client"):
                await b.call_tool(await a.bind("x"))
            assert (one.lists, two.lists, one.calls, two.calls) == (1, 1, 0, 0)

    play(script)
