"""The summary of a run as lines for a terminal. Computed here, written by whoever has a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pytest_mcp_conformance.contract import Probe, Verdict
from pytest_mcp_conformance.reports.text import one_line, short
from pytest_mcp_conformance.reports.verdicts import RuleVerdict, WrapperVerdicts

__all__ = ["Excuse", "Line", "disagreement", "lines_of"]

_RED = {"red": True}
_YELLOW = {"yellow": True}
_GREEN = {"green": True}
_WORDS = {"known-gap": "known gap", "not-claimed": "not claimed", "not-testable": "not testable"}


@dataclass(frozen=True)
class Line:
    """One line, and how a terminal may mark it."""

    text: str
    markup: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Excuse:
    """Why a broken rule does not fail the run, and where that is discussed."""

    reason: str
    link: str = ""


def lines_of(
    wrappers: Iterable[WrapperVerdicts], excuses: dict[tuple[str, str], Excuse], *, strict: bool
) -> list[Line]:
    """The summary, wrapper by wrapper: the counts, then one line for each thing to look at.

    Args:
        wrappers: The verdicts.
        excuses: By wrapper and rule, for the known gaps.
        strict: A broken SHOULD fails.
    """
    lines: list[Line] = []
    for wrapper in wrappers:
        verdicts = wrapper.rules.values()
        bad = bool(wrapper.trouble) or any(each.fails(strict=strict) for each in verdicts)
        bad = bad or any(not probe.agrees for probe in wrapper.probes)
        lines.append(Line(_counted(wrapper), {**(_RED if bad else _GREEN), "bold": True}))
        lines += [_row("claim", disagreement(probe), _RED) for probe in wrapper.probes if not probe.agrees]
        for kind in (Verdict.BROKEN, Verdict.UNKNOWN, Verdict.NOT_TESTABLE):
            lines += [
                _row(kind.value, _rule(each), _RED)
                for each in verdicts
                if each.verdict is kind and each.fails(strict=strict)
            ]
        lines += [_row("trouble", f"{short(trouble)}  [{item}]", _RED) for item, trouble in wrapper.trouble]
        lines += [
            _row("known gap", _excused(each, excuses.get((wrapper.name, each.rule.id))), _YELLOW)
            for each in verdicts
            if each.verdict is Verdict.KNOWN_GAP
        ]
        lines += [_row("known gap", f"{short(each)}  [{item}]", _YELLOW) for item, each in wrapper.borne]
        lines += [
            _row("warning", f"broken: {_rule(each)}", _YELLOW)
            for each in verdicts
            if each.verdict is Verdict.BROKEN and not each.fails(strict=strict)
        ]
    return lines


def disagreement(probe: Probe) -> str:
    """A claim that the wire contradicts, in one line."""
    said, seen = ("yes" if probe.says else "no"), ("yes" if probe.wire else "no")
    detail = f": {one_line(probe.detail)}" if probe.detail else ""
    return f"{probe.claim}: claim says {said}, wire says {seen}{detail}"


def _counted(wrapper: WrapperVerdicts) -> str:
    counts = ", ".join(
        f"{number} {_WORDS.get(name, name)}" for name, number in wrapper.counts.items() if number
    )
    return one_line(f"{wrapper.name} {wrapper.version}".strip()) + f": {counts or 'no rule judged'}"


def _rule(verdict: RuleVerdict) -> str:
    inherited = "  [inherited: the bare SDK does the same]" if verdict.inherited else ""
    return f"{_name(verdict)}  {short(verdict.rule.text)}{inherited}"


def _excused(verdict: RuleVerdict, excuse: Excuse | None) -> str:
    if excuse is None:
        return _rule(verdict)
    link = f"  <{one_line(excuse.link)}>" if excuse.link else ""
    inherited = "  [inherited]" if verdict.inherited else ""
    return f"{_name(verdict)}  {one_line(excuse.reason)}{link}{inherited}"


def _name(verdict: RuleVerdict) -> str:
    """Id and level; a demand of our own is marked wherever it is printed."""
    return f"{verdict.rule.id} {verdict.level}{' (kit)' if verdict.rule.ours else ''}"


def _row(label: str, text: str, markup: dict[str, bool]) -> Line:
    return Line(f"  {label:<13} {text}", markup)
