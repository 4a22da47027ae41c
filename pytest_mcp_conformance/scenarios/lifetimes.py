"""Scenarios of CCH in which time passes: how long a listing is fresh."""

from __future__ import annotations

import asyncio

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract.caching import (
    ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY,
    EXPIRY_STARTS_NO_REFETCH,
    LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS,
    LIFETIME_COUNTS_FROM_RECEIPT,
    NEGATIVE_LIFETIME_COUNTS_AS_ZERO,
    ZERO_LIFETIME_IS_STALE_AT_ONCE,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import arrives_or_ends
from pytest_mcp_conformance.server import ABSENT, V1, V2, ScriptedServer

MINUTE_MS = 60_000
SECOND_MS = 1_000

POLLS = "polls: lists by a timer, so that no listing is left to its lifetime"


@scenario(ZERO_LIFETIME_IS_STALE_AT_ONCE)
async def listing_with_no_time_to_live(server: ScriptedServer, connect: Connect) -> None:
    """The server gives its list a lifetime of 0, and changes its tools without a word."""
    server.ttl_ms = 0
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        mark = server.ledger.mark
        with check(ZERO_LIFETIME_IS_STALE_AT_ONCE):
            assert await wrapper.names() == ["a", "new"]
            assert server.ledger.listings(since=mark), "the server was not asked"


@scenario(NEGATIVE_LIFETIME_COUNTS_AS_ZERO)
async def listing_with_a_negative_lifetime(server: ScriptedServer, connect: Connect) -> None:
    """Three listings with lifetimes below zero, and the tools are others each time."""
    server.ttl_ms = 0
    server.has_tools("at_connect")

    async with connect(server) as wrapper:
        for lifetime, name in ((-1, "first"), (-(2**53), "second"), (-MINUTE_MS, "third")):
            server.ttl_ms = lifetime
            server.has_tools(name)
            mark = server.ledger.mark
            with check(NEGATIVE_LIFETIME_COUNTS_AS_ZERO):
                assert await wrapper.names() == [name]
                assert server.ledger.listings(since=mark), f"ttlMs {lifetime}: the server was not asked"


@scenario(LIFETIME_COUNTS_FROM_RECEIPT)
async def lifetime_of_a_slow_answer(server: ScriptedServer, connect: Connect) -> None:
    """A listing that lives for a minute is answered late; it is used shortly before its time is over."""
    server.ttl_ms = MINUTE_MS
    server.has_tools(*V1)
    if connect.claims.makes("polls"):
        leave_out(LIFETIME_COUNTS_FROM_RECEIPT, POLLS)
        return
    late = min(10.0, (connect.claims.own_timeout or 20.0) / 2)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await asyncio.sleep(60.0)
        with server.holding("tools/list") as gate:
            listing = wrapper.start_listing()
            asked = await arrives_or_ends(gate, listing)
            with check(LIFETIME_COUNTS_FROM_RECEIPT):
                assert asked, "a listing of a minute ago is served, and lived for a minute"
            await asyncio.sleep(late)
        await listing.result()

        await asyncio.sleep(60.0 - late / 2)
        mark = server.ledger.mark
        with check(LIFETIME_COUNTS_FROM_RECEIPT):
            assert await wrapper.names() == ["a", "old"]
            assert not server.ledger.listings(since=mark), (
                f"asked again {late / 2:g} s before the end of its lifetime; its answer took {late:g} s"
            )
        await asyncio.sleep(late)
        with check(LIFETIME_COUNTS_FROM_RECEIPT):
            assert await wrapper.names() == ["a", "old"]
            assert server.ledger.listings(since=mark), (
                f"served {late / 2:g} s past the end of its lifetime, in which it was used once"
            )


@scenario(LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS)
async def listing_at_the_end_of_its_lifetime(server: ScriptedServer, connect: Connect) -> None:
    """A listing is used a second before it lapses, and in the moment in which it does."""
    server.ttl_ms = MINUTE_MS
    server.has_tools(*V1)
    if connect.claims.makes("polls"):
        leave_out(LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS, POLLS)
        return

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await asyncio.sleep(61.0)
        await wrapper.list_tools()  # nothing is left of what was listed at connect
        mark = server.ledger.mark
        await asyncio.sleep(59.0)
        with check(LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS):
            assert await wrapper.names() == ["a", "old"]
            assert not server.ledger.listings(since=mark), "asked again a second before the lapse"
        server.has_tools(*V2)
        mark = server.ledger.mark
        await asyncio.sleep(1.0)
        await server.settle()
        with check(LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS):
            assert not server.ledger.listings(since=mark), "asked again before anybody wanted the list"
            assert await wrapper.names() == ["a", "new"], "at an age of exactly its lifetime"
            assert server.ledger.listings(since=mark), "the server was not asked"


@scenario(EXPIRY_STARTS_NO_REFETCH)
async def idle_past_the_lifetime(server: ScriptedServer, connect: Connect) -> None:
    """A listing lives for a second, and for the next twenty nobody uses the wrapper."""
    server.ttl_ms = SECOND_MS
    server.has_tools(*V1)

    if connect.claims.makes("polls"):
        leave_out(EXPIRY_STARTS_NO_REFETCH, POLLS)
        return

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        reached(server.ledger.listings(), "no listing reached the server")
        mark = server.ledger.mark
        for _ in range(20):
            await asyncio.sleep(1.0)
            await server.settle()
        with check(EXPIRY_STARTS_NO_REFETCH):
            asked = len(server.ledger.listings(since=mark))
            assert not asked, f"{asked} tools/list in twenty seconds in which nobody used the wrapper"


@scenario(ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY)
async def listing_without_a_lifetime(server: ScriptedServer, connect: Connect) -> None:
    """The server says nothing of a lifetime and changes its tools; a wrapper may have a policy of its own.

    Whatever that is, it is one that ends: by a notice, or when the user says so.
    """
    server.ttl_ms = ABSENT
    server.has_tools(*V1)

    wrapper = await connect.attempt(server)
    reached(wrapper.error is None or server.ledger.listings(), "connect failed, and nothing was listed")
    with check(ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY):
        assert wrapper.error is None, f"connect, which lists, raised {describe(wrapper.error)}"
        assert await wrapper.names() == ["a", "old"]
        server.has_tools(*V2)
        mark = server.ledger.mark
        served = await wrapper.names()
        if wrapper.claims.makes("caches_listings") and not server.ledger.listings(since=mark):
            await wrapper.make_stale()
            served = await wrapper.names()
        assert "new" in served
        assert server.ledger.listings(since=mark), "the server was not asked"
