"""Scenarios of CHK: whether an answer is held against the output schema of its tool."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_mcp_conformance.contract._tool import names_of
from pytest_mcp_conformance.contract.checks import (
    ANSWERS_ARE_JUDGED_BY_THE_NEWEST_LISTING,
    BROKEN_SCHEMA_TOUCHES_ONLY_ITS_OWN_TOOL,
    CACHE_HIT_LEAVES_THE_CHECKS_ALONE,
    DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE,
    FAILED_CHECK_IS_NOT_A_TRANSPORT_FAILURE,
    INVALID_STRUCTURED_CONTENT_IS_NOT_GOOD,
    MISSING_STRUCTURED_CONTENT_IS_NOT_GOOD,
    TOOLS_OF_EVERY_PAGE_ARE_CHECKED,
    VANISHED_TOOL_IS_NEVER_UNCHECKED,
)
from pytest_mcp_conformance.scenarios._channel import must_have_a_channel
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._first_page import names_a_page
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, ScriptedServer, tool

LATE = ["a", "other"]
"""What a listing holds that a second notice overtakes."""

UNCOMPILABLE: dict[str, Any] = {
    "pattern": {"type": "object", "properties": {"out": {"type": "string", "pattern": "("}}},
    "reference": {"type": "object", "properties": {"out": {"$ref": "#/$defs/missing"}}},
    "type": {"type": "object", "properties": {"out": {"type": "nonsense"}}},
}


@scenario(INVALID_STRUCTURED_CONTENT_IS_NOT_GOOD)
async def answer_of_the_wrong_type(server: ScriptedServer, connect: Connect) -> None:
    """A tool declares an integer and answers a text."""
    server.has_tools(*V1)
    server.answers("a", "bad")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("a", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(INVALID_STRUCTURED_CONTENT_IS_NOT_GOOD):
            assert not outcome.ok, f"handed out as good: {outcome}"


@scenario(MISSING_STRUCTURED_CONTENT_IS_NOT_GOOD)
async def answer_without_structured_content(server: ScriptedServer, connect: Connect) -> None:
    """A tool declares an output schema and answers text alone."""
    server.has_tools(*V1)
    server.answers("a", bare=True, text="all went well")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        outcome = await wrapper.call("a", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(MISSING_STRUCTURED_CONTENT_IS_NOT_GOOD):
            assert not outcome.ok, f"handed out as good: {outcome}"


@scenario(ANSWERS_ARE_JUDGED_BY_THE_NEWEST_LISTING)
async def schema_of_the_newest_listing(server: ScriptedServer, connect: Connect) -> None:
    """A tool gave an integer; the listing taken since says that it gives a text."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        await wrapper.take_newer("new")
        with check(ANSWERS_ARE_JUDGED_BY_THE_NEWEST_LISTING):
            outcome = await wrapper.call("a", "n1")
            assert outcome.ok, f"an answer that the newest listing allows: {outcome}"
            server.answers("a", 1)
            outcome = await wrapper.call("a", "n2")
            assert not outcome.ok, (
                f"an answer that only the older listing allows, handed out as good: {outcome}"
            )
        reached(server.ledger.calls("n1"), "the call was not sent")


@scenario(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE)
async def discarded_listing(server: ScriptedServer, connect: Connect) -> None:
    """A listing without the tool's schema is out when a second notice comes; its answer arrives all the same.

    That listing is thrown away: the next list asks the server again.
    """
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        if not await _served_from_a_cache(server, wrapper):
            leave_out(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE, "keeps no listing here: none is thrown away")
            return
        kept = wrapper.handle("a")
        with server.holding("tools/list") as gate:
            server.has_tools(*LATE)
            must_have_a_channel(server, await server.notify_list_changed())
            await wrapper.react()
            listing = wrapper.start_listing()
            late = await gate.arrived()
            server.has_tools(*V1)
            gate.open()
            await server.notify_list_changed()
            late.release()
            await server.settle()
        server.answers("a", "bad")
        outcome = await wrapper.call("a", "n1", handle=kept)
        if await listing.ended() and listing.error is None and names_of(await listing.result()) == LATE:
            leave_out(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE, "whoever had asked for that listing got it")
            return
        if await wrapper.names() == LATE:
            leave_out(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE, "the listing was kept, not thrown away")
            return
        with check(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE):
            assert not outcome.ok, f"judged by the listing that was thrown away: {outcome}"


