"""From a played scenario to the outcome of its item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal

from pytest_mcp_conformance.contract import MUST, RULES, Judgement, Played, Probe, Rule, Verdict
from pytest_mcp_conformance.plugin.options import Options
from pytest_mcp_conformance.reports.text import one_line, short

if TYPE_CHECKING:
    from pytest_mcp_conformance.scenarios import Scenario

__all__ = ["Judged", "adoption", "judge", "unplayed"]

_MADE = "a claim that is made is judged by its rules"
_NOT_MET = "the wrapper is not met in this era, or over this way in"


@dataclass(frozen=True)
class Judged:
    """What an item has to say.

    Attributes:
        played: What was played: the judgements on selected rules only, known gaps marked as such.
        failing: The judgements that fail the item.
        excused: The broken rules that are known gaps, each with the reason.
        claim: The claim that is probed, where the scenario is a probe.
        made: The adapter makes that claim.
        borne: The trouble that is a known gap, each with the reason.
    """

    played: Played
    failing: tuple[Judgement, ...]
    excused: tuple[tuple[Judgement, str], ...]
    claim: str = ""
    made: bool = True
    borne: tuple[tuple[str, str], ...] = ()

    @property
    def disagreeing(self) -> tuple[Probe, ...]:
        """The claims that the wire contradicts."""
        return tuple(probe for probe in self.played.probes if not probe.agrees)

    @property
    def warned(self) -> tuple[Judgement, ...]:
        """The broken rules that neither fail the item nor are excused."""
        told = {each.rule for each in (*self.failing, *(judgement for judgement, _ in self.excused))}
        broken = (each for each in self.played.judgements if each.verdict is Verdict.BROKEN)
        return tuple(each for each in broken if each.rule not in told)

    @property
    def outcome(self) -> Literal["failed", "xfailed", "skipped", "passed"]:
        """The item's outcome."""
        if self.played.adapter_error or self.failing or self.played.trouble or self.disagreeing:
            return "failed"
        if self.excused or self.borne:
            return "xfailed"
        if (
            all(each.verdict is Verdict.NOT_CLAIMED for each in self.played.judgements)
            and not self.played.probes
        ):
            return "skipped"
        return "passed"

    @property
    def unexcused(self) -> Judged:
        """The same without known gaps."""
        failing = (*self.failing, *(judgement for judgement, _ in self.excused))
        played = replace(self.played, trouble=(*self.played.trouble, *self.played.borne), borne=())
        return replace(self, played=played, failing=failing, excused=(), borne=())

    @property
    def reason(self) -> str:
        """Why the item is skipped, or why its failure is expected."""
        excused = [(judgement.rule, reason) for judgement, reason in self.excused]
        excused += [("trouble", reason) for _, reason in self.borne]
        if excused:
            if len(excused) == 1:
                return one_line(excused[0][1])
            return "; ".join(f"{what}: {one_line(reason)}" for what, reason in excused)
        if self.claim:
            return f"no probe of {self.claim}: {_MADE if self.made else _NOT_MET}"
        missing = dict.fromkeys(one_line(each.detail) for each in self.played.judgements)
        return f"not claimed: {'; '.join(missing)}"


def judge(played: Played, scenario: Scenario, options: Options) -> Judged:
    """Sort out what a played scenario means under the options of the run."""
    judgements = _selected(played, scenario, options)
    failing: list[Judgement] = []
    excused: list[tuple[Judgement, str]] = []
    marked: list[Judgement] = []
    for judgement in judgements:
        gap = options.gaps.find(judgement.rule, played.wrapper, played.era)
        if judgement.verdict is Verdict.BROKEN and gap is not None:
            excused.append((judgement, gap.reason))
            judgement = replace(judgement, verdict=Verdict.KNOWN_GAP)
        elif _fails(judgement, played.era, strict=options.strict):
            if judgement.verdict is Verdict.BROKEN and options.adopt is not None:
                excused.append((judgement, adoption(judgement.detail)))
            else:
                failing.append(judgement)
        marked.append(judgement)
    borne = _borne(played, options)
    played = replace(
        played,
        judgements=tuple(marked),
        trouble=tuple(each for each in played.trouble if each not in borne),
        borne=tuple(borne),
    )
    return Judged(played, tuple(failing), tuple(excused), scenario.claim, borne=tuple(borne.items()))


def _borne(played: Played, options: Options) -> dict[str, str]:
    """The trouble that known gaps accept, and why."""
    found = ((each, options.gaps.bearing(each, played.wrapper, played.era)) for each in played.trouble)
    return {trouble: gap.reason for trouble, gap in found if gap is not None}


def unplayed(played: Played, rules: tuple[Rule, ...], reason: str) -> Played:
    """The verdict on a scenario that could not be played, or whose process died."""
    if not rules:
        return replace(played, trouble=(reason,))
    return replace(
        played, judgements=tuple(Judgement(rule.id, Verdict.NOT_TESTABLE, reason) for rule in rules)
    )


def adoption(detail: str) -> str:
    """The reason of a known gap that nobody has explained yet."""
    first = next(iter(detail.splitlines()), "broken")
    return f"adopted on {date.today().isoformat()}: {short(first, 160)}"


def _selected(played: Played, scenario: Scenario, options: Options) -> tuple[Judgement, ...]:
    judged = tuple(each for each in played.judgements if each.rule in options.selected)
    if played.adapter_error:
        return judged
    said = {each.rule for each in judged}
    unsaid = (rule.id for rule in scenario.rules if rule.id in options.selected and rule.id not in said)
    return judged + tuple(
        Judgement(rule, Verdict.NOT_TESTABLE, "the scenario ended without a word on this rule")
        for rule in unsaid
    )


def _fails(judgement: Judgement, era: str, *, strict: bool) -> bool:
    if judgement.verdict is Verdict.BROKEN:
        return strict or judgement.hard or RULES[judgement.rule].level_in(era) is MUST
    return judgement.verdict in (Verdict.UNKNOWN, Verdict.NOT_TESTABLE)
