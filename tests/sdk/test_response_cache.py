"""The response cache of `Client` in mcp 2.x, and the output checks of the session beneath it."""

from __future__ import annotations

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.peer import HOUR_MS, Peer, tool
from tests.sdk.users import GONE, Outcome, Way, every_cache, second_only

pytestmark = second_only


@every_cache
def test_an_older_listing_answered_last_is_what_the_cache_serves(way: Way) -> None:
    assert run(two_listings, way, reverse=False) == (["new"], 0)
    assert run(two_listings, way, reverse=True, told=True) == (["new"], 0)
    assert run(two_listings, way, reverse=True) == (["old"], 0), GONE


async def two_listings(way: Way, *, reverse: bool, told: bool = False) -> tuple[list[str], int]:
    """Two listings are out at the same time, and between them the server may say that its tools changed.

    Gives what is served afterwards, and how many requests that took.
    """
    peer = Peer([[]], ttl_ms=HOUR_MS, holds={"tools/list"})
    async with way.connect(peer) as user, anyio.create_task_group() as tasks:
        for name in ("old", "new"):
            peer.has(tool(name))
            if told and name == "new":
                peer.notice()
                await quiet()
            tasks.start_soon(user.listing)
            await quiet()
        for parked in reversed(peer.parked) if reverse else peer.parked:
            parked.answer()
            await quiet()
        return await user.names(), len(peer.sent("tools/list")) - 2


@every_cache
def test_a_listing_that_the_cache_discards_refuses_a_good_answer(way: Way) -> None:
    assert run(overtaken_listing, way, "string", gives=1, answered=False).accepted
    assert run(overtaken_listing, way, "string", gives=1, answered=True).refused, GONE


@every_cache
def test_a_listing_that_the_cache_discards_lets_a_wrong_answer_through(way: Way) -> None:
    assert run(overtaken_listing, way, None, gives="wrong", answered=False).refused
    assert run(overtaken_listing, way, None, gives="wrong", answered=True).accepted, GONE


async def overtaken_listing(way: Way, overtaken: str | None, *, gives: object, answered: bool) -> Outcome:
    """A listing is overtaken by a notice, and then answered, or not at all.

    The tool gives an integer, by the listing before and by what the server has after it; `overtaken` is what
    the overtaken listing alone says of it.
    """
    peer = Peer([[tool("a", "integer")]], gives={"a": gives}, ttl_ms=HOUR_MS)
    async with way.connect(peer) as user:
        await user.listing()
        peer.has(tool("a", overtaken))
        peer.notice()
        await quiet()
        peer.holds.add("tools/list")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(user.listing)
            await quiet()
            [late] = peer.parked
            peer.holds.clear()
            peer.has(tool("a", "integer"))
            peer.notice()
            await quiet()
            if answered:
                late.answer()
                await quiet()
            tasks.cancel_scope.cancel()
        judged = await user.call("a")
        before = len(peer.sent("tools/list"))
        await user.listing()
        assert len(peer.sent("tools/list")) == before + 1, "the overtaken listing was kept"
        return judged


@every_cache
@pytest.mark.parametrize("past_the_cache", ["hidden", "bypass", "session"])
def test_a_listing_from_the_cache_brings_older_schemas_back(way: Way, past_the_cache: str) -> None:
    assert run(newer_listing_and_a_cache_hit, way, past_the_cache, hit=False).accepted
    assert run(newer_listing_and_a_cache_hit, way, "refresh", hit=True).accepted
    assert run(newer_listing_and_a_cache_hit, way, past_the_cache, hit=True).refused, GONE


async def newer_listing_and_a_cache_hit(way: Way, how: str, *, hit: bool) -> Outcome:
    """A listing is kept, the session takes a newer one, and the kept one is served again.

    The tool answers what only the newer listing allows.
    """
    peer = Peer([[tool("a", "integer")]], gives={"a": "x"}, ttl_ms=HOUR_MS)
    async with way.connect(peer) as user:
        await user.listing()
        peer.has(tool("a", "string"), tool("new"))
        if how == "hidden":
            assert (await user.call("new")).accepted
        elif how == "session":
            await user.sdk.session.list_tools()
        else:
            await user.listing(cache_mode=how)
        assert len(peer.sent("tools/list")) == 2
        assert (await user.call("a")).accepted
        if hit:
            await user.listing()
            assert len(peer.sent("tools/list")) == 2
        return await user.call("a")


@pytest.mark.parametrize("then", ["as before", "in a new subscription"])
@pytest.mark.parametrize("how", ["result", "cancelled", "error"])
def test_the_end_of_a_subscription_leaves_the_kept_listing_in_force(how: str, then: str) -> None:
    assert run(listing_after_a_subscription, how, then, told=True) == ["new"]
    assert run(listing_after_a_subscription, how, then, told=False, cache_mode="refresh") == ["new"]
    assert run(listing_after_a_subscription, how, then, told=False) == ["old"], GONE


async def listing_after_a_subscription(how: str, then: str, *, told: bool, **mode: str) -> list[str]:
    """The tools change, with or without a notice, and the subscription ends; the user lists again.

    In a new subscription it does so as the documentation of `Client.listen` says: listen again, fetch again.
    """
    from mcp.client.subscriptions import SubscriptionLost

    peer = Peer([[tool("old")]], ttl_ms=HOUR_MS)
    async with Way("client", "modern").connect(peer) as user:
        assert await user.names() == ["old"]
        lost = False
        try:
            async with user.sdk.listen(tools_list_changed=True) as subscription:
                peer.has(tool("new"))
                if told:
                    peer.notice()
                peer.end_streams(how)
                async for _ in subscription:
                    assert told
        except SubscriptionLost:
            lost = True
        assert lost == (how != "result")
        if then == "as before":
            return await user.names(**mode)
        async with user.sdk.listen(tools_list_changed=True):
            return await user.names(**mode)
