"""Text without what differs from run to run and from machine to machine: addresses, ports, folders, ids."""

from __future__ import annotations

import re

from pytest_mcp_conformance.reports.text import clean

__all__ = ["steady", "steady_line"]

_LONGEST = 2000
_REPLACED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        # A path keeps what is inside of site-packages or of the kit, else its last name alone.
        (r"(?:[A-Za-z]:)?[\\/][^\s'\"<>|:]*[\\/]site-packages[\\/]", "…/"),
        (r"(?<![\w.:/\\~…-])/(?:[\w.@+~\[\]-]+/)+(?=[\w.\[\]-]*)", "…/"),
        (r"\b[A-Za-z]:\\(?:[^\s'\"<>|:\\]+\\)+", "…/"),
        (r"\b0x[0-9a-fA-F]{4,}\b", "0x…"),
        (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "…"),
        (r"\b[0-9a-fA-F]{32,}\b", "…"),
        (r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+", r"\1:…"),
        (
            r"\b(Task|Thread|ThreadPoolExecutor|asyncio|Dummy)([-_])\d+(?:_\d+)?",
            r"\1\2…",
        ),
        (r"\b(pid|PID|fd|port|id|line)([ =:]+)\d{2,}", r"\1\2…"),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", "…"),
        (r"\b\d+\.\d{3,}(?= ?(?:s|ms|seconds)\b)", "…"),
    )
)


def steady(text: str) -> str:
    """`text` cleaned, the same in every run: what stands for a moment or a place has become `…`."""
    for pattern, put in _REPLACED:
        text = pattern.sub(put, text)
    said = clean(text)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"


def steady_line(text: str, most: int = 240) -> str:
    """The same, on one line of at most so many letters."""
    line = " ".join(steady(text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
