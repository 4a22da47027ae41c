"""A history in this process, of what is happening now."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_mcp_conformance.history.condensing import Condenser
from pytest_mcp_conformance.history.digests import Digests
from pytest_mcp_conformance.history.entry import FORMAT, Entry, Header
from pytest_mcp_conformance.history.event import Event

__all__ = ["LiveHistory"]


class LiveHistory:
    """What was recorded so far, as `History` reads it from a file; it grows while a test goes on.

    Args:
        about: The fields of the `Header` that are known, as of a `HistoryWriter`.

    Attributes:
        header: What the first line of a file would be.
    """

    def __init__(self, **about: str) -> None:
        digests = Digests()
        self.header = msgspec.convert({"history": FORMAT, "key": digests.name, **about}, Header)
        self._condenser = Condenser(digests)
        self._entries: list[Entry] = []

    def __repr__(self) -> str:
        return f"<history of {len(self)} events>"

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def take(self, event: Event) -> None:
        """Take one event in; of its payloads digests alone are kept."""
        self._entries.append(self._condenser.entry(event))
