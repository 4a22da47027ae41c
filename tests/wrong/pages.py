"""Wrong wrappers of CCH that keep pages."""

from __future__ import annotations

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.contract.caching import (
    DEAD_CURSOR_DROPS_ALL_KEPT_PAGES,
    EACH_PAGE_HAS_ITS_OWN_LIFETIME,
    SNAPSHOT_STARTS_OVER_WHEN_A_PAGE_IS_STALE,
    STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST,
)
from tests.wrong._client import Client
from tests.wrong._pages import KeepsPages
from tests.wrong._wrong import breaks


@breaks(STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST, snapshot_lists=False)
class PagesByMethod(KeepsPages):
    """Pages are kept under the method alone."""

    def key(self, coverage, asked, cursor):
        return coverage


@breaks(STORED_ANSWER_SERVES_ONLY_THE_SAME_REQUEST, snapshot_lists=False)
class PagesByPlace(KeepsPages):
    """Pages are kept under their place in the walk, whatever cursor led there."""

    def key(self, coverage, asked, cursor):
        return coverage, len(asked)


@breaks(EACH_PAGE_HAS_ITS_OWN_LIFETIME)
class FirstPageRules(Client):
    """The whole list lives as long as its first page."""

    class walk_type(Walk):
        def expiry(self, pages):
            return super().expiry(pages[:1])


@breaks(EACH_PAGE_HAS_ITS_OWN_LIFETIME)
class LastPageRules(Client):
    """The whole list lives as long as its last page."""

    class walk_type(Walk):
        def expiry(self, pages):
            return super().expiry(pages[-1:])


@breaks(SNAPSHOT_STARTS_OVER_WHEN_A_PAGE_IS_STALE)
class StitchesPages(KeepsPages):
    """Kept pages and new ones are put together, and the list is said to be of one moment."""


@breaks(DEAD_CURSOR_DROPS_ALL_KEPT_PAGES, snapshot_lists=False)
class AsksForTheDeadCursorAgain(KeepsPages):
    """A refused cursor makes the list fail, and what led to it is kept."""

    def walk_type(self, *parts):
        walk = super().walk_type(*parts)
        walk.broken_off = self.gives_up
        return walk

    async def gives_up(self, error):
        raise error


@breaks(DEAD_CURSOR_DROPS_ALL_KEPT_PAGES, snapshot_lists=False)
class WhatIsKeptIsTheList(KeepsPages):
    """A refused cursor is taken for the end of the list."""

    def walk_type(self, *parts):
        walk = super().walk_type(*parts)
        asked = walk.page

        async def page(cursor):
            try:
                walk.last = await asked(cursor)
            except ListFailed:
                if cursor is None:
                    raise
                return walk.last._replace(next_cursor=None)
            return walk.last

        walk.page = page
        return walk


@breaks(DEAD_CURSOR_DROPS_ALL_KEPT_PAGES, snapshot_lists=False)
class StartsOverAgainAndAgain(KeepsPages):
    """Each refused cursor starts the walk anew, up to a hundred times."""

    def walk_type(self, *parts):
        walk = super().walk_type(*parts)
        once, tries = walk.broken_off, iter(range(100))

        async def broken_off(error):
            if next(tries, None) is None:
                raise error
            try:
                return await once(error)
            except ListFailed as again:
                return await broken_off(again)

        walk.broken_off = broken_off
        return walk
