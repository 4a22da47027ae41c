"""Text for terminals and files: what comes from wrappers is shown, never obeyed."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pytest_mcp_conformance.contract import Rule, Source
from pytest_mcp_conformance.history.plain import clean

__all__ = ["clean", "closest", "one_line", "plain", "short", "source_of"]

_SMALL_WORDS = {"a", "an", "and", "as", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"}


def one_line(text: str) -> str:
    """`text` cleaned, on one line."""
    return clean(" ".join(text.split("\n")).strip())


def short(text: str, limit: int = 110) -> str:
    """`text` on one line of at most `limit` letters."""
    line = one_line(text)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def plain(value: Any) -> Any:
    """`value` as data that JSON and a process boundary can carry, its texts cleaned."""
    if isinstance(value, str):
        return clean(str(value))
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {clean(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [plain(each) for each in value]
    return clean(repr(value))


def closest(word: str, known: list[str]) -> str:
    """A hint for a misspelt word: what was probably meant, and else what there is."""
    near = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known) or 'none'}"


def source_of(rule: Rule) -> str:
    """Who demands a rule, and what that rests on."""
    rests_on = "; ".join(_titled(source) for source in rule.rests_on)
    return _titled(rule.source) + (f", rests on {rests_on}" if rests_on else "")


def _titled(source: Source) -> str:
    """A place in the specification with its section as a title: `page#cache-key` is `page, "Cache Key"`."""
    page, _, section = source.text.partition("#")
    if source.kind != "spec" or not section:
        return source.text
    words = [
        word if at and word in _SMALL_WORDS else word.capitalize()
        for at, word in enumerate(section.split("-"))
    ]
    return f'{page}, "{" ".join(words)}"'
