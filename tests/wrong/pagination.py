"""Wrong wrappers of PAG."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.contract.pagination import (
    BROKEN_WALK_IS_A_FAILED_LIST,
    CURSOR_DIES_WITH_ITS_SESSION,
    CURSOR_GOES_BACK_UNCHANGED,
    EMPTY_CURSOR_IS_FOLLOWED,
    EMPTY_CURSOR_IS_FOLLOWED_ONCE,
    EMPTY_CURSOR_STILL_ENDS_THE_WALK,
    ENDLESS_WALK_IS_BOUNDED,
    LIST_HOLDS_ALL_PAGES,
    NO_PAGE_SIZE_ENDS_THE_WALK,
    REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE,
    REPEATING_CURSOR_ENDS_THE_WALK,
    WALK_ACROSS_A_NOTICE_IS_NOT_KEPT,
)
from tests.wrong._client import Client
from tests.wrong._single_pages import GivesSinglePages
from tests.wrong._wrong import breaks

INVALID_PARAMS = -32602


@breaks(LIST_HOLDS_ALL_PAGES)
class FirstPageOnly(Client):
    """The first page is taken for the list."""

    class walk_type(Walk):
        def ends(self, page):
            return True


@breaks(CURSOR_GOES_BACK_UNCHANGED)
class CursorIsTrimmed(Client):
    """Blanks around a cursor are taken off."""

    class walk_type(Walk):
        def params(self, cursor):
            return {} if cursor is None else {"cursor": cursor.strip()}


@breaks(CURSOR_GOES_BACK_UNCHANGED)
class CursorIsParsed(Client):
    """A cursor that reads as JSON is sent as the value."""

    class walk_type(Walk):
        def params(self, cursor):
            try:
                return {} if cursor is None else {"cursor": str(json.loads(cursor))}
            except ValueError:
                return {"cursor": cursor}


@breaks(CURSOR_GOES_BACK_UNCHANGED)
class CursorIsCut(Client):
    """A cursor is cut to what a column of a table holds."""

    class walk_type(Walk):
        def params(self, cursor):
            return {} if cursor is None else {"cursor": cursor[:255]}


@breaks(CURSOR_GOES_BACK_UNCHANGED)
class PageIsAskedForWithoutItsCursor(GivesSinglePages):
    """The cursor of a single page is taken, and page one comes again."""

    def asked_for(self, cursor):
        return None


@breaks(EMPTY_CURSOR_IS_FOLLOWED)
class EmptyCursorEndsTheWalk(Client):
    """Whether there is a next page is asked of the cursor's truth."""

    class walk_type(Walk):
        def ends(self, page):
            return not page.next_cursor


@breaks(EMPTY_CURSOR_STILL_ENDS_THE_WALK)
class FollowsEmptyCursorsForEver(Client):
    """Empty cursors are followed, and the guard against repeated ones takes them for none."""

    class walk_type(Walk):
        def ends(self, page):
            return page.next_cursor is None

        def bound(self, cursor, asked, pages):
            if cursor:
                super().bound(cursor, asked, pages)


@breaks(EMPTY_CURSOR_STILL_ENDS_THE_WALK)
class EmptyCursorIsAFailure(Client):
    """An empty cursor makes the list fail."""

    class walk_type(Walk):
        def ends(self, page):
            if page.next_cursor == "":
                raise ListFailed("tools/list", "its nextCursor is empty")
            return super().ends(page)


@breaks(EMPTY_CURSOR_IS_FOLLOWED_ONCE)
class FollowsEmptyCursorsToTheLimit(Client):
    """Empty cursors are followed until there are too many pages, which is an error."""

    class walk_type(Walk):
        def ends(self, page):
            return page.next_cursor is None

        def bound(self, cursor, asked, pages):
            if len(pages) > 1000:
                raise ListFailed("tools/list", "more than 1000 pages")


@breaks(EMPTY_CURSOR_IS_FOLLOWED_ONCE)
class FollowsEmptyCursorsWithoutALimit(Client):
    """Empty cursors are followed, and nothing bounds a walk."""

    class walk_type(Walk):
        def ends(self, page):
            return page.next_cursor is None

        def bound(self, cursor, asked, pages):
            pass


