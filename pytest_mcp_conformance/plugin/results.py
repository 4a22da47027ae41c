"""What a run said, gathered in the process that talks to the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_mcp_conformance.contract import Played
from pytest_mcp_conformance.reports.verdicts import Entry, WrapperVerdicts, verdicts_of

__all__ = ["Results"]


class Results:
    """The entries of a run by node id. An item that is run again counts as it was last."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._places: dict[str, int] = {}

    def in_the_order_of(self, nodeids: Iterable[str]) -> None:
        """Say which items there are: where several processes play, what arrives first need not be first."""
        self._places = {nodeid: place for place, nodeid in enumerate(nodeids)}

    def add(self, nodeid: str, data: dict[str, Any]) -> Played:
        """Take in what a test report carried."""
        played = Played.from_dict(data["played"])
        if not played.adapter_error:
            self._entries[nodeid] = Entry(nodeid, played, data["claims"])
        return played

    @property
    def entries(self) -> Iterable[Entry]:
        """All entries: in the order of the items where that was told, else in that of their first arrival."""
        return sorted(self._entries.values(), key=lambda entry: self._places.get(entry.nodeid, -1))

    def verdicts(self) -> tuple[WrapperVerdicts, ...]:
        """The verdicts so far."""
        return verdicts_of(self.entries)
