"""Text in Markdown, with what comes from wrappers as text and never as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_mcp_conformance.reports.text import one_line

__all__ = ["escaped", "table"]

_MARKS = re.compile(r"([\\`*_\[\]#|~$:@])")


def escaped(text: str) -> str:
    """`text` on one line, in which no letter is a mark of Markdown or HTML.

    Colons and at-signs are among them: a bare address would become a link, and `@name` a mention.
    """
    line = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(lambda mark: f"&#{ord(mark[0])};", line)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; the cells are Markdown already."""
    return [
        f"| {' | '.join(headings)} |",
        f"|{'---|' * len(headings)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