@breaks(REPEATING_CURSOR_ENDS_THE_WALK)
class WalksInCircles(Client):
    """Nothing bounds a walk."""

    class walk_type(Walk):
        def bound(self, cursor, asked, pages):
            pass


@breaks(ENDLESS_WALK_IS_BOUNDED, own_timeout=None)
class GuardsAgainstCirclesAlone(Client):
    """A walk ends where a cursor comes again, and has no limit beside that."""

    def enter(self):
        self._settings = replace(self._settings, timeout=None, max_pages=sys.maxsize)


@breaks(ENDLESS_WALK_IS_BOUNDED)
class StopsWithoutAWord(Client):
    """A walk ends at a limit, and what was found until then is taken for the list."""

    class walk_type(Walk):
        followed = 0

        def ends(self, page):
            self.followed += 1
            return super().ends(page) or self.followed == 100


@breaks(NO_PAGE_SIZE_ENDS_THE_WALK)
class EmptyPageEndsTheWalk(Client):
    """A page without tools is taken for the last one."""

    class walk_type(Walk):
        def ends(self, page):
            return super().ends(page) or not page.entries


@breaks(NO_PAGE_SIZE_ENDS_THE_WALK)
class ShortPageEndsTheWalk(Client):
    """A page with fewer tools than the first is taken for the last one."""

    class walk_type(Walk):
        full = 0

        def ends(self, page):
            self.full = self.full or len(page.entries)
            return super().ends(page) or len(page.entries) < self.full


@breaks(BROKEN_WALK_IS_A_FAILED_LIST)
class PartOfAWalkIsAList(Client):
    """A walk that fails part way gives what it has."""

    class walk_type(Walk):
        async def page(self, cursor):
            try:
                self.last = await super().page(cursor)
            except ListFailed:
                if cursor is None:
                    raise
                return self.last._replace(entries=[], next_cursor=None)
            return self.last


@breaks(WALK_ACROSS_A_NOTICE_IS_NOT_KEPT)
class EachPageIsOfItsOwnTime(Client):
    """Whether a change came is asked of each page alone."""

    def walk_type(self, *parts):
        tools = self._life.tools

        class ByPage(Walk):
            async def page(self, cursor):
                _asks_now(tools, tools._latest)
                return await super().page(cursor)

        return ByPage(*parts[:-1], lambda: False)


@breaks(WALK_ACROSS_A_NOTICE_IS_NOT_KEPT)
class LooksBeforeTheLastPage(Client):
    """Whether a change came is asked before each page, and not at the end."""

    class tool_list_type(ToolList):
        def write(self, flight, listing):
            _asks_now(self, flight)
            return super().write(flight, listing)


def _asks_now(tools, flight):
    """Have a walk count as one that asks for its first page now."""
    flight.leaves(flight.connection, tools.listed.generation)


@breaks(REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE)
class StartsOverForEver(Client):
    """A refused cursor starts the walk anew, each time."""

    class walk_type(Walk):
        async def listing(self):
            try:
                return await super().listing()
            except ListFailed as error:
                if error.code != INVALID_PARAMS:
                    raise
                return await self.listing()


@breaks(REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE)
class RefusedCursorEndsTheWalk(Client):
    """A refused cursor is taken for the end of the list."""

    class walk_type(Walk):
        async def page(self, cursor):
            try:
                self.last = await super().page(cursor)
            except ListFailed as error:
                if cursor is None or error.code != INVALID_PARAMS:
                    raise
                return self.last._replace(entries=[], next_cursor=None)
            return self.last


@breaks(CURSOR_DIES_WITH_ITS_SESSION)
class GoesOnWhereItWas(Client):
    """A walk that a lost connection broke goes on in the next session."""

    def enter(self):
        self.left = None

    def walk_type(self, *parts):
        client = self

        class GoingOn(Walk):
            async def page(self, cursor):
                if cursor is None:
                    cursor = client.left
                client.left = cursor
                page = await super().page(cursor)
                client.left = None
                return page

        return GoingOn(*parts)
