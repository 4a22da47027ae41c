"""A play, and what the checker says of its history."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_mcp_conformance.contract import Adapter, Played
from pytest_mcp_conformance.history import Condenser, Digests, Entry, Event, Finding, Header, check
from pytest_mcp_conformance.scenarios import Scenario
from pytest_mcp_conformance.scenarios._player import play
from tests.history.plays import KEY

__all__ = ["Judged", "condensed", "header_of", "judged"]


@dataclass(frozen=True)
class Judged:
    """One play.

    Attributes:
        played: What the scenario says.
        findings: What the checker says.
        entries: The history.
    """

    played: Played
    findings: tuple[Finding, ...]
    entries: tuple[Entry, ...]


def header_of(adapter: Adapter, era: str) -> Header:
    """The header of a history of this adapter."""
    return Header(1, "0" * 16, era=era, claims=adapter.claims.stated())  # type: ignore[arg-type]


def condensed(events: list[Event]) -> tuple[Entry, ...]:
    """Events as a file has them."""
    condenser = Condenser(Digests(KEY))
    return tuple(condenser.entry(event) for event in events)


def judged(scenario: Scenario, adapter: Adapter, *, era: str, way: str, variant: str = "") -> Judged:
    """Play a scenario, and check its history."""
    events: list[Event] = []
    played = play(scenario, adapter, era=era, way=way, variant=variant, compare=False, listener=events.append)
    entries = condensed(events)
    return Judged(played, tuple(check(entries, header_of(adapter, era))), entries)
