"""The lines in which two long texts differ, in constant memory and in the time of reading them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice

__all__ = ["differing"]

_AROUND = 3
_WINDOW = 1000

Row = tuple[str, int, int, str]
"""A sign, the numbers of the line in both texts, from 0, and the line."""


def differing(before: Iterable[str], after: Iterable[str], window: int = _WINDOW) -> Iterator[str]:
    """What a unified diff shows beneath its two names; nothing where both are equal.

    Args:
        before: The lines of one text.
        after: Those of the other.
        window: How many lines of each are looked at together. Lines that have moved further are told as
            gone here and new there.
    """
    kept: deque[Row] = deque(maxlen=_AROUND)
    after_it = _AROUND + 1
    for row in _rows(iter(before), iter(after), window):
        sign, line = row[0], row[3]
        if sign == " ":
            after_it += 1
            if after_it <= _AROUND:
                yield f" {line}"
            else:
                kept.append(row)
            continue
        if after_it > _AROUND:
            first = kept[0] if kept else row
            yield f"@@ -{first[1]} +{first[2]} @@"
        yield from (f" {each[3]}" for each in kept)
        kept.clear()
        after_it = 0
        yield f"{sign}{line}"


def _rows(before: Iterator[str], after: Iterator[str], window: int) -> Iterator[Row]:
    """Every line of both: equal ones with a space, gone ones with `-`, new ones with `+`."""
    old = new = 0
    left: list[str] = []
    right: list[str] = []
    while True:
        left += islice(before, window - len(left))
        right += islice(after, window - len(right))
        if not left and not right:
            return
        steps = _steps(left, right)
        whole = len(left) < window and len(right) < window  # both end here
        if not whole and len(steps) > 1 and steps[-1][0] != "equal":
            steps.pop()  # what comes next may fit to it
        for tag, begin, end, start, stop in steps:
            for at in range(begin, end):
                yield " " if tag == "equal" else "-", old, new, left[at]
                old += 1
                new += tag == "equal"
            for at in range(start, stop) if tag != "equal" else ():
                yield "+", old, new, right[at]
                new += 1
        del left[: steps[-1][2]]
        del right[: steps[-1][4]]


def _steps(left: list[str], right: list[str]) -> list[tuple[str, int, int, int, int]]:
    if left == right:  # as almost always
        return [("equal", 0, len(left), 0, len(right))]
    return [*SequenceMatcher(None, left, right, autojunk=False).get_opcodes()]
