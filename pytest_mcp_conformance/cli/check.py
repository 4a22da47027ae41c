"""`check`: the faults that histories prove."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from pathlib import Path

import click

from pytest_mcp_conformance.cli.reading import UNFINISHED, Unreadable, shown
from pytest_mcp_conformance.history import Entry, Finding, History, HistoryError, explain_all

__all__ = ["check"]

_STEP = 100_000
_FAULT = "fault"


@dataclass
class _Checked:
    """What came of one file.

    Attributes:
        kept: The first findings; the others are counted alone.
        counts: How many there are of each name, by kind and name.
        events: How many events were read.
        wrong: Why the file could not be read to its end.
        unfinished: Whether the file has no end.
    """

    kept: list[Finding] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    events: int = 0
    wrong: str = ""
    unfinished: bool = False

    @property
    def faults(self) -> int:
        return sum(count for (kind, _), count in self.counts.items() if kind == _FAULT)


@click.command()
@click.argument("files", type=click.Path(), nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.option("--svg", "folder", type=click.Path(), metavar="DIR", help="Write a picture of each finding.")
@click.option(
    "--most", type=click.IntRange(0), default=20, show_default=True, help="Findings of a file that are drawn."
)
def check(files: tuple[str, ...], as_json: bool, folder: str | None, most: int) -> None:
    """Judge histories: print the faults that they prove.

    The exit code is 0 where there is none, 1 where there is one, and 2 where a file cannot be read.
    """
    place = _made(folder) if folder is not None else None
    codes = [0]
    if as_json:
        click.echo('{"files": [', nl=False)
    for at, file in enumerate(files):
        if as_json:
            click.echo(f'{"," * (at > 0)}\n  {{"file": {json.dumps(file)}, "findings": [', nl=False)
        checked = _Checked()
        for number, finding in enumerate(_findings(file, checked)):
            if as_json:
                click.echo(f"{',' * (number > 0)}\n    {_as_json(finding)}", nl=False)
            checked.counts[finding.kind, finding.name] += 1
            if number < most:
                checked.kept.append(finding)
        if as_json:
            click.echo(_end_of(checked), nl=False)
        _tell(file, checked, place, at, quiet=as_json)
        codes.append(2 if checked.wrong else 1 if checked.faults else 0)
    if as_json:
        click.echo("\n]}")
    sys.exit(max(codes))


def _findings(file: str, checked: _Checked) -> Iterator[Finding]:
    """The findings of one file as they are found."""
    judge = import_module("pytest_mcp_conformance.history.checker").check
    try:
        history = History.load(file)
        checked.unfinished = history.unfinished
        yield from judge(_Counted(history, checked), history.header)
    except HistoryError as error:
        checked.wrong = str(error)


class _Counted:
    """The entries of a history, counted; whoever waits at a terminal sees that they go by."""

    def __init__(self, history: History, checked: _Checked) -> None:
        self.header = history.header
        self.unfinished = history.unfinished
        self._history = history
        self._checked = checked

    def __iter__(self) -> Iterator[Entry]:
        told = False
        try:
            for entry in self._history:
                self._checked.events += 1
                if self._checked.events % _STEP == 0 and sys.stderr.isatty():
                    told = True
                    click.echo(f"\r{self._checked.events} events", err=True, nl=False)
                yield entry
        finally:
            if told:
                click.echo(err=True)


def _tell(file: str, checked: _Checked, place: Path | None, at: int, *, quiet: bool) -> None:
    """Print what came of a file, and write its pictures."""
    explained = []
    if checked.kept and not (quiet and place is None):
        try:
            explained = explain_all(checked.kept, History.load(file))
        except HistoryError as error:  # it has changed since
            checked.wrong = checked.wrong or str(error)
    if place is not None:
        names = (f"{Path(file).name.partition('.history')[0]}.{at + 1}-{number}.svg" for number in count(1))
        for each, name in zip(explained, names, strict=False):
            _write(place / name, each.svg)
    if not quiet:
        click.echo(f"{shown(file)}: {_counts(checked)} in {_many(checked.events, 'event')}")
        for each in explained:
            click.echo(f"\n{each.text}")
        if left := sum(checked.counts.values()) - len(checked.kept):
            names_of = ", ".join(f"{count} {name}" for (_, name), count in sorted(checked.counts.items()))
            click.echo(f"\n{left} more are not drawn; in all there are {shown(names_of)}")
        if checked.unfinished:
            click.echo(f"({UNFINISHED})")
    if checked.wrong:
        click.echo(f"Error: {checked.wrong}", err=True)


def _counts(checked: _Checked) -> str:
    unknown = sum(checked.counts.values()) - checked.faults
    parts = [_many(checked.faults, "fault") if checked.faults else "no fault"]
    return " and ".join([*parts, *([f"{unknown} that it does not tell"] if unknown else [])])


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _as_json(finding: Finding) -> str:
    return json.dumps(
        {
            "name": finding.name,
            "rule": finding.rule,
            "kind": finding.kind,
            "text": finding.text,
            "proof": [*finding.proof],
        }
    )


def _end_of(checked: _Checked) -> str:
    events, unfinished = checked.events, json.dumps(checked.unfinished)
    return f'], "events": {events}, "unfinished": {unfinished}, "error": {json.dumps(checked.wrong)}}}'


def _made(folder: str) -> Path:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from None
    return Path(folder)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unwritable(str(path), error) from None


def _unwritable(name: str, error: OSError | ValueError) -> Unreadable:
    why = getattr(error, "strerror", None) or str(error)
    return Unreadable(f"{shown(name)} cannot be written: {why}; name a folder that can")
