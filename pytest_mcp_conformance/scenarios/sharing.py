"""Scenarios of SHR: lists that conversations share under a contract.

They look at `shared_definitions`, and at conversations that are given one: `context` is the configuration
that the tools are listed under, `tenant` whose conversation it is.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pytest_mcp_conformance.contract import HANDSHAKE
from pytest_mcp_conformance.contract.sharing import (
    A_HIT_IS_A_USE,
    BINDINGS_OF_A_DROPPED_ENTRY_ARE_REFUSED,
    CALLS_ARE_NEVER_SHARED,
    DEAD_LISTER_LEAVES_THE_LIST_TO_THE_OTHERS,
    DROPPED_LISTING_REACHES_NO_OTHER_ENTRY,
    ENTRIES_ARE_BOUNDED,
    ENTRY_MADE_AGAIN_IS_A_NEW_LIST,
    FAILED_ENTRIES_PUSH_OUT_NO_GOOD_ONE,
    INVALIDATION_HITS_WHAT_MATCHES,
    LIST_THAT_GREW_TOO_LONG_IS_SERVED_NO_MORE,
    LONG_LIST_IS_NOT_SHARED,
    NOTICE_ON_ANY_CLIENT_IS_FOR_ALL,
    ONE_ENTRY_A_CONTEXT,
    ONLY_A_WHOLE_LIST_IS_SHARED,
    PEEK_MAKES_NOTHING,
    SHARING_IS_ASKED_FOR,
    TENANTS_NEVER_SHARE_AN_ENTRY,
    WHO_NEEDS_THE_LIST_LISTS,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._talk import Talk, talk_of
from pytest_mcp_conformance.server import V1, V2, ScriptedServer, tool

TTL = 60.0


@asynccontextmanager
async def _user(
    wrapper: Holder, server: ScriptedServer, shared: Any, context: str = "x", tenant: str = "t", **how: Any
) -> AsyncIterator[Talk]:
    """One conversation under the contract."""
    async with talk_of(
        wrapper, server, shared=shared, context={"server": context}, tenant=tenant, **how
    ) as talk:
        yield talk


# -- on the wire


@scenario(SHARING_IS_ASKED_FOR, eras=HANDSHAKE)
async def two_users_without_a_contract(server: ScriptedServer, connect: Connect) -> None:
    """Two conversations with one server, of one configuration, and no word of sharing."""
    server.has_tools(*V1)
    plan = {"context": {"server": "x"}, "tenant": "t"}

    async with (
        connect(server) as wrapper,
        talk_of(wrapper, server, **plan) as one,
        talk_of(wrapper, server, **plan) as other,
    ):
        await one.list()
        await other.list()
        with check(SHARING_IS_ASKED_FOR):
            asked = {frame.connection for frame in server.ledger.listings()}
            assert len(asked) == 2, f"two users, and the tools were asked for on connections {asked}"


@scenario(ONE_ENTRY_A_CONTEXT, CALLS_ARE_NEVER_SHARED, WHO_NEEDS_THE_LIST_LISTS, eras=HANDSHAKE)
async def two_users_under_a_contract(server: ScriptedServer, connect: Connect) -> None:
    """One conversation lists, a second one is served, and calls; then the second one needs the list anew."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 100)
        async with _user(wrapper, server, shared) as one, _user(wrapper, server, shared) as other:
            first, second = (connection.number for connection in server.connections[-2:])
            await one.list()
            served, frames = await other.lists_with()
            with check(ONE_ENTRY_A_CONTEXT):
                assert (list(served), frames) == (["a", "old"], 0)
            await other.call(served["a"], "n1")
            await one.call((await one.list())["a"], "n2")
            with check(CALLS_ARE_NEVER_SHARED):
                calls = [frame.connection for frame in server.ledger.calls()]
                assert calls == [second, first], "a call went out on another user's connection"
            await one.does("tools_changed")
            mark = server.ledger.mark
            await other.list()
            with check(WHO_NEEDS_THE_LIST_LISTS):
                asked = [frame.connection for frame in server.ledger.listings(since=mark)]
                assert asked == [second], f"asked for on {asked}, needed on connection {second}"


