"""Known gaps that have closed: strict means that the file says what is, no more."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_mcp_conformance.contract import ERAS, RULES, Verdict
from pytest_mcp_conformance.plugin.cells import planned
from pytest_mcp_conformance.plugin.gaps import Gap, Gaps
from pytest_mcp_conformance.plugin.options import Options
from pytest_mcp_conformance.reports.verdicts import Entry

__all__ = ["closed_gaps"]


def closed_gaps(gaps: Gaps, entries: Iterable[Entry], options: Options) -> list[str]:
    """One line for each entry that no longer says what is.

    An entry is looked at only when a wrapper of its took part, and when every item that judges its rule for
    that wrapper was played: after `-k`, `--lf`, a node id or `-x` nothing can be said. An entry that
    is not strict is never closed by a rule that is kept.
    """
    by_wrapper: dict[str, list[Entry]] = {}
    for entry in entries:
        by_wrapper.setdefault(entry.played.wrapper, []).append(entry)
    lines = []
    for gap in gaps.entries:
        about = {name: played for name, played in by_wrapper.items() if gap.is_about(name)}
        said = ""
        if about and gap.trouble:
            said = _what_went_wrong(gap, about, options) if gap.strict else ""
        elif about and gap.rule in options.selected:
            said = _what_is(gap, about, options)
        if said:
            lines.append(f"{gap.what} of {gap.wrapper}: {said}; take entry {gap.number} out of {gaps.path}")
    return lines


def _what_went_wrong(gap: Gap, about: dict[str, list[Entry]], options: Options) -> str:
    for name, entries in about.items():
        borne = ((each, entry.played.era) for entry in entries for each in entry.played.borne)
        if any(gap.bears(each, name, era) for each, era in borne):
            return ""
        if not all(_whole(rule, gap, entries, options) for rule in RULES):
            return ""
    return "the gap is closed, nothing like it went wrong"


def _what_is(gap: Gap, about: dict[str, list[Entry]], options: Options) -> str:
    verdicts: set[Verdict] = set()
    for entries in about.values():
        if not _whole(gap.rule, gap, entries, options):
            return ""
        verdicts |= {
            each.verdict
            for entry in entries
            if gap.era in ("", entry.played.era)
            for each in entry.played.judgements
            if each.rule == gap.rule
        }
    if verdicts <= {Verdict.NOT_CLAIMED}:
        return "no item judges this rule of it"
    if gap.strict and verdicts <= {Verdict.KEPT, Verdict.NOT_CLAIMED}:
        return "the gap is closed, the rule is kept"
    return ""


def _whole(rule: str, gap: Gap, entries: list[Entry], options: Options) -> bool:
    """Whether every item that judges a rule was played, of the eras that the entry is about."""
    eras = next((entry.claims["eras"] for entry in entries if entry.claims.get("eras")), ERAS)
    ran = {(each.played.scenario, each.played.era, each.played.variant) for each in entries}
    return planned(rule, [era for era in eras if gap.era in ("", era)], options.way) <= ran
