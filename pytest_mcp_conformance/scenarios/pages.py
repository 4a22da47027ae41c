"""Scenarios of CCH about pages that are kept: each has a lifetime of its own, and a cursor that may die."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pytest_mcp_conformance.contract import Rule
from pytest_mcp_conformance.contract.caching import (
    DEAD_CURSOR_DROPS_ALL_KEPT_PAGES,
    EACH_PAGE_HAS_ITS_OWN_LIFETIME,
    SNAPSHOT_STARTS_OVER_WHEN_A_PAGE_IS_STALE,
    STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._first_page import FIRST_PAGE_ONLY, names_a_page
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import VerbFailed, check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import all_names
from pytest_mcp_conformance.server import ABSENT, FAULTS, HOUR_MS, ScriptedServer

SECOND_MS = 1_000
INVALID_CURSOR = replace(FAULTS["error"], code=-32602, text="Invalid cursor")


@scenario(STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST)
async def cursor_that_names_another_page(server: ScriptedServer, connect: Connect) -> None:
    """The first page lapses, and the new one goes on to another second page than before."""
    server.ttl_ms = lambda cursor: SECOND_MS if cursor is ABSENT else HOUR_MS
    server.pages(["a"], ["b"])

    async with connect(server) as wrapper:
        with check(STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST):
            names = await all_names(wrapper)
            if names == ["a"]:
                leave_out(STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST, FIRST_PAGE_ONLY)
                return
            assert names == ["a", "b"]
        server.pages(["a"], ["c"], cursors=["c3"])
        mark = server.ledger.mark
        if wrapper.claims.makes("clock"):
            await asyncio.sleep(1.0)
        else:
            await wrapper.make_stale()
        names = await all_names(wrapper)
        if not server.ledger.listings(since=mark):
            leave_out(STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST, "keeps the first page past its lifetime")
            return
        with check(STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST):
            assert names == ["a", "c"]


@scenario(EACH_PAGE_HAS_ITS_OWN_LIFETIME, variants=("first", "last"))
async def one_page_lapses(server: ScriptedServer, connect: Connect, which: str) -> None:
    """Of two pages one lives for a second and one for an hour; the short-lived one changes."""
    server.ttl_ms = lambda cursor: SECOND_MS if (cursor is ABSENT) == (which == "first") else HOUR_MS
    server.pages(["a"], ["b"])

    async with connect(server) as wrapper:
        if await _lists_the_first_page_only(wrapper, EACH_PAGE_HAS_ITS_OWN_LIFETIME):
            return
        changed = {"first": (["new"], ["b"]), "last": (["a"], ["new"])}[which]
        server.pages(*changed)
        await asyncio.sleep(1.0)
        with check(EACH_PAGE_HAS_ITS_OWN_LIFETIME):
            assert await all_names(wrapper) == sorted(name for page in changed for name in page)


@scenario(SNAPSHOT_STARTS_OVER_WHEN_A_PAGE_IS_STALE)
async def tool_moves_to_a_fresh_page(server: ScriptedServer, connect: Connect) -> None:
    """The second page lapses, and one of its tools has moved to the first, which is still fresh."""
    server.ttl_ms = lambda cursor: HOUR_MS if cursor is ABSENT else SECOND_MS
    server.pages(["a"], ["moving", "b"])

    async with connect(server) as wrapper:
        if await _lists_the_first_page_only(wrapper, SNAPSHOT_STARTS_OVER_WHEN_A_PAGE_IS_STALE):
            return
        server.pages(["a", "moving"], ["b"])
        await asyncio.sleep(1.0)
        mark = server.ledger.mark
        with check(SNAPSHOT_STARTS_OVER_WHEN_A_PAGE_IS_STALE):
            assert await wrapper.names() == ["a", "b", "moving"]
            asked = [frame.params.get("cursor") for frame in server.ledger.listings(since=mark)]
            assert asked[:1] == [None], f"the first page was not asked for: {asked}"


@scenario(DEAD_CURSOR_DROPS_ALL_KEPT_PAGES, variants=("once", "again"))
async def cursor_of_a_kept_page_dies(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The second page lapses, and its cursor is dead; or every cursor is, until the server is mended."""
    server.ttl_ms = lambda cursor: HOUR_MS if cursor is ABSENT else SECOND_MS
    server.pages(["a"], ["b"])

    async with connect(server) as wrapper:
        if await _lists_the_first_page_only(wrapper, DEAD_CURSOR_DROPS_ALL_KEPT_PAGES):
            return
        server.pages(["a", "new"], ["c"], cursors=["c3"])
        await asyncio.sleep(1.0)
        mark = server.ledger.mark
        if how == "again":
            server.suffers(INVALID_CURSOR, "page", times=float("inf"))
            with check(DEAD_CURSOR_DROPS_ALL_KEPT_PAGES):
                assert await _try_all_names(wrapper) in (None, ["a", "b"])
                walks = len(server.ledger.listings(since=mark)) - len(
                    server.ledger.frames("tools/list", since=mark, where=names_a_page)
                )
                assert walks <= 2, f"walked {walks} times against a server that refuses its own cursors"
            server.recovers()
        with check(DEAD_CURSOR_DROPS_ALL_KEPT_PAGES):
            served = await _try_all_names(wrapper)
            if served is None:  # the dead cursor may cost one listing
                served = await all_names(wrapper)
            assert served == ["a", "c", "new"]


async def _lists_the_first_page_only(wrapper: Holder, rule: Rule) -> bool:
    """True for a wrapper that does not follow pages, though it does not say so: then `rule` is left out."""
    names = await all_names(wrapper)
    if names == ["a"]:
        leave_out(rule, FIRST_PAGE_ONLY)
        return True
    reached("b" in names, f"the second page was not listed: {names}")
    return False


async def _try_all_names(wrapper: Holder) -> list[str] | None:
    """The names on all pages, or None where a page failed."""
    if wrapper.claims.makes("follows_pages"):
        return await wrapper.try_names()
    try:
        return await all_names(wrapper)
    except VerbFailed:
        return None
