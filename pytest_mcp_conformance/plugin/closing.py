"""Known gaps that have closed: strict means that the file says what is, no more."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_mcp_conformance.contract import ERAS, Verdict
from pytest_mcp_conformance.plugin.cells import planned
from pytest_mcp_conformance.plugin.gaps import Gap, Gaps
from pytest_mcp_conformance.plugin.options import Options
from pytest_mcp_conformance.reports.verdicts import Entry

__all__ = ["closed_gaps"]


def closed_gaps(gaps: Gaps, entries: Iterable[Entry], options: Options) -> list[str]:
    """One line for each entry that no longer says what is.

    An entry is looked at only when a wrapper of its took part, and when every item that judges its rule for
    that wrapper was played: after `-k`, `--lf`, a node id or `-x` nothing can be said.
    """
    by_wrapper: dict[str, list[Entry]] = {}
    for entry in entries:
        by_wrapper.setdefault(entry.played.wrapper, []).append(entry)
    lines = []
    for gap in gaps.entries:
        about = {name: played for name, played in by_wrapper.items() if gap.is_about(name)}
        if about and gap.rule in options.selected:
            said = _what_is(gap, about, options)
            if said:
                lines.append(
                    f"{gap.rule} of {gap.wrapper}: {said}; take entry {gap.number} out of {gaps.path}"
                )
    return lines


def _what_is(gap: Gap, about: dict[str, list[Entry]], options: Options) -> str:
    verdicts: set[Verdict] = set()
    for entries in about.values():
        eras = next((entry.claims["eras"] for entry in entries if entry.claims.get("eras")), ERAS)
        there = [entry for entry in entries if gap.era in ("", entry.played.era)]
        ran = {(each.played.scenario, each.played.era, each.played.variant) for each in there}
        if not planned(gap.rule, [era for era in eras if gap.era in ("", era)], options.way) <= ran:
            return ""
        verdicts |= {
            each.verdict for entry in there for each in entry.played.judgements if each.rule == gap.rule
        }
    if verdicts <= {Verdict.NOT_CLAIMED}:
        return "no item judges this rule of it"
    return "the gap is closed, the rule is kept" if verdicts <= {Verdict.KEPT, Verdict.NOT_CLAIMED} else ""
