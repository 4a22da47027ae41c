"""What the server lists: tools in pages, by principal, as they stand now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_mcp_conformance.history import copied
from pytest_mcp_conformance.server.tools import ABSENT, tool

__all__ = ["Catalogue", "Pages"]

Entry = Mapping[str, Any]
Lister = Callable[[Any], "tuple[Sequence[Any], Any] | None"]
"""Takes a cursor (`ABSENT` at first); gives tools and next cursor, or `None` for a cursor it never gave."""


class Pages:
    """A listing cut into pages, each with the cursor of the next."""

    def __init__(self, pages: Sequence[Sequence[Any]], cursors: Sequence[str]) -> None:
        self._pages = pages
        self._cursors = (*cursors, ABSENT)

    def __call__(self, cursor: Any) -> tuple[Sequence[Any], Any] | None:
        """The page that `cursor` names."""
        place = (
            0 if cursor is ABSENT else next((i + 1 for i, c in enumerate(self._cursors) if c == cursor), None)
        )
        if place is None or place >= len(self._pages):
            return None
        return self._pages[place], self._cursors[place]

    def entries(self) -> Iterable[Any]:
        """Every entry, over all pages."""
        return (entry for page in self._pages for entry in page)


class Catalogue:
    """The listings of one server: one for everybody, and others for single principals."""

    def __init__(self) -> None:
        self._listers: dict[str | None, Lister] = {}
        self._everybody: Lister = Pages([[]], ())

    def set(self, lister: Lister, principal: str | None) -> None:
        """List by `lister`, for everybody or for one principal."""
        if principal is None:
            self._everybody = lister
        else:
            self._listers[principal] = lister

    def page(self, cursor: Any, principal: str | None) -> tuple[list[Any], Any] | None:
        """A copy of one page and the next cursor; `None` for a cursor that was never given."""
        found = self._listers.get(principal, self._everybody)(cursor)
        return None if found is None else (copied(list(found[0])), found[1])

    def entry(self, name: str, principal: str | None) -> Entry | None:
        """The definition of the tool `name`: the last of that name, where there are several."""
        lister = self._listers.get(principal, self._everybody)
        if not isinstance(lister, Pages):
            return tool(name)
        named = [e for e in lister.entries() if isinstance(e, Mapping) and e.get("name") == name]
        return named[-1] if named else None
