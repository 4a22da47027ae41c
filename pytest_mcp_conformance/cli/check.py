"""`check`: the faults that histories prove."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from pytest_mcp_conformance.cli.reading import Unreadable, shown
from pytest_mcp_conformance.cli.sheets import Checked, ForPeople, ForPrograms, Sheet
from pytest_mcp_conformance.history import Entry, Explanation, Finding, History, HistoryError, explain_all
from pytest_mcp_conformance.history import check as judge

__all__ = ["check"]

_STEP = 100_000


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
    sheet: Sheet = ForPrograms() if as_json else ForPeople()
    code = 0
    sheet.begin()
    for number, file in enumerate(files, 1):
        sheet.opens(file)
        checked = Checked()
        for finding in _findings(file, checked):
            sheet.finds(finding)
            checked.counts[finding.kind, finding.name] += 1
            if len(checked.kept) < most:
                checked.kept.append(finding)
        explained = _explained(file, checked) if place is not None or not as_json else []
        sheet.closes(file, checked, explained)
        if place is not None:
            _draw(explained, place, f"{Path(file).name.partition('.history')[0]}.{number}")
        if checked.wrong:
            click.echo(f"Error: {checked.wrong}", err=True)
        code = max(code, 2 if checked.wrong else 1 if checked.faults else 0)
    sheet.end()
    sys.exit(code)


def _findings(file: str, checked: Checked) -> Iterator[Finding]:
    """The findings of one file as they are found."""
    try:
        history = History.load(file)
        checked.unfinished = history.unfinished
        yield from judge(_Counted(history, checked), history.header)
    except HistoryError as error:
        checked.wrong = str(error)


class _Counted:
    """The entries of a history, counted; whoever waits at a terminal sees that they go by."""

    def __init__(self, history: History, checked: Checked) -> None:
        self.header = history.header
        self.unfinished = checked.unfinished
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


def _explained(file: str, checked: Checked) -> list[Explanation]:
    if not checked.kept:
        return []
    try:
        return explain_all(checked.kept, History.load(file))
    except HistoryError as error:  # it has changed since
        checked.wrong = checked.wrong or str(error)
        return []


def _made(folder: str) -> Path:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from None
    return Path(folder)


def _draw(explained: Sequence[Explanation], folder: Path, name: str) -> None:
    for number, each in enumerate(explained, 1):
        path = folder / f"{name}-{number}.svg"
        try:
            path.write_text(each.svg, encoding="utf-8")
        except (OSError, ValueError) as error:
            raise _unwritable(str(path), error) from None


def _unwritable(name: str, error: OSError | ValueError) -> Unreadable:
    why = getattr(error, "strerror", None) or str(error)
    return Unreadable(f"{shown(name)} cannot be written: {why}; name a folder that can")
