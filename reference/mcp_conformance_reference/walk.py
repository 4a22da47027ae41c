"""One walk through the pages of `tools/list`, from the first request to a frozen listing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.definitions import Definition, definition_of
from mcp_conformance_reference.errors import ListFailed, RequestFailed, WalkUnbounded
from mcp_conformance_reference.sdk import header_fault
from mcp_conformance_reference.settings import Settings

__all__ = ["LeftOut", "Listing", "Page", "Walk"]


_LONGEST_MS = 10**15  # beyond it an integer may be too large for the clock's floats


class Page(NamedTuple):
    """One answered page.

    Attributes:
        entries: The raw entries.
        next_cursor: The cursor of the next page, or None.
        lifetime: How long the page may be used, in seconds from `received_at`.
        received_at: When its answer came, on the client's clock.
    """

    entries: list[Any]
    next_cursor: Any
    lifetime: float
    received_at: float


class LeftOut(NamedTuple):
    """An entry of a listing that is no tool, and why."""

    entry: Any
    reason: str


@dataclass(frozen=True)
class Listing:
    """One complete answer to `tools/list`, all its pages.

    Attributes:
        definitions: The tools in the server's order; one name may come twice.
        left_out: The entries that are no tools.
        expires_at: When it lapses, on the client's clock; None if only a notice ends it.
    """

    definitions: tuple[Definition, ...]
    left_out: tuple[LeftOut, ...]
    expires_at: float | None = None


class Walk:
    """Asks for page after page and makes one listing of them.

    Args:
        connection: Where to ask.
        settings: The client's measures.
        overtaken: Says whether a change was heard of since the walk began.
    """

    def __init__(self, connection: Connection, settings: Settings, overtaken: Callable[[], bool]) -> None:
        self._connection = connection
        self._settings = settings
        self._overtaken = overtaken

    async def listing(self) -> Listing | None:
        """Walk to the end.

        Returns:
            The listing; None if a change overtook the walk, so that its pages are not of one moment.

        Raises:
            ListFailed: A page failed, or the pages have no end. There is no partial listing.
            ConnectionLost: The connection ended under the walk.
        """
        pages: list[Page] = []
        asked: set[str | None] = {None}
        page = await self.page(None)
        pages.append(page)
        while not self.ends(page):
            if self._overtaken():
                return None
            self.bound(page.next_cursor, asked, pages)
            asked.add(page.next_cursor)
            page = await self.page(page.next_cursor)
            pages.append(page)
        definitions, left_out = self.collect(pages)
        return Listing(definitions, left_out, self.expiry(pages))

    async def page(self, cursor: str | None) -> Page:
        """Ask for one page."""
        try:
            raw = await self._connection.ask("tools/list", self.params(cursor))
        except RequestFailed as error:
            raise ListFailed.of("tools/list", error) from error
        return self.read(raw)

    def params(self, cursor: str | None) -> dict[str, Any]:
        """The params of one page's request: the cursor goes back as it came, the first page has none."""
        return {} if cursor is None else {"cursor": cursor}

    def read(self, raw: dict[str, Any]) -> Page:
        """Read one answer.

        Raises:
            ListFailed: The answer is no page.
        """
        kind = raw.get("resultType", "complete")
        entries = raw.get("tools")
        cursor = raw.get("nextCursor")
        if kind != "complete":
            raise ListFailed("tools/list", f"the result is of type {kind!r}, which is no listing")
        if not isinstance(entries, list):
            raise ListFailed("tools/list", f"its tools are {entries!r}, not a list")
        if cursor is not None and not isinstance(cursor, str):
            raise ListFailed("tools/list", f"its nextCursor is {cursor!r}, not a text")
        return Page(entries, cursor, self.lifetime(raw), self._settings.now())

    def lifetime(self, raw: dict[str, Any]) -> float:
        """How long the server says a page may be used, in seconds: nothing said, or nonsense, is no time."""
        ttl = raw.get("ttlMs")
        if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0:
            return 0.0
        return min(ttl, _LONGEST_MS) / 1000

    def ends(self, page: Page) -> bool:
        """Whether a page is the last: its size says nothing, only a missing cursor does.

        An empty cursor is a cursor in the modern era. The handshake era does not say, and servers of that era
        mean the end by it.
        """
        if page.next_cursor == "" and self._connection.session.era == "handshake":
            return True
        return page.next_cursor is None

    def bound(self, cursor: str, asked: set[str | None], pages: list[Page]) -> None:
        """Refuse to walk in circles, or for ever.

        Raises:
            WalkUnbounded: The cursor was followed before, or there are `max_pages` pages already.
        """
        if cursor in asked:
            raise WalkUnbounded("tools/list", f"the cursor {cursor!r} came twice: the pages go in circles")
        if len(pages) >= self._settings.max_pages:
            limit = self._settings.max_pages
            raise WalkUnbounded("tools/list", f"there are more than {limit} pages (max_pages)")

    def collect(self, pages: list[Page]) -> tuple[tuple[Definition, ...], tuple[LeftOut, ...]]:
        """The tools of all pages in the server's order, and what is no tool.

        Which of two entries of one name counts is for the list to say.
        """
        read = [self.read_entry(entry) for page in pages for entry in page.entries]
        tools = tuple(each for each in read if isinstance(each, Definition))
        return tools, tuple(each for each in read if isinstance(each, LeftOut))

    def read_entry(self, entry: Any) -> Definition | LeftOut:
        """Freeze one entry; one that is no tool takes nothing else down."""
        try:
            known = definition_of(entry)
            fault = self.header_fault(known)
            return known if fault is None else LeftOut(entry, fault)
        except ValueError as error:
            return LeftOut(entry, str(error))
        except RecursionError:
            return LeftOut(entry, "it is nested too deeply")

    def header_fault(self, known: Definition) -> str | None:
        """Why a tool's annotations of headers cannot be used: a modern client leaves such a tool out."""
        if not known.names_headers or self._connection.session.era == "handshake":
            return None
        return header_fault(known.listed["inputSchema"])

    def expiry(self, pages: list[Page]) -> float | None:
        """When the listing lapses: with the first page to lapse; never by time in the handshake era."""
        if self._connection.session.era == "handshake":
            return None
        return min(page.received_at + page.lifetime for page in pages)
