"""A report as Markdown, for the summary of a CI job."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_mcp_conformance.contract import RULES
from pytest_mcp_conformance.reports.markdown import escaped, table
from pytest_mcp_conformance.reports.reading import Report, ReportedRule, ReportedWrapper
from pytest_mcp_conformance.reports.text import short

__all__ = ["summary_of"]

_HEADINGS = {
    "kept": "kept",
    "broken": "broken",
    "known-gap": "known gaps",
    "not-testable": "not testable",
    "not-claimed": "not claimed",
}
_SHOWN = {"broken": "Broken", "not-testable": "Not testable", "unknown": "Unknown"}
_LONGEST = 300


def summary_of(report: Report) -> str:
    """The Markdown of a report: the counts, what is broken, and folded away the known gaps."""
    environment = ", ".join(f"{name} {said}" for name, said in report.environment.items() if said)
    lines = ["## MCP conformance", "", escaped(environment), ""]
    if not report.complete:
        lines += ["**The run was interrupted: this is what was seen until then.**", ""]
    if not report.wrappers:
        lines += ["No wrapper was judged.", ""]
    else:
        rows = [
            [_name(each), *(str(each.counts.get(word, 0)) for word in _HEADINGS)] for each in report.wrappers
        ]
        lines += [*table(["wrapper", *_HEADINGS.values()], rows), ""]
    for wrapper in report.wrappers:
        lines += _of(wrapper)
    return "\n".join(lines)


def _of(wrapper: ReportedWrapper) -> Iterator[str]:
    for word, title in _SHOWN.items():
        if found := _with(wrapper, word):
            yield from (f"### {title}: {_name(wrapper)}", "", *_rows(found), "")
    if gaps := _with(wrapper, "known-gap"):
        yield from (f"<details><summary>Known gaps: {_name(wrapper)} ({len(gaps)})</summary>", "")
        yield from (*_rows(gaps), "", "</details>", "")


def _with(wrapper: ReportedWrapper, word: str) -> dict[str, ReportedRule]:
    return {name: rule for name, rule in wrapper.rules.items() if rule.verdict == word}


def _rows(found: dict[str, ReportedRule]) -> list[str]:
    return table(
        ("rule", "level", "what it asks", "what was seen"),
        (
            (
                escaped(name),
                rule.level + (", inherited from the SDK" if rule.inherited else ""),
                escaped(RULES[name].text) if name in RULES else "",
                escaped(short(rule.detail, _LONGEST)),
            )
            for name, rule in found.items()
        ),
    )


def _name(wrapper: ReportedWrapper) -> str:
    return escaped(f"{wrapper.name} {wrapper.version}".strip())
