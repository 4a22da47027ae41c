"""Probes: what the wire says of a claim that the adapter does not make, or of an excuse that it makes.

Each gives `(wire, detail)`: whether the wrapper showed what the claim says, and what was seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from pytest_mcp_conformance.contract import ERAS
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import reached
from pytest_mcp_conformance.scenarios._scenario import Scenario
from pytest_mcp_conformance.scenarios._steps import elapsed
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, ScriptedServer

__all__ = ["BY_CLAIM"]

Seen = tuple[bool, str]
BY_CLAIM: dict[str, Scenario] = {}
"""The probes, by the name of their claim."""


def probe(claim: str) -> Callable[[Callable[..., Coroutine[Any, Any, Seen]]], Scenario]:
    """Declare the probe of `claim`."""

    def declare(play: Callable[..., Coroutine[Any, Any, Seen]]) -> Scenario:
        found = Scenario(
            f"claim_{claim}", (), play, (play.__doc__ or "").strip(), frozenset(ERAS), claim=claim
        )
        BY_CLAIM[claim] = found
        return found

    return declare


@probe("caches_listings")
async def listings_without_a_frame(server: ScriptedServer, connect: Connect) -> Seen:
    """List twice, with an hour to live and with nothing to live."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        for lifetime in (HOUR_MS, 0):
            server.ttl_ms = lifetime
            await wrapper.list_tools()
            mark = server.ledger.mark
            await wrapper.list_tools()
            if not server.ledger.listings(since=mark):
                return True, f"a second list_tools sent nothing (ttlMs {lifetime})"
    return False, "each list_tools asked the server"


@probe("reacts_to_list_changed")
async def reaction_to_a_notice(server: ScriptedServer, connect: Connect) -> Seen:
    """Change the tools, say so, and watch; then the same without a word, to see what the time alone does."""
    server.ttl_ms = 10 * HOUR_MS
    async with connect(server) as wrapper:
        server.has_tools(*V1)
        await wrapper.list_tools()
        await server.settle()
        if any(each.params.get("notifications", {}).get("toolsListChanged") for each in _listens(server)):
            return True, "it listens for changes of the tools"
    silent = await _after_a_change(server, connect, said=False)
    told = await _after_a_change(server, connect, said=True)
    if told and not silent:
        return True, f"a notice made it {told}"
    return False, "a notice changed nothing" if not told else f"it would {told} without a notice as well"


async def _after_a_change(server: ScriptedServer, connect: Connect, *, said: bool) -> str:
    """What a wrapper does after a change that it was told of, or not: in words, or empty."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        mark = server.ledger.mark
        await wrapper.list_tools()
        kept = not server.ledger.listings(since=mark)
        server.has_tools(*V2)
        mark = server.ledger.mark
        if said and not await server.notify_list_changed():
            return ""
        await asyncio.sleep(3600.0)
        if server.ledger.listings(since=mark):
            return "list by itself"
        await wrapper.list_tools()
        return "drop a kept list" if kept and server.ledger.listings(since=mark) else ""


@probe("polls")
async def listings_by_a_timer(server: ScriptedServer, connect: Connect) -> Seen:
    """List once, and watch for two minutes."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        mark = server.ledger.mark
        await asyncio.sleep(120.0)
        found = len(server.ledger.listings(since=mark))
    return found > 1, f"{found} tools/list in two quiet minutes"


@probe("follows_pages")
async def pages_of_a_listing(server: ScriptedServer, connect: Connect) -> Seen:
    """List three pages; who leaves pages to the user must give a way to the second one."""
    server.pages(["a"], ["b"], ["c"])
    async with connect(server) as wrapper:
        names = await wrapper.names()
        if names == ["a", "b", "c"]:
            return True, "list_tools returned all pages"
        if not wrapper.has("list_page"):
            return True, "page two cannot be reached: give the verb list_page, or follow the pages"
        tools, cursor = await wrapper.verb("list_page", None)
        reached(
            cursor == "c2", f"list_page gave {len(list(tools))} tools and the cursor {cursor!r}, not 'c2'"
        )
        await wrapper.verb("list_page", cursor)
        asked = [frame.params.get("cursor") for frame in server.ledger.listings()]
    return "c2" not in asked, f"list_tools returned {names}, list_page asked for {asked}"


@probe("lifetimes")
async def listing_that_may_not_be_kept(server: ScriptedServer, connect: Connect) -> Seen:
    """List with nothing to live, change the tools without a word, and list again."""
    server.ttl_ms = 0
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        mark = server.ledger.mark
        names = await wrapper.names()
        asked = len(server.ledger.listings(since=mark))
    return asked > 0, f"with a ttlMs of 0 a second list_tools sent {asked} tools/list, and returned {names}"


@probe("checks_output")
async def answer_against_its_schema(server: ScriptedServer, connect: Connect) -> Seen:
    """A listed tool answers wrongly."""
    server.has_tools(*V1)
    server.answers("a", "bad")
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("a", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
    return not outcome.ok, f"a wrong answer: {outcome}"


@probe("redials")
async def verbs_after_a_cut(server: ScriptedServer, connect: Connect) -> Seen:
    """Cut the connection, and list."""
    if server.era == "modern" and not connect.tells_of_a_loss:
        return False, "each request is one by itself, and there is no connection to replace"
    if connect.claims.makes("dials_per_operation"):
        return False, "each verb dials, whatever became of the connection before"
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = len(server.connections)
        server.drop()
        await server.settle()
        for _ in range(2):
            await wrapper.start_listing().ended()
        found = len(server.connections) - before
    return found > 0, f"{found} new connections after a cut and two list_tools"


@probe("own_timeout")
async def verb_against_a_silent_server(server: ScriptedServer, connect: Connect) -> Seen:
    """The server does not answer a call for an hour."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate, elapsed() as spent:
            call = wrapper.start_call("a", "n1")
            await gate.arrived()
            ended = await call.ended(3600.0)
            seconds = spent.seconds
            await call.cancel()
    return (
        ended,
        f"a call ended by itself after {seconds:g} s" if ended else "a call was still out after an hour",
    )


@probe("single_flight")
async def listings_at_once(server: ScriptedServer, connect: Connect) -> Seen:
    """Three listings at once, the first of them held. In the end even who sends one by one has sent all."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        mark = server.ledger.mark
        with server.holding("tools/list"):
            listings = [wrapper.start_listing() for _ in range(3)]
            await server.settle()
        failed = sum([not await listing.ended() or listing.error is not None for listing in listings])
        found = len(server.ledger.listings(since=mark))
    if failed:
        return False, f"{failed} of three list_tools at once failed"
    return found == 1, f"{found} tools/list for three list_tools at once"


@probe("lazy_connect")
async def frames_of_a_connect(server: ScriptedServer, connect: Connect) -> Seen:
    """Connect, and use nothing."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        await server.settle()
        quiet = not server.ledger.frames()
        await wrapper.list_tools()
    return quiet, "connect sent nothing" if quiet else "connect sent frames"


@probe("dials_per_operation")
async def connections_of_three_verbs(server: ScriptedServer, connect: Connect) -> Seen:
    """Three verbs, one after the other. A list that is kept needs no connection: a call takes its place."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        before = len(server.connections)
        for n in range(3):
            mark = server.ledger.mark
            await wrapper.list_tools()
            if not server.ledger.listings(since=mark):
                await wrapper.call("old", f"n{n}")
        found = len(server.connections) - before
    return found >= 3, f"{found} connections for three verbs"


def _listens(server: ScriptedServer) -> list[Any]:
    return server.ledger.frames("subscriptions/listen")
