"""One connection, as the wire shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.history.model.pages import Epoch, Page
from pytest_mcp_conformance.history.model.request import Request

if TYPE_CHECKING:
    from pytest_mcp_conformance.history.model.places import Place

__all__ = ["Line"]

MOST_IDS = 4096
MOST_CURSORS = 64
MOST_DIGITS = 32


class Line:
    """One connection.

    Attributes:
        number: Its number.
        place: The server and the principal that it is of.
        opened: The number of its opening.
        closed: The number of its end; 0 while it is open.
        sessions: Whether it began with `initialize`.
        plain: Whether its frames came without headers, so that it is no matter of HTTP.
        requests: The client's open requests by their ids.
        requested: The server's open requests.
        granted: The subscriptions that were granted with notices of the tools' changes.
        epoch: Since the last notice.
        newest: The page that was asked for last, of those that are a whole answered listing.
        pages: The last pages by the cursors that they end with.
        done: The last requests that were answered, by their ids.
        outlived: Whether it was found open when everybody had left.
        ids: The ids that were used, numbers as they are and others as text; None once there were too many.
    """

    __slots__ = (
        "closed",
        "done",
        "epoch",
        "granted",
        "ids",
        "newest",
        "number",
        "opened",
        "outlived",
        "pages",
        "place",
        "plain",
        "requested",
        "requests",
        "sessions",
    )

    def __init__(self, number: int, place: Place, opened: int) -> None:
        self.number = number
        self.place = place
        self.opened = opened
        self.closed = 0
        self.sessions = self.outlived = False
        self.plain = True
        self.requests: dict[Any, Request] = {}
        self.requested: set[Any] = set()
        self.granted: set[Any] = set()
        self.epoch = Epoch()
        self.newest: Page | None = None
        self.pages: dict[str, Page] = {}
        self.done: dict[Any, Request] = {}
        self.ids: set[int | str] | None = set()

    def uses(self, id: Any) -> bool:
        """A request has this id. True where one had it before."""
        ids = self.ids
        if ids is None:
            return False
        key = id if type(id) is int else repr(id)
        if key in ids:
            return True
        ids.add(key)
        if len(ids) > MOST_IDS:
            self.ids = None
        return False

    def has_used(self, id: Any) -> bool:
        """Whether a request may have had this id, taken for a number or a word."""
        if self.ids is None:
            return True
        text = str(id)
        same = {repr(id), repr(text), text}
        if len(text) < MOST_DIGITS and text.removeprefix("-").isdecimal():
            same.add(int(text))  # type: ignore[arg-type]
        return not self.ids.isdisjoint(same)

    def ends_with(self, cursor: str, page: Page) -> None:
        """A page names this cursor as that of the next."""
        self.pages.pop(cursor, None)
        self.pages[cursor] = page
        if len(self.pages) > MOST_CURSORS:
            del self.pages[next(iter(self.pages))]

    def end(self) -> None:
        """Nothing more is to be known of its requests."""
        self.requests.clear()
        self.done.clear()

    def notice(self, n: int, at: float) -> None:
        """A notice came: what was asked for before is of the past."""
        self.epoch.n = n
        self.epoch.at = at
        self.epoch = Epoch()
