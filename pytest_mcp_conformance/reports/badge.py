"""A badge: a report in a few words, as the endpoint badges of shields.io read it.

Source: https://shields.io/badges/endpoint-badge
"""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.reports.reading import Report, ReportedRule
from pytest_mcp_conformance.reports.text import one_line

__all__ = ["LABEL", "badge_of"]

LABEL = "MCP conformance"


def badge_of(report: Report, label: str = LABEL) -> dict[str, Any]:
    """The badge of a report, as plain data.

    It is red for a broken MUST, for what could not be judged, and for a run that was interrupted or judged
    nothing; yellow for a broken SHOULD; yellowgreen for known gaps; else bright green.

    Args:
        report: The report.
        label: The words on the left.
    """
    rules = [rule for wrapper in report.wrappers for rule in wrapper.rules.values()]
    kept, broken, gaps = (
        sum(rule.verdict == word for rule in rules) for word in ("kept", "broken", "known-gap")
    )
    unjudged = sum(rule.verdict in ("not-testable", "unknown") for rule in rules)
    parts = [(kept, "kept"), (broken, "broken"), (unjudged, "not testable"), (gaps, "known gaps")]
    words = [f"{number} {word}" for number, word in parts if number]
    if not report.complete:
        words.append("interrupted")
    return {
        "schemaVersion": 1,
        "label": one_line(label),
        "message": ", ".join(words) or "nothing judged",
        "color": _color(report, rules, kept),
    }


def _color(report: Report, rules: list[ReportedRule], kept: int) -> str:
    bad = {(rule.verdict, rule.level) for rule in rules}
    if not report.complete or not kept or ("broken", "MUST") in bad:
        return "red"
    if any(verdict in ("not-testable", "unknown") for verdict, _ in bad):
        return "red"
    if ("broken", "SHOULD") in bad:
        return "yellow"
    return "yellowgreen" if any(verdict == "known-gap" for verdict, _ in bad) else "brightgreen"
