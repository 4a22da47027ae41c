"""What goes over the wire, entry by entry: which request is open, and what belongs to whom."""

from __future__ import annotations

from collections.abc import Callable

from pytest_mcp_conformance.history.entry import Entry
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.model.calling import Calls, Sent
from pytest_mcp_conformance.history.model.lines import Line
from pytest_mcp_conformance.history.model.listing import Listings
from pytest_mcp_conformance.history.model.pages import Page
from pytest_mcp_conformance.history.model.places import Place
from pytest_mcp_conformance.history.model.recent import forget_the_older_half
from pytest_mcp_conformance.history.model.request import Request

__all__ = ["Wire"]

TOOLS = "toolsListChanged"
MOST_DONE = 256


class Wire:
    """Reads the entries of the wire, and hands what is of a list or of a call to those who follow that.

    Args:
        place_of: The place of an entry.
        listings: Follows the lists.
        calls: Follows the calls.
        find: Takes what is found.
    """

    def __init__(
        self,
        place_of: Callable[[Entry], Place],
        listings: Listings,
        calls: Calls,
        find: Callable[[Finding], None],
    ) -> None:
        self._place_of = place_of
        self._listings = listings
        self._calls = calls
        self._find = find
        self.lines: dict[int, Line] = {}
        self.handlers: dict[str, Callable[[Entry], None]] = {
            "opened": self._opened,
            "closed": self._closed,
            "asked": self._asked,
            "answered": self._answered,
            "failed": self._failed,
            "noticed": self._noticed,
            "listened": self._listened,
            "cancelled": self._cancelled,
            "requested": self._requested,
            "replied": self._replied,
            "told": self._told,
            "barred": self._barred,
        }

    def _barred(self, entry: Entry) -> None:
        place = self._place_of(entry)
        place.doubt, place.dead = entry.n, 0

    def _told(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is not None and entry.method == "notifications/initialized":
            line.place.used = entry.n

    def _opened(self, entry: Entry) -> None:
        place = self._place_of(entry)
        line = Line(entry.connection, place, entry.n)
        self.lines[entry.connection] = place.lines[entry.connection] = line
        place.dead = 0

    def _closed(self, entry: Entry) -> None:
        line = self.lines.pop(entry.connection, None)
        if line is None:
            return
        line.closed = entry.n
        place = line.place
        place.lines.pop(entry.connection, None)
        for request in line.requests.values():
            self._lose(entry.n, request)
        line.end()
        if not place.lines:
            place.doubt = entry.n
            place.dead = entry.n if entry.how in ("server", "broken") and line.plain else 0

    def _asked(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is None:
            return
        method = entry.method
        open_one = line.requests.get(entry.id)
        if open_one is not None and entry.id is not None:
            text = f"#{entry.n} has the id {entry.id!r} of #{open_one.asked}, which is still open"
            self._find(Finding("id-used-again", "CALL-4", text, (open_one.asked, entry.n)))
            self._lose(entry.n, open_one)
        elif line.uses(entry.id) and line.sessions and entry.id is not None:
            text = f"#{entry.n} has an id that was used before in this session, {entry.id!r}"
            self._find(Finding("id-used-again", "CALL-4", text, (line.opened, entry.n)))
        if entry.headers:
            line.plain = False
        request: Request
        if method == "tools/call":
            request = self._calls.asked(entry, line)
        elif method == "tools/list":
            request = self._listings.asked(entry, line)
        else:
            request = Request(entry.n, method)
            if method == "initialize":
                line.sessions = True
            elif method != "server/discover":
                line.place.used = entry.n
        line.requests[entry.id] = request

    def _answered(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is None:
            return
        request = line.requests.pop(entry.id, None)
        if request is None:
            return
        line.done[entry.id] = request
        if len(line.done) > MOST_DONE:
            forget_the_older_half(line.done)
        if isinstance(request, Sent):
            self._calls.answered(entry, request)
        elif isinstance(request, Page):
            self._listings.answered(entry, line, request)
        elif request.method in ("initialize", "server/discover"):
            line.place.renewed = (entry.n, line.opened, entry.at)
        elif request.method == "subscriptions/listen":
            line.granted.discard(entry.id)

    def _failed(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        request = line.requests.pop(entry.id, None) if line is not None else None
        if line is None or request is None:
            return
        line.done[entry.id] = request
        if len(line.done) > MOST_DONE:
            forget_the_older_half(line.done)
        if isinstance(request, Sent):
            self._calls.failed(entry, request)
        elif isinstance(request, Page):
            self._listings.lost(entry.n, request)
        elif request.method == "subscriptions/listen":
            line.granted.discard(entry.id)
        else:
            line.place.doubt = entry.n

    def _lose(self, n: int, request: Request) -> None:
        if isinstance(request, Sent):
            self._calls.lost(n, request)
        elif isinstance(request, Page):
            self._listings.lost(n, request)

    def _noticed(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is None or entry.list != "tools":
            return
        if line.sessions if entry.subscription is None else entry.subscription in line.granted:
            line.notice(entry.n, entry.at)

    def _listened(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is not None and TOOLS in entry.lists and entry.subscription in line.requests:
            line.granted.add(entry.subscription)

    def _cancelled(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is None:
            return
        line.granted.discard(entry.id)
        request = line.requests.pop(entry.id, None)
        if entry.how == "client":
            self._look_at_cancelling(entry, line, request)
        if request is not None:
            self._lose(entry.n, request)

    def _look_at_cancelling(self, entry: Entry, line: Line, request: Request | None) -> None:
        done = line.done.get(entry.id)
        named = request or done
        if named is not None and named.method == "initialize":
            why, before = "initialize is not to be cancelled", named.asked
        elif request is not None:
            return
        elif not line.has_used(entry.id):
            why, before = "it was never made", line.opened
        elif isinstance(done, Sent | Page) and 0 < done.read < entry.n:
            why, before = f"it was answered at #{done.answered}, and that was read", done.read
        else:
            return
        text = f"#{entry.n} cancels the request {entry.id!r}: {why}"
        self._find(Finding("cancelled-what-is-not-open", "CALL-7", text, (before, entry.n)))

    def _requested(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is not None:
            line.requested.add(entry.id)

    def _replied(self, entry: Entry) -> None:
        line = self.lines.get(entry.connection)
        if line is None or entry.id is None:
            return
        if entry.id in line.requested:
            line.requested.discard(entry.id)
            return
        text = f"#{entry.n} answers the request {entry.id!r}, which the server had not made or was answered"
        self._find(Finding("answer-to-nobody", "NTC-15", text, (line.opened, entry.n)))
