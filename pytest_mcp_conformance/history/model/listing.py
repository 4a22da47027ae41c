"""Which lists may be served: the register of pages, and who was handed what."""

from __future__ import annotations

from collections.abc import Callable

from pytest_mcp_conformance.history.entry import Entry, Listed
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.model.lines import Line
from pytest_mcp_conformance.history.model.pages import Page
from pytest_mcp_conformance.history.model.places import Holder, Known, Place
from pytest_mcp_conformance.history.model.staleness import Fates, Stale, Staleness, Wanted

__all__ = ["Listings"]

LEAKED = "list-of-another-principal"


class Listings:
    """Follows the lists of all places, and judges each one that is served.

    A tool that was served is explained by any page on which it stands and that may have been good while the
    list was wanted. Order, and tools that are missing, prove nothing: a wrapper may leave tools out. A list
    is found fault with for a tool that stands on pages of the past alone.

    Args:
        staleness: Says what ended a page's being good.
        others: All places, to look for a tool that is another's.
        find: Takes what is found.
    """

    def __init__(
        self,
        staleness: Staleness,
        others: Callable[[], list[Place]],
        find: Callable[[Finding], None],
    ) -> None:
        self._staleness = staleness
        self._others = others
        self._find = find
        self._promises = staleness.promises
        self._wanted: dict[int, Wanted] = {}

    # -- at the wire ---------------------------------------------------------------------------------------

    def asked(self, entry: Entry, line: Line) -> Page:
        """A page is asked for."""
        before = line.pages.get(entry.cursor) if entry.cursor else None
        first = before.first if before is not None else None
        page = Page(entry.n, "tools/list", line, entry.at, line.epoch, first)
        line.place.fetching[entry.n] = page
        return page

    def answered(self, entry: Entry, line: Line, page: Page) -> None:
        """It has come."""
        place = line.place
        place.fetching.pop(page.asked, None)
        page.arrive(entry.n, entry.at, entry.ttl, entry.scope)
        if entry.tools is None:
            place.doubt = entry.n
            return
        if entry.more:
            place.blurred = True
        if entry.next:
            line.ends_with(entry.next, page)
        elif page.first is page:
            if line.newest is not None and line.newest.asked > page.asked:
                page.after = line.newest.answered
            else:
                line.newest = page
        place.lists(entry.tools, page)

    def lost(self, n: int, page: Page) -> None:
        """It will not come: an older list is no fault now."""
        place = page.line.place
        place.fetching.pop(page.asked, None)
        place.doubt = n

    # -- at the wrapper ------------------------------------------------------------------------------------

    def wanted(self, entry: Entry, holder: Holder) -> None:
        """Somebody asks for the tools."""
        self._wanted[entry.op] = Wanted(entry.n, entry.at, entry.rest, holder)

    def ended(self, op: int) -> None:
        """A verb ended without a list."""
        self._wanted.pop(op, None)

    def served(self, entry: Entry) -> None:
        """Somebody was handed a list."""
        wanted = self._wanted.pop(entry.op, None)
        if wanted is None or not entry.tools or wanted.holder.wild:
            return
        wanted.holder.is_shown(entry.n, entry.tools)
        place = wanted.holder.place
        if place.blurred:
            return
        fates = Fates(self._staleness, wanted)
        if self._evident(entry.tools, place, fates):
            return
        found: list[Stale] = []
        good: list[tuple[Page, Known]] = []
        read: list[Page] = []
        for tool in entry.tools:
            stale = self._explained(tool, wanted, place, entry, fates, good, read)
            if stale is not None:
                found.append(stale)
        for page in read:
            page.read = entry.n
        if found:
            self._accuse(max(found, key=lambda stale: stale.page.asked), good, wanted, entry)

    @staticmethod
    def _evident(tools: tuple[Listed, ...], place: Place, fates: Fates) -> bool:
        """Whether each tool is explained by its newest page, of which nothing is left to learn."""
        forms_of = place.forms
        good: Page | None = None
        for tool in tools:
            forms = forms_of.get(tool.name)
            if forms is None:
                return False
            known = forms[-1]
            held, pages = known.listed, known.pages
            if tool.input != held.input or tool.output != held.output or tool.description != held.description:
                return False
            page = pages[-1]
            if known.blurred:
                return False
            if page is not good:
                if fates[page] is not None:
                    return False
                good = page
            if not page.read and (len(pages) == 1 or fates[pages[-2]] is not None):
                return False
        return True

    def _explained(
        self,
        tool: Listed,
        wanted: Wanted,
        place: Place,
        entry: Entry,
        fates: Fates,
        good: list[tuple[Page, Known]],
        read: list[Page],
    ) -> Stale | None:
        """What is wrong with a tool that was served; None where it is explained, or nobody knows."""
        worst: Stale | None = None
        seen = False
        for known in place.showing(tool):
            seen = True
            if known.blurred:
                return None
            for page in reversed(known.pages):
                stale = fates[page]
                if stale is None:
                    good.append((page, known))
                    if not page.read and page not in read and self._only(page, tool, fates, place):
                        read.append(page)
                    return None
                if worst is None or page.asked > worst.page.asked:
                    worst = stale._replace(tool=known.listed)
        if not seen:
            self._look_elsewhere(tool, wanted, place, entry)
            return None
        return worst

    @staticmethod
    def _only(page: Page, tool: Listed, fates: Fates, place: Place) -> bool:
        """Whether a tool can have come from this page alone, so that it has been read."""
        return all(
            other is page or fates[other] is not None
            for known in place.showing(tool)
            for other in reversed(known.pages)
        )

    def _accuse(self, stale: Stale, good: list[tuple[Page, Known]], wanted: Wanted, entry: Entry) -> None:
        page, place = stale.page, wanted.holder.place
        if place.doubt > stale.n or self._still_trying(place, stale, entry):
            return
        name, rule = stale.name, stale.rule
        if stale.by_change and any(other.first is page.first and other.asked > stale.n for other, _ in good):
            name, rule = "two-generations-glued", "PAG-9"
        elif any(
            other.asked > (stale.since or stale.n)
            and all(each.first is not page.first for each in known.pages)
            for other, known in good
        ):
            fresh = any(
                known.listed is not stale.tool and self._staleness.of(known.pages[-1], wanted) is None
                for known in place.forms.get(stale.tool.name, ())
            )
            name, rule = "old-tool-in-a-new-list", "TOOL-3" if fresh else "TOOL-6"
        if name in page.told:
            return
        page.told |= {name}
        text = (
            f"holder {wanted.holder.who} asked at #{wanted.n} and was served at #{entry.n} what "
            f"#{page.answered} had listed: {stale.text}"
        )
        self._find(
            Finding(name, rule, text, _in_order(page.asked, page.answered, stale.n, wanted.n, entry.n))
        )

    @staticmethod
    def _still_trying(place: Place, stale: Stale, entry: Entry) -> bool:
        """Whether a fetch is out for some time: if it was given up, an old list is allowed."""
        return any(page.asked > stale.n and page.asked_at < entry.at for page in place.fetching.values())

    def _look_elsewhere(self, tool: Listed, wanted: Wanted, place: Place, entry: Entry) -> None:
        """A tool that nobody listed here: whether it is another principal's of the same server."""
        promises = self._promises
        if not promises.isolates_principals or promises.multi_server or promises.proxies:
            return
        owners: list[tuple[Known, Place]] = [
            (known, other)
            for other in self._others()
            if other is not place and other.server == place.server
            for known in other.showing(tool)
        ]
        if not owners or any(not other.principal or other.blurred for _, other in owners):
            return
        pages = [page for known, _ in owners for page in known.pages]
        if any(page.scope == "public" for page in pages) or any(LEAKED in page.told for page in pages):
            return
        page = pages[-1]
        page.told |= {LEAKED}
        rule = "CCH-3" if not page.line.sessions else "TEN-4"
        mine, owner = place.principal or "nobody", page.line.place.principal
        text = (
            f"holder {wanted.holder.who} of {mine} was served {tool.name!r}, which #{page.answered} had "
            f"listed to {owner} alone"
        )
        self._find(Finding(LEAKED, rule, text, _in_order(page.answered, wanted.n, entry.n)))


def _in_order(*numbers: int) -> tuple[int, ...]:
    return tuple(sorted({number for number in numbers if number}))
