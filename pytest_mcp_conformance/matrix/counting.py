"""The entries of the matrix counted: by wrapper and area, and by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["STATES", "VERDICTS", "Tally", "always_broken", "by_area", "by_rule", "never_broken", "words_of"]

VERDICTS = {
    "broken": "broken",
    "known-gap": "known gap",
    "not-testable": "not testable",
    "unknown": "unknown",
    "kept": "kept",
    "not-claimed": "not claimed",
}
"""The verdicts and their words, the ones to look at first."""

STATES = {
    "judged": "judged, and as its known gaps say",
    "differs": "judged, and not as its known gaps say",
    "lingers": "judged, and its process did not end",
    "hangs": "did not end in time",
    "crashed": "its process died",
    "not-played": "could not be played",
    "not-imported": "could not be imported",
    "other-version": "another version is installed",
    "not-installed": "could not be installed",
    "not-run": "not judged yet",
}
"""The states of a wrapper, in words."""

_BREAKS = ("broken", "known-gap")
_JUDGES = ("kept", *_BREAKS)


@dataclass(frozen=True)
class Tally:
    """What wrappers make of one rule.

    Attributes:
        rule: The rule's id.
        counts: How many wrappers have each verdict.
    """

    rule: str
    counts: Counter[str]

    @property
    def judged(self) -> int:
        """How many it was judged for."""
        return sum(self.counts[name] for name in _JUDGES)

    @property
    def broken(self) -> int:
        """How many break it, known or not."""
        return sum(self.counts[name] for name in _BREAKS)


def area_of(rule: str) -> str:
    """The letters before the number."""
    return rule.partition("-")[0]


def by_area(entry: Mapping[str, Any]) -> dict[str, Counter[str]]:
    """How many rules of each area have each verdict."""
    found: dict[str, Counter[str]] = {}
    for name, rule in entry["rules"].items():
        found.setdefault(area_of(name), Counter())[rule["verdict"]] += 1
    return found


def by_rule(data: Mapping[str, Any]) -> list[Tally]:
    """What the wrappers make of each rule, in the order of the catalogue."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in data["rules"]}
    for entry in data["wrappers"]:
        for name, rule in entry["rules"].items():
            if name in counts:
                counts[name][rule["verdict"]] += 1
    return [Tally(name, found) for name, found in counts.items()]


def never_broken(tallies: Iterable[Tally]) -> list[Tally]:
    """The rules that some wrapper keeps and none breaks."""
    return [each for each in tallies if each.counts["kept"] and not each.broken]


def always_broken(tallies: Iterable[Tally]) -> list[Tally]:
    """The rules that every wrapper breaks for which they were judged."""
    return [each for each in tallies if each.judged and each.broken == each.judged]


def words_of(counts: Mapping[str, int], names: Sequence[str] = tuple(VERDICTS)) -> str:
    """Counts in words: `2 broken, 14 kept`."""
    return ", ".join(f"{counts[name]} {VERDICTS[name]}" for name in names if counts.get(name))
