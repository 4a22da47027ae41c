"""Wrong wrappers of PAG."""

from __future__ import annotations

import json

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.contract.pagination import (
    BROKEN_WALK_IS_A_FAILED_LIST,
    CURSOR_GOES_BACK_UNCHANGED,
    EMPTY_CURSOR_IS_FOLLOWED,
    LIST_HOLDS_ALL_PAGES,
    NO_PAGE_SIZE_ENDS_THE_WALK,
    REPEATING_CURSOR_ENDS_THE_WALK,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


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


@breaks(EMPTY_CURSOR_IS_FOLLOWED)
class EmptyCursorEndsTheWalk(Client):
    """Whether there is a next page is asked of the cursor's truth."""

    class walk_type(Walk):
        def ends(self, page):
            return not page.next_cursor


@breaks(REPEATING_CURSOR_ENDS_THE_WALK)
class WalksInCircles(Client):
    """Nothing bounds a walk."""

    class walk_type(Walk):
        def bound(self, cursor, asked, pages):
            pass


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
