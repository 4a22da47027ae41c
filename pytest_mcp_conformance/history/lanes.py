"""A history drawn as text: its number and time, and a lane each for wrapper, server and notices.

     #  seconds  wrapper           server               notices
     8    0.000  │                 ● asked tools/list   │
    15    0.000  │                 │                    ● tools changed (generation 2)

One event is one line. Its words begin at its lane, and run on over the lanes to the right; where there is
no room to the right they stand on the left. No line is wider than it may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_mcp_conformance.history.entry import Entry
from pytest_mcp_conformance.history.plain import cells
from pytest_mcp_conformance.history.words import LANES, Words, lane_of

__all__ = ["WIDTH", "head", "lanes", "time_of"]

WIDTH = 80
"""Columns of a terminal that nobody has made wider."""

_BEFORE = 17
_LEAST = 40
_SHARES = (0.0, 0.29, 0.63)
_LARGE = 1e6


def lanes(entries: Iterable[Entry], *, width: int = WIDTH, gaps: bool = False) -> Iterator[str]:
    """The lines of a history, a line an event.

    Args:
        entries: The events, or some of them.
        width: Columns that a line may take, at least 40.
        gaps: Whether a line says how many events are left out between two.
    """
    width = max(width, _LEAST)
    words, last = Words(), 0
    for entry in entries:
        if gaps and last and entry.n > last + 1:
            yield _gap(entry.n - last - 1, width)
        last = entry.n
        yield _line(f"{entry.n:>6} {time_of(entry.at):>8}", width, {lane_of(entry): words(entry)})


def head(width: int = WIDTH) -> str:
    """The line above them."""
    return _line(f"{'#':>6} {'seconds':>8}", max(width, _LEAST), dict(enumerate(LANES)), mark="", lane=" ")


def time_of(at: float) -> str:
    """A time in a few letters, however large."""
    return f"{at:.3f}" if abs(at) < _LARGE else f"{at:.2g}"


def _gap(count: int, width: int) -> str:
    return _line(f"{'…':>6}", width, {0: f"{count} event{'s' * (count > 1)} between"}, mark="  ")


def _line(before: str, width: int, said: dict[int, str], *, mark: str = "● ", lane: str = "│") -> str:
    room = width - _BEFORE
    starts = [_BEFORE + int(share * room) for share in _SHARES]
    row = (cells(before, width) + [" "] * width)[:width]
    for start in starts:
        row[start] = lane
    for number, text in said.items():
        start = starts[number]
        right, left = width - start - len(mark), start - 1 - _BEFORE
        length = len(cells(text, width))
        if length <= right or left < min(length, right):
            _put(row, start, [*mark, *cells(text, right), " "])
        else:
            shown = cells(text, left)
            _put(row, start - 1 - len(shown), [*shown, " ", *mark.rstrip()])
    return "".join(row).rstrip()


def _put(row: list[str], start: int, new: list[str]) -> None:
    row[start : start + len(new)] = new[: len(row) - start]
