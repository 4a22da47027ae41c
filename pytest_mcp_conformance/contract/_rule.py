"""What a rule is: validated data. Knows nothing of servers, wrappers or pytest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

__all__ = [
    "BOTH",
    "HANDSHAKE",
    "KIT",
    "MODERN",
    "MUST",
    "SHOULD",
    "Level",
    "Rule",
    "Source",
    "issue",
    "python",
    "sdk",
    "seed",
    "spec",
]

HANDSHAKE: Final = frozenset({"handshake"})
MODERN: Final = frozenset({"modern"})
BOTH: Final = HANDSHAKE | MODERN

_REVISIONS = {
    "2024-11-05": "handshake",
    "2025-03-26": "handshake",
    "2025-06-18": "handshake",
    "2025-11-25": "handshake",
    "2026-07-28": "modern",
}


class Level(str, Enum):
    """How strongly a rule binds, in the words of RFC 2119."""

    MUST = "MUST"
    SHOULD = "SHOULD"

    def __str__(self) -> str:
        return self.value


MUST, SHOULD = Level.MUST, Level.SHOULD


@dataclass(frozen=True)
class Source:
    """Where a demand comes from.

    Attributes:
        kind: `spec`, `python`, `sdk`, `issue`, `seed` or `kit`.
        text: What a report prints.
        url: Where it can be read; empty where there is no such place.
    """

    kind: str
    text: str
    url: str = ""

    def __str__(self) -> str:
        return self.text


KIT: Final = Source("kit", "kit")
"""The specification is silent, or speaks to the other side: the demand is our own."""


def spec(revision: str, place: str) -> Source:
    """A place in the MCP specification: `spec("2026-07-28", "server/utilities/caching#cache-key")`.

    Raises:
        ValueError: An unknown revision, or a place that is not `page` or `page#section`.
    """
    if revision not in _REVISIONS:
        raise ValueError(f"unknown revision {revision!r}; known are {', '.join(_REVISIONS)}")
    if not re.fullmatch(r"[a-z0-9/-]+(#[a-z0-9-]+)?", place):
        raise ValueError(f"a place in the specification reads 'page' or 'page#section', got {place!r}")
    url = f"https://modelcontextprotocol.io/specification/{revision}/{place}"
    return Source("spec", f"{revision} {place}", url)


def python(place: str) -> Source:
    """A place in the documentation of Python's library: `python("asyncio-task#task-cancellation")`.

    Raises:
        ValueError: A place that is not `page` or `page#section`.
    """
    if not re.fullmatch(r"[a-z0-9.-]+(#[\w.-]+)?", place):
        raise ValueError(f"a place in Python's documentation reads 'page' or 'page#section', got {place!r}")
    page, hash_mark, section = place.partition("#")
    url = f"https://docs.python.org/3/library/{page}.html{hash_mark}{section}"
    return Source("python", f"Python {place}", url)


def sdk(package: str, version: str, symbol: str) -> Source:
    """A symbol of a released SDK, as it behaved when it was run."""
    return Source("sdk", f"{package} {version}, {symbol}")


def issue(repository: str, number: int) -> Source:
    """A public report: `issue("modelcontextprotocol/python-sdk", 2107)`.

    Raises:
        ValueError: A repository that is not `owner/name`.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        raise ValueError(f"a repository reads 'owner/name', got {repository!r}")
    return Source("issue", f"{repository}#{number}", f"https://github.com/{repository}/issues/{number}")


def seed(name: str) -> Source:
    """One of the designs that the reference implements."""
    return Source("seed", f"design: {name}")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One obligation of a client wrapper, where it comes from, and what to look at when it is broken.

    Attributes:
        id: Area and number, `CCH-13`. Numbers are never reused.
        level: `MUST` or `SHOULD`.
        source: Who demands it. `KIT` where the specification does not.
        rests_on: For a demand of the kit: what it leans on.
        text: One sentence that contains the level's keyword.
        why: What a user loses when the rule is broken.
        if_broken: What to check first, likeliest cause first.
        needs: Claims and verbs without which the rule is not claimed; `"refresh or invalidate"` needs either.
        eras: The protocol eras in which the rule can be judged.
        should_in: Eras in which a MUST is only a SHOULD.
        core: Among the rules that matter most to users.
        untested: Why no scenario judges it; empty when one does.
        reports: Public reports of the fault.
        since: The contract version that brought it.
    """

    id: str
    level: Level
    source: Source
    text: str
    why: str
    if_broken: tuple[str, ...]
    rests_on: tuple[Source, ...] = ()
    needs: frozenset[str] = field(default=frozenset())
    eras: frozenset[str] = BOTH
    should_in: frozenset[str] = frozenset()
    core: bool = False
    untested: str = ""
    reports: tuple[Source, ...] = ()
    since: str = "1.0"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Z]{2,4}-[1-9]\d*", self.id):
            raise ValueError(f"a rule id reads 'AREA-number', got {self.id!r}")
        if not re.search(rf"\b{self.level.value}\b", self.text):
            raise ValueError(f"{self.id}: the text must say {self.level.value}: {self.text!r}")
        if not self.text.endswith(".") or not self.why.endswith("."):
            raise ValueError(f"{self.id}: text and why are sentences and end with a full stop")
        if not self.if_broken or isinstance(self.if_broken, str):
            raise ValueError(f"{self.id}: if_broken must be a tuple with at least one thing to check")
        if not self.eras or not self.eras <= BOTH or not self.should_in <= self.eras:
            raise ValueError(f"{self.id}: unknown era in {sorted(self.eras | self.should_in)}")
        if self.source.kind == "kit" and not self.rests_on and not self.reports and not self.why:
            raise ValueError(f"{self.id}: a demand of the kit must say what it rests on")

    @property
    def area(self) -> str:
        """The letters before the number."""
        return self.id.partition("-")[0]

    @property
    def number(self) -> int:
        """The number within the area."""
        return int(self.id.partition("-")[2])

    @property
    def ours(self) -> bool:
        """True when the specification does not make this demand."""
        return self.source.kind != "spec"

    def level_in(self, era: str) -> Level:
        """The level in `era`: some demands are weaker in an older revision."""
        return SHOULD if era in self.should_in else self.level

    def heading(self, era: str = "") -> str:
        """Id, level and text as a report prints them; our own demands are marked."""
        mark = " (kit)" if self.ours else ""
        return f"{self.id} {self.level_in(era)}{mark}  {self.text}"
