"""What ends a page's being good, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from pytest_mcp_conformance.history.entry import Listed
from pytest_mcp_conformance.history.model.pages import Page
from pytest_mcp_conformance.history.model.places import Holder
from pytest_mcp_conformance.history.model.promises import Promises

__all__ = ["Fates", "Stale", "Staleness", "Wanted"]

PATIENCE = 60.0
"""Seconds of real time in which a client may not have read, or done, what is under way."""


class Wanted(NamedTuple):
    """Somebody asked for the tools.

    Attributes:
        n: The number of the entry.
        at: When that was.
        rest: The number of the last entry that had surely been read by then.
        holder: Who asked.
    """

    n: int
    at: float
    rest: int
    holder: Holder


class Stale(NamedTuple):
    """A page that was of the past when a list was wanted.

    Attributes:
        page: The page.
        name: The fault of whoever serves it.
        rule: The rule.
        n: The number of what ended it.
        why: The same in words, with `{n}` and `{page}` for what they stand for here.
        by_change: Whether somebody had said that the list changed.
        tool: The tool that was served and stands on it.
        since: The number of what began to end it, where that took a while.
    """

    page: Page
    name: str
    rule: str
    n: int
    why: str
    by_change: bool = False
    tool: Listed = Listed("")
    since: int = 0

    @property
    def text(self) -> str:
        """What ended it, in words."""
        return self.why.format(n=self.n, page=self.page)


class Staleness:
    """Says whether a page was surely of the past when a list was wanted.

    Args:
        promises: What the wrapper is held to.
        virtual: Whether time stands still while anything is under way.
    """

    def __init__(self, promises: Promises, *, virtual: bool) -> None:
        self.promises = promises
        self._virtual = virtual
        self._slack = 0.0 if virtual else PATIENCE
        self._counts_time = promises.clock or not virtual

    def of(self, page: Page, wanted: Wanted) -> Stale | None:
        """Why a page was of the past; None where it may have been good."""
        if page.asked > wanted.n:
            return None
        stale = None
        if page.epoch.n:
            stale = self._noticed(page, wanted)
        if stale is None and wanted.holder.said:
            stale = self._told(page, wanted)
        if stale is not None or not (page.after or page.expires is not None or page.line.closed):
            return stale
        if not (0 < page.read < wanted.n or self._read(page.answered, page.at, wanted)):
            return None
        return self._superseded(page, wanted) or self._lapsed(page, wanted) or self._replaced(page, wanted)

    def _read(self, n: int, at: float, wanted: Wanted) -> bool:
        """Whether what was sent as entry `n` had surely been read when a list was wanted."""
        return 0 < n < wanted.n and (n <= wanted.rest or wanted.at > at + self._slack)

    def _noticed(self, page: Page, wanted: Wanted) -> Stale | None:
        n, delay = page.epoch.n, self.promises.reacts_to_list_changed
        if not 0 < n < wanted.n or delay is None:
            return None
        at = page.epoch.at
        if not (wanted.at > at + delay + self._slack or (delay == 0 and n <= wanted.rest)):
            return None
        return self._changed(
            page, wanted, n, n, "stale-after-notice", "CCH-12", "the notice #{n} had ended it"
        )

    def _told(self, page: Page, wanted: Wanted) -> Stale | None:
        holder = wanted.holder
        began, n = holder.invalidated
        if page.asked < began and n < wanted.n:
            why = "invalidate, which ended at #{n}, had ended it"
            return self._changed(page, wanted, began, n, "stale-after-invalidate", "CCH-24", why)
        began, n, before = holder.refreshed
        if (0 < page.answered <= before or 0 < page.read < began) and n < wanted.n:
            why = "refresh, which ended at #{n}, had ended it"
            return Stale(page, "stale-after-refresh", "CCH-24", n, why, since=began)
        return None

    def _changed(
        self, page: Page, wanted: Wanted, began: int, n: int, name: str, rule: str, why: str
    ) -> Stale:
        """A change was told of: before the answer it overtook the listing."""
        if not page.answered or page.answered > wanted.n:
            name, rule = "older-fetch-joined", "CCH-14"
        elif page.answered > began:
            name, rule = "overtaken-listing-kept", "CCH-13"
        return Stale(page, name, rule, n, why, by_change=True, since=began)

    def _superseded(self, page: Page, wanted: Wanted) -> Stale | None:
        if not page.after or wanted.holder.place.many or not self.promises.caches_listings:
            return None
        why = "a later fetch had been answered at #{n}, before it"
        return Stale(page, "older-listing-written", "CCH-15", page.after, why)

    def _lapsed(self, page: Page, wanted: Wanted) -> Stale | None:
        expires, ttl = page.expires, page.ttl
        if expires is None or ttl is None or not self._counts_time or wanted.at < expires + self._slack:
            return None
        rule = "CCH-9" if ttl > 0 else "CCH-5" if ttl == 0 else "CCH-8"
        why = "its lifetime of {page.ttl:g} ms had run out"
        return Stale(page, "stale-after-lapse", rule, page.answered, why)

    def _replaced(self, page: Page, wanted: Wanted) -> Stale | None:
        line = page.line
        began, n = wanted.holder.reconnected
        if (
            line.closed
            and line.sessions
            and page.ttl is None
            and line.opened < began < line.place.renewed[1]
            and line.closed < n < wanted.n
        ):
            why = "its connection {page.line.number} had been replaced by reconnect, which ended at #{n}"
            return Stale(page, "list-of-a-dead-connection", "CCH-22", n, why)
        ready, opened, at = line.place.renewed
        if (
            not line.closed
            or opened < line.closed
            or page.ttl is not None
            or not line.sessions
            or line.place.many
            or self.promises.dials_per_operation
            or not (line.place.used > ready or self._read(ready, at, wanted))
        ):
            return None
        why = "its connection {page.line.number} had ended, and another was open from #{n} on"
        return Stale(page, "list-of-a-dead-connection", "CCH-22", ready, why)


class Fates(dict[Page, Stale | None]):
    """What `Staleness` says of pages for one who asked, each looked at once: many tools stand on one page.

    Args:
        staleness: Says it.
        wanted: Who asked.
    """

    def __init__(self, staleness: Staleness, wanted: Wanted) -> None:
        super().__init__()
        self._staleness = staleness
        self._wanted = wanted

    def __missing__(self, page: Page) -> Stale | None:
        found = self[page] = self._staleness.of(page, self._wanted)
        return found
