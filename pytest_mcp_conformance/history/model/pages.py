"""A page of a listing: when it was asked for and answered, and what ended its being good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_mcp_conformance.history.model.request import Request

if TYPE_CHECKING:
    from pytest_mcp_conformance.history.model.lines import Line

__all__ = ["Epoch", "Page"]


class Epoch:
    """The time between two notices on one connection: all pages asked for in it end with the same one.

    Attributes:
        n: The number of the notice that ended it; 0 while it lasts.
        at: When that was.
    """

    __slots__ = ("at", "n")

    def __init__(self) -> None:
        self.n = 0
        self.at = 0.0


class Page(Request, eq=False):
    """One page: one request for a list, and once it is answered what it brought.

    Attributes:
        line: The connection.
        asked_at: When it was asked for.
        epoch: The time between two notices in which that was.
        answered: The number of its answer; 0 while it is out.
        at: When that was.
        expires: When its lifetime ends; None where the server gave none.
        ttl: The lifetime that the server gave, in milliseconds.
        scope: By whom it may be kept.
        after: The number of the answer to a later request that came before this one's; 0 where none did.
        read: The number of a list that was handed out and can only be this one; 0 where none was seen.
        told: The faults that were found with it already, by their names.
    """

    line: Line
    asked_at: float
    epoch: Epoch
    _first: Page | None = None
    answered: int = 0
    at: float = 0.0
    expires: float | None = None
    ttl: float | None = None
    scope: str = ""
    after: int = 0
    read: int = 0
    told: frozenset[str] = frozenset()

    @property
    def first(self) -> Page:
        """The first page of its walk."""
        return self._first or self

    def arrive(self, n: int, at: float, ttl: float | None, scope: str) -> None:
        """It was answered."""
        self.answered = n
        self.at = at
        self.ttl = ttl
        self.scope = scope
        if ttl is not None:
            self.expires = at + max(ttl, 0) / 1000