@scenario(WHO_NEEDS_THE_LIST_LISTS, eras=HANDSHAKE)
async def user_who_made_the_entry_leaves(server: ScriptedServer, connect: Connect) -> None:
    """The conversation that listed first is over; the list lapses, and another one needs it."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 100)
        async with _user(wrapper, server, shared, ttl=TTL) as other:
            async with _user(wrapper, server, shared, ttl=TTL) as one:
                await one.list()
            await asyncio.sleep(TTL)
            with check(WHO_NEEDS_THE_LIST_LISTS):
                served, frames = await other.lists_with()
                assert (list(served), frames) == (["a", "old"], 1)


@scenario(BINDINGS_OF_A_DROPPED_ENTRY_ARE_REFUSED, ENTRY_MADE_AGAIN_IS_A_NEW_LIST, eras=HANDSHAKE)
async def entry_that_is_dropped(server: ScriptedServer, connect: Connect) -> None:
    """There is room for one entry; another context takes it, and then the first one takes it again."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(1, 100)
        async with _user(wrapper, server, shared, "x") as one, _user(wrapper, server, shared, "y") as other:
            old = (await one.list())["a"]
            await other.list()
            with check(BINDINGS_OF_A_DROPPED_ENTRY_ARE_REFUSED):
                assert await one.refuses(old, "n1"), "called by a binding of an entry that was dropped"
            new, frames = await one.lists_with()
            reached(frames == 1, "the entry that was dropped is still served")
            with check(ENTRY_MADE_AGAIN_IS_A_NEW_LIST):
                assert await one.refuses(old, "n2"), "a binding of the dropped entry fits the new one"
                assert (await one.call(new["a"], "n3")).ok


@scenario(DROPPED_LISTING_REACHES_NO_OTHER_ENTRY, eras=HANDSHAKE)
async def listing_for_an_entry_that_is_dropped(server: ScriptedServer, connect: Connect) -> None:
    """A listing is held; its entry is dropped and made again, and listed anew; then the held answer comes."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(1, 100)
        async with (
            _user(wrapper, server, shared, "x") as one,
            _user(wrapper, server, shared, "y") as between,
            _user(wrapper, server, shared, "x") as other,
        ):
            with server.holding("tools/list") as gate:
                listing = one.start_listing()
                late = await gate.arrived()
                gate.open()
                await between.list()
                server.has_tools(*V2)
                await other.list()
                late.release()
                with check(DROPPED_LISTING_REACHES_NO_OTHER_ENTRY):
                    assert list(await listing.result()) == ["a", "new"], "served from the dropped entry"
                    served, frames = await other.lists_with()
                    assert (list(served), frames) == (["a", "new"], 0), "written to the entry made since"


@scenario(LONG_LIST_IS_NOT_SHARED, eras=HANDSHAKE, variants=("at_the_bound", "above_it"))
async def list_at_the_bound_and_above(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A list has as many tools as may be shared, or one more; two conversations need it, again and again."""
    names = ["a", "b", "c"] if how == "at_the_bound" else ["a", "b", "c", "d"]
    server.has_tools(*names)
    each = 0 if how == "at_the_bound" else 1

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 3)
        async with _user(wrapper, server, shared) as one, _user(wrapper, server, shared) as other:
            with check(LONG_LIST_IS_NOT_SHARED):
                served, frames = await one.lists_with()
                assert (list(served), frames) == (names, 1)
                served, frames = await other.lists_with()
                assert (list(served), frames) == (names, each)
                assert (await one.lists_with())[1] == 0, "its own client does not keep it"
                assert (await other.call(served[names[-1]], "n1")).ok
            reached(server.ledger.listings(), "no listing reached the server")


@scenario(LONG_LIST_IS_NOT_SHARED, eras=HANDSHAKE)
async def two_users_wait_for_a_long_list(server: ScriptedServer, connect: Connect) -> None:
    """Two conversations wait for one listing; it turns out too long to be shared, and is kept for no time."""
    server.has_tools("a", "b", "c", "d")

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 3)
        async with (
            _user(wrapper, server, shared, ttl=0.0) as one,
            _user(wrapper, server, shared, ttl=0.0) as other,
        ):
            with server.holding("tools/list") as gate:
                listings = [one.start_listing()]
                await gate.arrived()
                listings.append(other.start_listing())
                await server.settle()
                gate.open()
                gate.release_all()
                with check(LONG_LIST_IS_NOT_SHARED):
                    for each in listings:
                        assert list(await each.result()) == ["a", "b", "c", "d"]


