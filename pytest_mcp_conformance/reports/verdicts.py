"""From played scenarios to verdicts: one for each rule and wrapper. Data only; it prints nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_mcp_conformance.contract import (
    MUST,
    RULES,
    SHOULD,
    Judgement,
    Level,
    Played,
    Probe,
    Rule,
    Verdict,
    worst,
)

__all__ = ["Entry", "RuleVerdict", "WrapperVerdicts", "verdicts_of"]


@dataclass(frozen=True)
class Entry:
    """One item of a run and what came out of it.

    Attributes:
        nodeid: The item's node id.
        played: What the player said; known gaps are marked in it.
        claims: The claims that the adapter makes, as plain data.
    """

    nodeid: str
    played: Played
    claims: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleVerdict:
    """One rule's verdict over all items that judged it.

    Attributes:
        rule: The rule.
        verdict: The first that applies, in the order of `Verdict`.
        level: The strongest level that the rule has among the items that gave the verdict.
        hard: Something was left behind, which fails at any level.
        items: The node ids of those items.
        clock: By which clock they were played: `virtual` where all of them were, and else that of the first
            that was not.
        detail: What the first of them saw.
        proof: The numbers of the events that show it, in the history of the first of them.
        inherited: True when the bare SDK breaks the rule in every one of them.
        eras: The eras of those items.
        kept_eras: The eras of the items that found the rule kept.
    """

    rule: Rule
    verdict: Verdict
    level: Level
    hard: bool
    items: tuple[str, ...]
    clock: str
    detail: str
    proof: tuple[int, ...]
    inherited: bool
    eras: frozenset[str]
    kept_eras: frozenset[str]

    def fails(self, *, strict: bool) -> bool:
        """True when the verdict fails the run; a broken SHOULD only does where `strict` asks for it."""
        if self.verdict is Verdict.BROKEN:
            return strict or self.hard or self.level is MUST
        return self.verdict in (Verdict.UNKNOWN, Verdict.NOT_TESTABLE)


@dataclass(frozen=True)
class WrapperVerdicts:
    """All that a run said of one wrapper.

    Attributes:
        name: The adapter's name.
        version: The wrapper's version.
        claims: The claims that the adapter makes.
        probes: What the wire said of claims, one for each claim; a disagreement goes first.
        rules: The verdicts by rule id, in the order of the catalogue. A rule that no item judged is not here.
        trouble: What went wrong beside the rules, with the item's node id.
        borne: The same of what known gaps accept.
    """

    name: str
    version: str
    claims: Mapping[str, Any]
    probes: tuple[Probe, ...]
    rules: Mapping[str, RuleVerdict]
    trouble: tuple[tuple[str, str], ...]
    borne: tuple[tuple[str, str], ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many rules got each verdict."""
        found = Counter(each.verdict for each in self.rules.values())
        order = ("kept", "broken", "known-gap", "not-claimed", "not-testable", "unknown")
        return {name: found[Verdict(name)] for name in order}


def verdicts_of(entries: Iterable[Entry]) -> tuple[WrapperVerdicts, ...]:
    """The verdicts of a run, wrapper by wrapper in the order in which they were played."""
    by_wrapper: dict[str, list[Entry]] = {}
    for entry in entries:
        by_wrapper.setdefault(entry.played.wrapper, []).append(entry)
    return tuple(_of_wrapper(name, played) for name, played in by_wrapper.items())


def _of_wrapper(name: str, entries: list[Entry]) -> WrapperVerdicts:
    judged: dict[str, list[tuple[Entry, Judgement]]] = {}
    for entry in entries:
        for judgement in entry.played.judgements:
            judged.setdefault(judgement.rule, []).append((entry, judgement))
    return WrapperVerdicts(
        name,
        next((entry.played.version for entry in entries if entry.played.version), ""),
        next((entry.claims for entry in entries if entry.claims), {}),
        _probes(entries),
        {rule.id: _of_rule(rule, judged[rule.id]) for rule in RULES.values() if rule.id in judged},
        tuple((entry.nodeid, trouble) for entry in entries for trouble in entry.played.trouble),
        tuple((entry.nodeid, trouble) for entry in entries for trouble in entry.played.borne),
    )


def _of_rule(rule: Rule, judged: list[tuple[Entry, Judgement]]) -> RuleVerdict:
    verdict = worst(judgement.verdict for _, judgement in judged)
    deciding = [(entry, judgement) for entry, judgement in judged if judgement.verdict is verdict]
    eras = frozenset(entry.played.era for entry, _ in deciding)
    return RuleVerdict(
        rule,
        verdict,
        MUST if any(rule.level_in(era) is MUST for era in eras) else SHOULD,
        any(judgement.hard for _, judgement in deciding),
        tuple(entry.nodeid for entry, _ in deciding),
        _clock(entry.played.clock for entry, _ in deciding),
        next((judgement.detail for _, judgement in deciding if judgement.detail), ""),
        deciding[0][1].proof,
        verdict in (Verdict.BROKEN, Verdict.KNOWN_GAP)
        and all(judgement.inherited for _, judgement in deciding),
        eras,
        frozenset(entry.played.era for entry, judgement in judged if judgement.verdict is Verdict.KEPT),
    )


def _clock(clocks: Iterable[str]) -> str:
    found = list(dict.fromkeys(filter(None, clocks)))
    return next((clock for clock in found if clock != "virtual"), "virtual" if found else "")


def _probes(entries: list[Entry]) -> tuple[Probe, ...]:
    found: dict[str, Probe] = {}
    for entry in entries:
        for probe in entry.played.probes:
            if probe.claim not in found or not probe.agrees:
                found[probe.claim] = probe
    return tuple(sorted(found.values(), key=lambda probe: probe.agrees))
