"""The page `matrix.md`: wrappers by areas, and then the rules that are broken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_mcp_conformance.matrix.counting import (
    VERDICTS,
    Tally,
    always_broken,
    by_area,
    by_rule,
    never_broken,
    words_of,
)
from pytest_mcp_conformance.reports.text import one_line

__all__ = ["markdown", "text"]

_ALWAYS = "Rules that every wrapper breaks for which they are judged"
_TOLD = ("broken", "known-gap", "not-testable", "unknown")


def markdown(data: Mapping[str, Any]) -> str:
    """The page about a document."""
    return "\n".join(_lines(data)) + "\n"


def text(said: Any) -> str:
    """Any text as one line of Markdown in which nothing is markup."""
    return _escaped(one_line(str(said)))


def _escaped(line: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|~&$!])", r"\\\1", line)


def _ours(said: str) -> str:
    """A text of the contract's, its words in backticks as code."""
    parts = one_line(said).split("`")
    if len(parts) % 2 == 0:
        return text(said)
    code = (f"`{part.replace('|', '')}`" if at % 2 else _escaped(part) for at, part in enumerate(parts))
    return "".join(code)


def _lines(data: Mapping[str, Any]) -> Iterator[str]:
    yield "# Real wrappers, judged"
    yield ""
    yield (
        "Each wrapper in an environment of its own, judged by `mcp-conformance matrix`; made of "
        "[matrix.json](matrix.json). [index.html](index.html) is the same with drawings, and can be searched."
    )
    yield ""
    areas = [name for name, area in data["areas"].items() if area["client"]]
    yield from _table(
        ["wrapper", "package", "mcp", "state", *areas, "inside"],
        [_overview(entry, areas) for entry in data["wrappers"]],
    )
    yield ""
    yield "In a cell: rules ✓ kept, ✗ broken, ▲ known gaps, ? not testable or unknown, ○ not claimed."
    for entry in data["wrappers"]:
        yield from _wrapper(entry, data)
    tallies = by_rule(data)
    yield from _list(_ALWAYS, always_broken(tallies), data)
    yield from _list("Rules that no wrapper breaks", never_broken(tallies), data)


def _overview(entry: Mapping[str, Any], areas: Sequence[str]) -> list[str]:
    counts = by_area(entry)
    inside = [found for area, found in counts.items() if area not in areas]
    cells = [_cell(counts.get(area, {})) for area in areas]
    total = {name: sum(each[name] for each in inside) for name in VERDICTS}
    package = f"{text(entry['package'])} {text(entry['version'])}"
    return [text(entry["adapter"]), package, text(entry["sdk"]), text(entry["state"]), *cells, _cell(total)]


def _cell(counts: Mapping[str, int]) -> str:
    unclear = counts.get("not-testable", 0) + counts.get("unknown", 0)
    pairs = (
        ("✓", counts.get("kept", 0)),
        ("✗", counts.get("broken", 0)),
        ("▲", counts.get("known-gap", 0)),
        ("?", unclear),
        ("○", counts.get("not-claimed", 0)),
    )
    return " ".join(f"{sign} {number}" for sign, number in pairs if number)


def _wrapper(entry: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"## {text(entry['adapter'])} {text(entry['version'])}"
    yield ""
    said = words_of(entry["counts"]) or "no rule judged"
    pins = f", with {', '.join(map(text, entry['pins']))}" if entry["pins"] else ""
    yield f"{text(entry['package'])} {text(entry['version'])}{pins}. {said}."
    if entry["why"]:
        yield ""
        yield f"**{text(entry['state'])}**: {text(entry['why'])}"
    told = [(name, rule) for name, rule in entry["rules"].items() if rule["verdict"] in _TOLD]
    if told:
        yield ""
        yield from _table(
            ["rule", "verdict", "the rule", "what was seen", "reason"],
            [_rule(name, rule, data["rules"].get(name, {})) for name, rule in told],
        )
    for each in entry["printed"]:
        yield ""
        yield f"It prints to stdout (items: {each['items']}): {text(each['detail'])}"


def _rule(name: str, rule: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    inherited = ", inherited from the SDK" if rule.get("inherited") else ""
    parts = [text(rule["reason"])] if rule.get("reason") else []
    parts += [f"Confirmed: {text(rule['confirmed'])}"] if rule.get("confirmed") else []
    parts += [text(rule["link"])] if rule.get("link") else []
    first = next(iter(str(rule.get("detail", "")).splitlines()), "")
    return [
        f"{text(name)} {text(rule['level'])}",
        f"{VERDICTS.get(rule['verdict'], '')}{inherited}",
        _ours(known.get("text", "")),
        text(first),
        " ".join(parts),
    ]


def _list(title: str, tallies: Sequence[Tally], data: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    if not tallies:
        yield "None."
        return
    rows = [[each.rule, words_of(each.counts), _ours(data["rules"][each.rule]["text"])] for each in tallies]
    yield from _table(["rule", "wrappers", "the rule"], rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