@scenario(LIST_THAT_GREW_TOO_LONG_IS_SERVED_NO_MORE, eras=HANDSHAKE)
async def shared_list_that_grows(server: ScriptedServer, connect: Connect) -> None:
    """Two conversations share a list; it lapses, and has one tool too many when it comes again."""
    server.has_tools("a", "b", "c")

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 3)
        async with (
            _user(wrapper, server, shared, ttl=TTL) as one,
            _user(wrapper, server, shared, ttl=TTL) as other,
        ):
            await one.list()
            old = (await other.list())["a"]
            server.has_tools("a", "b", "c", "d")
            await asyncio.sleep(TTL)
            reached(len(await one.list()) == 4, "the longer list was not served to who listed it")
            with check(LIST_THAT_GREW_TOO_LONG_IS_SERVED_NO_MORE):
                assert await other.refuses(old, "n1"), "called by a binding of the short list"
                served, frames = await other.lists_with()
                assert (list(served), frames) == (["a", "b", "c", "d"], 1)
                assert (await other.call(served["d"], "n2")).ok


@scenario(ONLY_A_WHOLE_LIST_IS_SHARED, eras=HANDSHAKE)
async def list_with_an_odd_entry(server: ScriptedServer, connect: Connect) -> None:
    """One entry of a list holds a number that JSON does not have; two conversations need the list."""
    odd = tool("odd", _meta={"limit": math.inf})
    server.has_tools("a", odd, "z")

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 100)
        async with _user(wrapper, server, shared) as one, _user(wrapper, server, shared) as other:
            reached("a" in await one.list(), "the good tools were not served")
            with check(ONLY_A_WHOLE_LIST_IS_SHARED):
                served, frames = await other.lists_with()
                assert frames == 1, "part of a list was shared as if it were the whole"
                assert list(served) == ["a", "z"]


@scenario(NOTICE_ON_ANY_CLIENT_IS_FOR_ALL, eras=HANDSHAKE)
async def notice_on_one_of_two_clients(server: ScriptedServer, connect: Connect) -> None:
    """Two conversations share a list; the server tells one of them that its tools changed."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 100)
        async with _user(wrapper, server, shared) as one, _user(wrapper, server, shared) as other:
            told = server.connections[-2]
            await one.list()
            old = (await other.list())["a"]
            reached(await server.notify_list_changed(connections=[told]), "no channel for a notice")
            with check(NOTICE_ON_ANY_CLIENT_IS_FOR_ALL):
                assert await other.refuses(old, "n1"), "called by a binding of before the notice"
                assert (await other.lists_with())[1] == 1, "served from before the notice"


@scenario(NOTICE_ON_ANY_CLIENT_IS_FOR_ALL, eras=HANDSHAKE)
async def notice_under_the_long_listing_of_another(server: ScriptedServer, connect: Connect) -> None:
    """One conversation lists what will be too long to be shared; the server tells another one of a change."""
    server.has_tools("first")

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 1)
        async with _user(wrapper, server, shared) as one, _user(wrapper, server, shared) as other:
            told = server.connections[-1]
            await other.list()
            await one.does("tools_changed")
            server.has_tools(*V1)
            with server.holding("tools/list") as gate:
                listing = one.start_listing()
                late = await gate.arrived()
                server.has_tools(*V2)
                gate.open()
                reached(await server.notify_list_changed(connections=[told]), "no channel for a notice")
                late.release()
                with check(NOTICE_ON_ANY_CLIENT_IS_FOR_ALL):
                    assert list(await listing.result()) == ["a", "new"], "served from before the notice"
                    served, frames = await one.lists_with()
                    assert (list(served), frames) == (["a", "new"], 0), "kept from before the notice"


@scenario(DEAD_LISTER_LEAVES_THE_LIST_TO_THE_OTHERS, eras=HANDSHAKE, variants=("dropped", "over", "silent"))
async def user_who_lists_is_gone(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Two conversations wait for one listing; the connection that it is on is lost, or closed, or silent."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 100)
        async with _user(wrapper, server, shared) as other:
            async with _user(wrapper, server, shared) as one:
                lister = server.connections[-1]
                with server.holding("tools/list") as gate:
                    listing = one.start_listing()
                    held = await gate.arrived()
                    waiting = other.start_listing()
                    await server.settle()
                    reached(len(gate.held) == 1, "the second conversation did not wait for the first")
                    gate.open()
                    held.drop()
                    if how == "dropped":
                        lister.drop()
                    if how == "silent":
                        await waiting.ended()
            await listing.ended()
            with check(DEAD_LISTER_LEAVES_THE_LIST_TO_THE_OTHERS):
                assert list(await waiting.result()) == ["a", "old"]
                assert (await other.lists_with())[1] == 0, "the entry is of no use any more"


@scenario(FAILED_ENTRIES_PUSH_OUT_NO_GOOD_ONE, eras=HANDSHAKE)
async def contexts_that_fail(server: ScriptedServer, connect: Connect) -> None:
    """There is room for three entries, and two are good; the listings of three more contexts fail."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(3, 100)
        async with _user(wrapper, server, shared, "x") as one, _user(wrapper, server, shared, "y") as other:
            await one.list()
            await other.list()
            for context in ("p", "q", "r"):
                server.fails("tools/list")
                async with _user(wrapper, server, shared, context) as failing:
                    listing = failing.start_listing()
                    await listing.ended()
                    reached(listing.error is not None, "the listing did not fail")
            with check(FAILED_ENTRIES_PUSH_OUT_NO_GOOD_ONE):
                frames = [(await each.lists_with())[1] for each in (one, other)]
                assert frames == [0, 0], "good entries were pushed out by what failed"


