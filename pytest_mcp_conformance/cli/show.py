"""`show`: a history as lanes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import click

from pytest_mcp_conformance.cli.reading import UNFINISHED, about, printed, readable
from pytest_mcp_conformance.history import KINDS, Entry, History
from pytest_mcp_conformance.history.lanes import head, lanes

__all__ = ["show"]

_WIDEST = 200


@click.command()
@click.argument("file", type=click.Path())
@click.option("--from", "first", type=click.IntRange(1), default=1, metavar="N", help="From event N.")
@click.option("--to", "last", type=click.IntRange(1), metavar="N", help="Up to event N.")
@click.option(
    "--only",
    "kinds",
    multiple=True,
    type=click.Choice([*KINDS]),
    metavar="KIND",
    help="Events of this kind; may be repeated.",
)
def show(file: str, first: int, last: int | None, kinds: tuple[str, ...]) -> None:
    """Print a history as lanes: wrapper, server, notices.

    An event is a line as wide as the terminal, and 80 columns wide in a pipe.
    """
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    with readable():
        history = History.load(file)
        click.echo(about(history))
        click.echo(head(width))
        printed(lanes(_chosen(history, first, last, frozenset(kinds or KINDS)), width=width))
        if last is None and history.unfinished:
            click.echo(f"({UNFINISHED})")


def _chosen(history: History, first: int, last: int | None, kinds: frozenset[str]) -> Iterator[Entry]:
    for entry in history:
        if last is not None and entry.n > last:
            return
        if entry.n >= first and entry.kind in kinds:
            yield entry