@scenario(CACHE_HIT_LEAVES_THE_CHECKS_ALONE)
async def kept_listing_after_a_refresh(server: ScriptedServer, connect: Connect) -> None:
    """A listing is kept, a refresh takes a newer one, and the next list is answered from the cache."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        mark = server.ledger.mark
        await wrapper.verb("refresh")
        reached(server.ledger.listings(since=mark), "refresh sent no tools/list")
        if not await _served_from_a_cache(server, wrapper):
            leave_out(
                CACHE_HIT_LEAVES_THE_CHECKS_ALONE, "caches_listings: no listing was served from a cache here"
            )
            return
        with check(CACHE_HIT_LEAVES_THE_CHECKS_ALONE):
            outcome = await wrapper.call("a", "n1")
            assert outcome.ok, f"an answer that the refreshed listing allows: {outcome}"


@scenario(CACHE_HIT_LEAVES_THE_CHECKS_ALONE)
async def kept_listing_after_a_hidden_one(server: ScriptedServer, connect: Connect) -> None:
    """A listing is kept; a call of a tool that it does not name makes the wrapper take a newer one, unseen.

    An answer that the newer listing allows is accepted; then the kept listing is served once more.
    """
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        mark = server.ledger.mark
        await wrapper.call("new", "n0")
        if not server.ledger.listings(since=mark):
            leave_out(CACHE_HIT_LEAVES_THE_CHECKS_ALONE, "sends no listing of its own inside a call")
            return
        before = await wrapper.call("a", "n1")
        if not before.ok or not await _served_from_a_cache(server, wrapper):
            leave_out(
                CACHE_HIT_LEAVES_THE_CHECKS_ALONE, "judges by the listing that its user saw, or lists anew"
            )
            return
        with check(CACHE_HIT_LEAVES_THE_CHECKS_ALONE):
            after = await wrapper.call("a", "n2")
            assert after.ok, f"accepted before the cached listing was served, and now: {after}"


@scenario(BROKEN_SCHEMA_TOUCHES_ONLY_ITS_OWN_TOOL, variants=tuple(UNCOMPILABLE))
async def schema_that_does_not_compile(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Of three tools the middle one has an output schema that no validator can use."""
    server.has_tools(tool("a", "integer"), tool("bad", UNCOMPILABLE[how]), tool("z", "integer"))

    async with connect(server) as wrapper:
        with check(BROKEN_SCHEMA_TOUCHES_ONLY_ITS_OWN_TOOL):
            names = await wrapper.names()
            assert set(names) - {"bad"} == {"a", "z"}
            for name in ("a", "z"):
                server.answers(name, 1)
                outcome = await wrapper.call(name, f"{name}-good")
                assert outcome.ok, f"a good answer of {name}: {outcome}"
                server.answers(name, "bad")
                outcome = await wrapper.call(name, f"{name}-wrong")
                assert not outcome.ok, f"a wrong answer of {name}, handed out as good: {outcome}"
    reached(server.ledger.calls(), "no call was sent")


@scenario(TOOLS_OF_EVERY_PAGE_ARE_CHECKED, variants=("walk", "one_page_again", "hidden_listing"))
async def schemas_of_three_pages(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Three tools on three pages; the last one answers wrongly, after a walk, or never having been listed."""
    server.pages([tool("a", "integer")], [tool("b", "integer")], [tool("c", "integer")])
    for name in "abc":
        server.answers(name, "bad")

    async with connect(server) as wrapper:
        if how == "hidden_listing":
            await _call_of_an_unlisted_page(server, wrapper)
            return
        if not await _walk(wrapper):
            leave_out(TOOLS_OF_EVERY_PAGE_ARE_CHECKED, "follows_pages or list_page")
            return
        if not any(map(names_a_page, server.ledger.listings())):
            leave_out(
                TOOLS_OF_EVERY_PAGE_ARE_CHECKED, "asks for the first page alone, which is for other rules"
            )
            return
        if how == "one_page_again":
            if not wrapper.has("list_page"):
                leave_out(TOOLS_OF_EVERY_PAGE_ARE_CHECKED, "list_page")
                return
            await wrapper.verb("list_page", "c2")
        with check(TOOLS_OF_EVERY_PAGE_ARE_CHECKED):
            for name in "abc":
                outcome = await wrapper.call(name, f"{name}-{how}")
                assert not outcome.ok, f"a wrong answer of {name}, handed out as good: {outcome}"
        reached(server.ledger.calls(), "no call was sent")


async def _call_of_an_unlisted_page(server: ScriptedServer, wrapper: Holder) -> None:
    await wrapper.list_tools()
    mark = server.ledger.mark
    outcome = await wrapper.call("c", "n1")
    if not server.ledger.listings(since=mark):
        leave_out(TOOLS_OF_EVERY_PAGE_ARE_CHECKED, "sends no listing of its own for a call")
        return
    with check(TOOLS_OF_EVERY_PAGE_ARE_CHECKED):
        assert not outcome.ok, f"listed for the call of c, and handed its wrong answer out as good: {outcome}"


@scenario(VANISHED_TOOL_IS_NEVER_UNCHECKED)
async def tool_that_left_the_list(server: ScriptedServer, connect: Connect) -> None:
    """A tool that had a schema is not in the next listing; it is called as it was shown, and by name."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        kept = wrapper.handle("a")
        server.has_tools("other")
        server.answers("a", "bad")
        await wrapper.take_newer("other")
        outcome = await wrapper.call("a", "n1", handle=kept)
        with check(VANISHED_TOOL_IS_NEVER_UNCHECKED):
            assert not outcome.ok, f"let through unchecked: {outcome}"
            outcome = await wrapper.call("a", "n2")
            assert not outcome.ok, f"called by its name, and let through unchecked: {outcome}"


@scenario(FAILED_CHECK_IS_NOT_A_TRANSPORT_FAILURE)
async def failed_check_is_no_lost_connection(server: ScriptedServer, connect: Connect) -> None:
    """An answer breaks its schema; a minute later the same tool answers well."""
    server.has_tools(*V1)
    server.answers("a", "bad")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = wrapper.connections
        await wrapper.call("a", "n1")
        await asyncio.sleep(60.0)
        with check(FAILED_CHECK_IS_NOT_A_TRANSPORT_FAILURE):
            assert len(server.ledger.calls("n1")) == 1
            assert wrapper.same_connections(before), "dialled again"
            server.answers("a", 1)
            outcome = await wrapper.call("a", "n2")
            assert outcome.ok, f"a further call: {outcome}"


async def _served_from_a_cache(server: ScriptedServer, wrapper: Holder) -> bool:
    mark = server.ledger.mark
    await wrapper.list_tools()
    return not server.ledger.listings(since=mark)


async def _walk(wrapper: Holder) -> bool:
    if wrapper.claims.follows_pages:
        await wrapper.list_tools()
        return True
    if not wrapper.has("list_page"):
        return False
    cursor = None
    for _ in range(3):
        _, cursor = await wrapper.verb("list_page", cursor)
    return True
