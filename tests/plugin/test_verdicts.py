"""From items to verdicts: the worst item decides."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.contract import MUST, SHOULD, Judgement, Played, Probe, Verdict
from pytest_mcp_conformance.plugin.judging import Judged
from pytest_mcp_conformance.reports.verdicts import Entry, RuleVerdict, verdicts_of

ORDER = [
    Verdict.BROKEN,
    Verdict.UNKNOWN,
    Verdict.NOT_TESTABLE,
    Verdict.KNOWN_GAP,
    Verdict.KEPT,
    Verdict.NOT_CLAIMED,
]


def entry(name: str, *judgements: Judgement, era: str = "handshake", probes: tuple[Probe, ...] = ()) -> Entry:
    return Entry(name, Played(name, "acme", "1.0", era=era, judgements=judgements, probes=probes), {})


def verdict(*entries: Entry, rule: str = "CCH-13") -> RuleVerdict:
    (wrapper,) = verdicts_of(entries)
    return wrapper.rules[rule]


@pytest.mark.parametrize(
    ("better", "worse"), [pair for at, w in enumerate(ORDER) for pair in ((b, w) for b in ORDER[at + 1 :])]
)
def test_the_worse_verdict_stands(better, worse):
    found = verdict(
        entry("one", Judgement("CCH-13", better)), entry("two", Judgement("CCH-13", worse, "seen"))
    )
    assert (found.verdict, found.items, found.detail) == (worse, ("two",), "seen")


def test_a_fault_is_inherited_when_the_sdk_shows_it_in_every_item():
    own = Judgement("CCH-13", Verdict.BROKEN)
    inherited = Judgement("CCH-13", Verdict.BROKEN, inherited=True)
    assert verdict(entry("one", inherited), entry("two", inherited)).inherited
    assert not verdict(entry("one", inherited), entry("two", own)).inherited
    assert not verdict(entry("one", Judgement("CCH-13", Verdict.KEPT, inherited=True))).inherited


def test_a_level_is_that_of_the_items_that_decide():
    broken, kept = Judgement("CALL-6", Verdict.BROKEN), Judgement("CALL-6", Verdict.KEPT)
    weak = verdict(entry("one", broken), entry("two", kept, era="modern"), rule="CALL-6")
    assert (weak.level, weak.fails(strict=False), weak.fails(strict=True)) == (SHOULD, False, True)
    strong = verdict(entry("one", broken), entry("two", broken, era="modern"), rule="CALL-6")
    assert (strong.level, strong.fails(strict=False)) == (MUST, True)


def test_what_was_left_behind_fails_at_any_level():
    assert verdict(entry("one", Judgement("CONN-9", Verdict.BROKEN, hard=True)), rule="CONN-9").fails(
        strict=False
    )


def test_a_probe_that_disagrees_stands_for_its_claim():
    agreeing, disagreeing = Probe("polls", False, False), Probe("polls", False, True, "it polls")
    other = Probe("redials", False, False)
    (wrapper,) = verdicts_of(
        [
            entry("a", probes=(agreeing, other)),
            entry("b", probes=(disagreeing,)),
            entry("c", probes=(agreeing,)),
        ]
    )
    assert wrapper.probes == (disagreeing, other)


def test_a_rule_that_nothing_judged_is_not_there():
    (wrapper,) = verdicts_of([entry("one", Judgement("CCH-13", Verdict.KEPT))])
    assert list(wrapper.rules) == ["CCH-13"]
    assert wrapper.counts == {
        "kept": 1,
        "broken": 0,
        "known-gap": 0,
        "not-claimed": 0,
        "not-testable": 0,
        "unknown": 0,
    }


@pytest.mark.parametrize(("made", "word"), [(True, "a claim that is made"), (False, "not met in this era")])
def test_a_probe_that_was_not_played_says_why(made, word):
    judged = Judged(Played("claim_polls", "acme"), (), (), "polls", made=made)
    assert judged.outcome == "skipped"
    assert word in judged.reason
