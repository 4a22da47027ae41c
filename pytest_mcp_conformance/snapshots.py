"""Histories as snapshots of syrupy: one readable text a test, equal in every run that went alike.

Needs the extra `snapshots`; the fixture `listing_history` is bound to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.terminal import context_style, received_style, reset, snapshot_style

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history import Header
from pytest_mcp_conformance.history.normal import normal_lines

__all__ = ["HistorySnapshot"]

_STYLES = {"-": snapshot_style, "+": received_style, " ": context_style}
_AROUND = 2
"""Equal lines that are shown before and after those that differ."""

_EXACT = 10**6
"""Up to this many pairs of lines the shortest way from one text to the other is looked for."""


class HistorySnapshot(SingleFileSnapshotExtension):
    """Keeps the normal form of a history beside its test, as `__snapshots__/FILE/TEST.history`.

    What is kept is made of entries, never of messages: there is no payload in it.
    """

    _write_mode = WriteMode.TEXT
    file_extension = "history"

    def serialize(self, data: Any, *, exclude: Any = None, include: Any = None, matcher: Any = None) -> str:
        """The text of a history, recorded or loaded.

        Raises:
            UsageError: `data` is no history, or parts of it are to be left out.
        """
        if exclude is not None or include is not None:
            raise UsageError("a history is compared as a whole: leave exclude= and include= out")
        header = getattr(data, "header", None)
        if not isinstance(header, Header):
            raise UsageError(
                f"a snapshot of a history was compared with {type(data).__name__}: "
                "compare mcp_history, or what History.load gives"
            )
        return "".join(f"{line}\n" for line in normal_lines(data, header))

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        """The lines that differ, and what stands around them.

        A history says the same again and again, and what is said often is no hold for a usual comparison.
        """
        lines = [*_compared(snapshot_data.splitlines(), serialized_data.splitlines())]
        shown = {
            near
            for at, (sign, _) in enumerate(lines)
            if sign != " "
            for near in range(at - _AROUND, at + _AROUND + 1)
        }
        for at, (sign, line) in enumerate(lines):
            if at in shown:
                yield reset(_STYLES[sign](f"{sign} {line}"))
            elif at == 0 or at - 1 in shown:
                yield reset(context_style("  ..."))


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every line of both, with `-` where only the old one has it, and `+` where only the new one has it."""
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) * len(after) > _EXACT)
    yield from ((" ", line) for line in old[:head])
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            yield from ((" ", line) for line in before[first:last])
        else:
            yield from (("-", line) for line in before[first:last])
            yield from (("+", line) for line in after[begin:end])
    yield from ((" ", line) for line in old[len(old) - tail :])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """With how many equal lines both begin."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
