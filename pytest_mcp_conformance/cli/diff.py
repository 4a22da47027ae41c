"""`diff`: what is different in two histories."""

from __future__ import annotations

import sys

import click
from rich.console import Console
from rich.text import Text

from pytest_mcp_conformance.cli.differing import differing
from pytest_mcp_conformance.cli.reading import readable, shown
from pytest_mcp_conformance.history import History, normal_lines
from pytest_mcp_conformance.history.normal import DigestNames

__all__ = ["diff"]

_STYLES = {"-": "red", "+": "green", "@": "cyan"}


@click.command()
@click.argument("before", type=click.Path(), metavar="A")
@click.argument("after", type=click.Path(), metavar="B")
def diff(before: str, after: str) -> None:
    """Compare two histories: print the events in which they differ.

    Ids, connections, times and headers do not count. Payloads are compared where both were recorded with one
    key; else it counts which payloads of one history are equal. The exit code is 0 where they are equal,
    1 where they differ, and 2 where a file cannot be read.
    """
    console = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
    found = False
    with readable():
        one, other = History.load(before), History.load(after)
        names = DigestNames() if one.header.key == other.header.key else None
        left, right = (normal_lines(each, each.header, names=names) for each in (one, other))
        for line in differing(left, right):
            if not found:
                console.print(Text(f"--- {shown(before)}", style="bold"))
                console.print(Text(f"+++ {shown(after)}", style="bold"))
            found = True
            console.print(Text(line, style=_STYLES.get(line[0], "")))
    sys.exit(int(found))