# -- the entries by themselves


@scenario(ENTRIES_ARE_BOUNDED, A_HIT_IS_A_USE, PEEK_MAKES_NOTHING, eras=HANDSHAKE)
async def more_contexts_than_entries(server: ScriptedServer, connect: Connect) -> None:
    """There is room for three entries; a fourth context comes, an old one is used, a fifth comes."""
    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(3, 100)

        def there(*contexts: str) -> list[str]:
            return [each for each in contexts if shared.peek(each, "t") is not None]

        made = {each: shared.entry_for(each, "t") for each in "abc"}
        with check(PEEK_MAKES_NOTHING):
            assert shared.peek("z", "t") is None
            assert shared.size == 3, "looking made an entry"
            assert there(*"abc") == ["a", "b", "c"], "looking pushed an entry out"
        shared.entry_for("d", "t")
        with check(ENTRIES_ARE_BOUNDED):
            assert shared.size == 3
            assert there(*"abcd") == ["b", "c", "d"], "the least recently used goes first"
        with check(A_HIT_IS_A_USE):
            assert shared.entry_for("b", "t").list is made["b"].list, "a hit made another entry"
            shared.entry_for("e", "t")
            assert there(*"bcde") == ["b", "d", "e"], "b was used, and c was not"


@scenario(INVALIDATION_HITS_WHAT_MATCHES, eras=HANDSHAKE)
async def invalidation_of_one_tenant(server: ScriptedServer, connect: Connect) -> None:
    """Two tenants have two entries each; those of one tenant are invalidated."""
    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 100)
        entries = [(tenant, shared.entry_for(each, tenant).list) for each in "xy" for tenant in ("t", "u")]
        before = [known.generation for _, known in entries]
        shared.invalidate(lambda entry: entry.tenant == "t")
        with check(INVALIDATION_HITS_WHAT_MATCHES):
            moved = [known.generation != was for (_, known), was in zip(entries, before, strict=True)]
            assert moved == [tenant == "t" for tenant, _ in entries], "not the entries of that tenant"


PAIRS = (
    (("c", "a/b"), ("b/c", "a")),
    (("c", "a:b"), ("b:c", "a")),
    (("c", "a|b"), ("b|c", "a")),
    (("c", "a\nb"), ("b\nc", "a")),
    (("c", "a\0b"), ("b\0c", "a")),
    (("c", 'a","b'), ('b","c', "a")),
    (("", "ab"), ("b", "a")),
    (("x", "t"), ("x", "u")),
    (("x", ""), ("x", "None")),
)


@scenario(TENANTS_NEVER_SHARE_AN_ENTRY, eras=HANDSHAKE)
async def tenants_with_separators_in_their_names(server: ScriptedServer, connect: Connect) -> None:
    """Pairs of contexts and tenants that read the same once they are joined."""
    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(100, 100)
        with check(TENANTS_NEVER_SHARE_AN_ENTRY):
            for one, other in PAIRS:
                lists = [shared.entry_for(*each).list for each in (one, other)]
                assert lists[0] is not lists[1], f"{one} and {other} share an entry"
                assert lists[0].id != lists[1].id
                assert [shared.peek(*each).tenant for each in (one, other)] == [one[1], other[1]]
