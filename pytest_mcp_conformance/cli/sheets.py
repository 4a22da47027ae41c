"""What `check` prints: for people, and for programs. Both print as they go, and keep nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import click

from pytest_mcp_conformance.cli.reading import UNFINISHED, shown
from pytest_mcp_conformance.history import Explanation, Finding

__all__ = ["Checked", "ForPeople", "ForPrograms", "Sheet"]


@dataclass
class Checked:
    """What came of one file.

    Attributes:
        kept: The first findings; the others are counted alone.
        counts: How many there are, by kind and name.
        events: How many events were read.
        unfinished: Whether the file has no end.
        wrong: Why the file could not be read to its end.
    """

    kept: list[Finding] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    events: int = 0
    unfinished: bool = False
    wrong: str = ""

    @property
    def total(self) -> int:
        """How many findings there are."""
        return sum(self.counts.values())

    @property
    def faults(self) -> int:
        """How many of them are faults."""
        return sum(count for (kind, _), count in self.counts.items() if kind == "fault")


class Sheet(Protocol):
    """What is told of some files, one after the other."""

    def begin(self) -> None:
        """Before the first file."""

    def opens(self, file: str) -> None:
        """Before a file is read."""

    def finds(self, finding: Finding) -> None:
        """A finding, as soon as it is found."""

    def closes(self, file: str, checked: Checked, explained: Sequence[Explanation]) -> None:
        """After a file was read."""

    def end(self) -> None:
        """After the last file."""


class ForPeople:
    """How many faults a file proves, and then the first of them, drawn."""

    def begin(self) -> None:
        """Nothing."""

    def opens(self, file: str) -> None:
        """Nothing."""

    def finds(self, finding: Finding) -> None:
        """Nothing: it is drawn at the end, when its events are looked up."""

    def closes(self, file: str, checked: Checked, explained: Sequence[Explanation]) -> None:
        """The count, the drawings, and what is not drawn."""
        click.echo(f"{shown(file)}: {_counts(checked)} in {_many(checked.events, 'event')}")
        for each in explained:
            click.echo(f"\n{each.text}")
        if left := checked.total - len(checked.kept):
            names = ", ".join(f"{count} {name}" for (_, name), count in sorted(checked.counts.items()))
            click.echo(f"\n{left} more are not drawn; in all there are {shown(names)}")
        if checked.unfinished:
            click.echo(f"({UNFINISHED})")

    def end(self) -> None:
        """Nothing."""


class ForPrograms:
    """One object in JSON, in ASCII."""

    def __init__(self) -> None:
        self._files = self._findings = 0

    def begin(self) -> None:
        """The beginning of the object."""
        click.echo('{"files": [', nl=False)

    def opens(self, file: str) -> None:
        """The beginning of a file."""
        click.echo(f'{"," * (self._files > 0)}\n  {{"file": {json.dumps(file)}, "findings": [', nl=False)
        self._files += 1
        self._findings = 0

    def finds(self, finding: Finding) -> None:
        """A finding."""
        fields = ("name", "rule", "kind", "text", "proof")
        told = json.dumps({name: getattr(finding, name) for name in fields})
        click.echo(f"{',' * (self._findings > 0)}\n    {told}", nl=False)
        self._findings += 1

    def closes(self, file: str, checked: Checked, explained: Sequence[Explanation]) -> None:
        """The end of a file."""
        told = {"events": checked.events, "unfinished": checked.unfinished, "error": checked.wrong}
        click.echo(f"], {json.dumps(told)[1:-1]}}}", nl=False)

    def end(self) -> None:
        """The end of the object."""
        click.echo("\n]}")


def _counts(checked: Checked) -> str:
    unknown = checked.total - checked.faults
    faults = _many(checked.faults, "fault") if checked.faults else "no fault"
    return f"{faults} and {unknown} that it does not tell" if unknown else faults


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
