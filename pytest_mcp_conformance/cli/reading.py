"""What the commands that read histories have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

import click

from pytest_mcp_conformance.history import Header, History, HistoryError
from pytest_mcp_conformance.history.plain import clean

__all__ = ["UNFINISHED", "Unreadable", "about", "printed", "readable", "shown"]

UNFINISHED = "the file has no end: whoever recorded it was ended, or still records"

_AT_ONCE = 200


class Unreadable(click.ClickException):
    """A file that is no history, or cannot be written: one line, and the exit code of a usage error."""

    exit_code = 2


@contextmanager
def readable() -> Iterator[None]:
    """Turn what is wrong with a file into one line of the command."""
    try:
        yield
    except HistoryError as error:
        raise Unreadable(str(error)) from None


def printed(lines: Iterable[str]) -> None:
    """Print lines as they come, many at once."""
    left = iter(lines)
    while some := [*islice(left, _AT_ONCE)]:
        click.echo("\n".join(some))


def shown(name: str) -> str:
    """The name of a file as a terminal may have it, in one line."""
    return clean(name).replace("\n", " ")


def about(history: History) -> str:
    """One line about a recording."""
    header: Header = history.header
    parts = [header.name or history.path.name, f"{header.era} era" if header.era else "", header.sees]
    parts += [f"mcp {header.sdk}" if header.sdk else "", f"{header.clock} time"]
    return shown(", ".join(part for part in parts if part))
