"""A finding, explained by the few events that prove it: as text for a terminal, as SVG for a page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_mcp_conformance.history.entry import Entry
from pytest_mcp_conformance.history.finding import Finding
from pytest_mcp_conformance.history.lanes import WIDTH, head, lanes
from pytest_mcp_conformance.history.plain import cells, clean
from pytest_mcp_conformance.history.svg import drawn

__all__ = ["Explanation", "explain", "explain_all"]

_MOST_LINES = 3
_MOST_LETTERS = 2000


@dataclass(frozen=True)
class Explanation:
    """What proves a finding.

    Attributes:
        finding: What is explained.
        entries: The entries that prove it, in order; those that are not in the history are missing here.
    """

    finding: Finding
    entries: tuple[Entry, ...]

    @property
    def text(self) -> str:
        """Lines for a terminal, of at most 80 columns: the finding, its sentence, and the lanes."""
        told = self._sentence(self.finding.text)
        wrapped = textwrap.wrap(told, WIDTH - 2, max_lines=_MOST_LINES, placeholder=" …")
        drawing = [head(), *lanes(self.entries, gaps=True)] if self.entries else []
        missing = [f"  {self._missing}"] if self._missing else []
        return "\n".join([self.title, *(_line(f"  {each}") for each in wrapped), *drawing, *missing])

    @property
    def svg(self) -> str:
        """The same as a picture: one `svg` element that needs nothing else, in the colours around it."""
        told = self._sentence(" ".join((self.finding.text, self._missing)))
        return drawn(self.entries, title=self.title, told=told, fault=self.finding.kind == "fault")

    @property
    def title(self) -> str:
        """The name and the rule."""
        doubt = "" if self.finding.kind == "fault" else ", which this history does not tell"
        return _line(self._sentence(f"{self.finding.name} ({self.finding.rule}){doubt}"))

    @property
    def _missing(self) -> str:
        there = {entry.n for entry in self.entries}
        missing = [str(n) for n in self.finding.proof if n not in there]
        return f"not in this history: {', '.join(missing)}" if missing else ""

    @staticmethod
    def _sentence(text: str) -> str:
        return " ".join(clean(text[:_MOST_LETTERS]).split())


def explain(finding: Finding, history: Iterable[Entry]) -> Explanation:
    """The few events of a history that prove a finding.

    Args:
        finding: What was found.
        history: The history in which it was found: a `History`, or its entries.

    Raises:
        HistoryError: The file of the history is broken before the last of these events.
    """
    return explain_all([finding], history)[0]


def explain_all(findings: Iterable[Finding], history: Iterable[Entry]) -> list[Explanation]:
    """The same for several findings; the history is read once, and no further than is needed.

    Raises:
        HistoryError: The file of the history is broken before the last of these events.
    """
    findings = [*findings]
    wanted = {n for finding in findings for n in finding.proof}
    found: dict[int, Entry] = {}
    if wanted:
        last = max(wanted)
        for entry in history:
            if entry.n in wanted:
                found[entry.n] = entry
            if entry.n >= last:
                break
    return [
        Explanation(finding, tuple(found[n] for n in finding.proof if n in found)) for finding in findings
    ]


def _line(text: str) -> str:
    return "".join(cells(text, WIDTH))
