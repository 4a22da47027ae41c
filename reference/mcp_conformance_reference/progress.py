"""Who hears of the progress of the calls that are out on one connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from mcp_conformance_reference.sdk import Frame

__all__ = ["OnProgress", "Progress"]

OnProgress = Callable[[float, "float | None", "str | None"], None]
"""Hears of one step: how far the call is, of how much, and a text. It must come back at once."""


class Progress:
    """The progress tokens of one connection."""

    def __init__(self) -> None:
        self._hearing: dict[str, OnProgress] = {}
        self._numbers = count(1)

    @contextmanager
    def told_to(self, hears: OnProgress) -> Iterator[str]:
        """A token of its own for one call, while the call is out."""
        token = f"progress {next(self._numbers)}"
        self._hearing[token] = hears
        try:
            yield token
        finally:
            del self._hearing[token]

    def heard(self, frame: Frame) -> None:
        """A step was read; one under a token that is nobody's is nobody's."""
        token = frame.params.get("progressToken")
        hears = self._hearing.get(token) if isinstance(token, str) else None
        if hears is not None:
            message = frame.params.get("message")
            hears(
                _number(frame.params.get("progress")) or 0.0,
                _number(frame.params.get("total")),
                message if isinstance(message, str) else None,
            )


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) else None
