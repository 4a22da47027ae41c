"""The checker: a pure function from a history to what it proves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_mcp_conformance.history.entry import Entry, Header
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.model.calling import Calls
from pytest_mcp_conformance.history.model.lines import Line
from pytest_mcp_conformance.history.model.listing import Listings
from pytest_mcp_conformance.history.model.places import Place
from pytest_mcp_conformance.history.model.promises import promises_of
from pytest_mcp_conformance.history.model.staleness import Staleness
from pytest_mcp_conformance.history.model.users import Users
from pytest_mcp_conformance.history.model.wire import Wire

__all__ = ["check"]


def check(
    entries: Iterable[Entry], header: Header | None = None, expects: Mapping[str, Any] | None = None
) -> Iterator[Finding]:
    """What a history proves, in the order in which it is proved. Reads each entry once, in bounded memory.

    Args:
        entries: The entries, oldest first; a `History` is one.
        header: The header; by default that of `entries`.
        expects: What the wrapper is held to, by the names of the claims; by default the claims in the header.

    Raises:
        HistoryError: The file that the entries come from cannot be read to its end.
    """
    header = entries.header if header is None else header  # type: ignore[attr-defined]
    checker = _Checker(header, header.claims if expects is None else expects)
    found, handlers = checker.found, checker.handlers
    try:
        for entry in entries:
            handlers.get(entry.kind, _pass)(entry)
            if found:
                yield from found
                found.clear()
        if not getattr(entries, "unfinished", False):
            checker.end()
            yield from found
    finally:
        checker.forget()


def _pass(entry: Entry) -> None:
    """An entry that proves nothing."""


class _Checker:
    """The state of one check."""

    def __init__(self, header: Header, claims: Mapping[str, Any]) -> None:
        self.found: list[Finding] = []
        self._places: dict[tuple[str, str], Place] = {}
        promises, find = promises_of(claims), self.found.append
        staleness = Staleness(promises, virtual=header.clock == "virtual")
        listings = Listings(staleness, lambda: [*self._places.values()], find)
        calls = Calls(promises, find)
        self._users = Users(self._place_of, listings, calls, promises, find)
        self._wire = Wire(self._place_of, listings, calls, find)
        self.handlers = {**self._wire.handlers, **self._users.handlers, "outlived": self._outlived}

    def end(self) -> None:
        """There is nothing more: what is left open stays open."""
        if not self._users.all_gone:
            return
        for line in self._wire.lines.values():
            if line.plain and line.place.entered:
                self._never_closed(line, (line.opened, self._users.last_left))

    def forget(self) -> None:
        """Let go: a connection and its calls hold each other, and the collector looks at no calls."""
        for line in self._wire.lines.values():
            line.end()

    def _outlived(self, entry: Entry) -> None:
        line = self._wire.lines.get(entry.connection)
        if line is not None:
            proof = {line.opened, self._users.last_left, entry.n} - {0}
            self._never_closed(line, tuple(sorted(proof)))

    def _never_closed(self, line: Line, proof: tuple[int, ...]) -> None:
        if not line.outlived:
            line.outlived = True
            text = f"every holder had left, and connection {line.number} was open"
            self.found.append(Finding("connection-never-closed", "CONN-9", text, proof))

    def _place_of(self, entry: Entry) -> Place:
        key = (entry.server, entry.principal)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = Place(*key)
        return place
