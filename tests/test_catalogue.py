"""Rule and scenario, both ways: each scenario passes on the reference and catches its wrong wrapper."""

from __future__ import annotations

import os

import pytest

from pytest_mcp_conformance.adapters import bundled, sdk_major
from pytest_mcp_conformance.contract import ERAS, RULES, Verdict
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells
from tests.matrix import PACKAGED, broken_by, packaged, sample
from tests.pages import REFERENCE, kill_matrix, rule_pages, written_kills
from tests.right import RIGHT
from tests.wrong import WRONG

JUDGED = [rule for rule in RULES.values() if not rule.untested]
PAGE = (REFERENCE / "kill-matrix.md").read_text(encoding="utf-8")
WRITTEN = written_kills(PAGE)
PLAYED = cells(bundled()["reference"])
FIRST = {wrong.rule: wrong for wrong in reversed(WRONG)}
HERE = WRONG if sdk_major() >= 2 or os.environ.get("EVERY_WRONG") else [*FIRST.values()][::-1]
"""The pages are about mcp 2.x; on 1.x each rule's first wrong wrapper will do, and tox plays them all."""

both_eras = pytest.mark.skipif(sdk_major() < 2, reason="mcp 1.x speaks one era; the pages are about both")


def _id(cell):
    scenario, era, variant = cell
    return "-".join(filter(None, (scenario.name, era, variant)))


def _playable(rule, adapter=None):
    spoken = ERAS if adapter is None else adapter.claims.eras
    return any(rule in scenario.rules and era in spoken for scenario, era, _ in PLAYED)


@pytest.mark.parametrize("rule", JUDGED, ids=lambda rule: rule.id)
def test_every_judged_rule_has_a_scenario_and_a_wrong_wrapper(rule):
    assert [scenario.name for scenario in CATALOGUE if rule in scenario.rules]
    assert [wrong.name for wrong in WRONG if wrong.rule is rule]


def test_no_untested_rule_has_a_scenario():
    assert not [(s.name, r.id) for s in CATALOGUE for r in s.rules if r.untested]


def test_every_scenario_has_a_name_of_its_own_and_says_what_happens():
    names = [scenario.name for scenario in CATALOGUE]
    assert len(set(names)) == len(names)
    assert not [scenario.name for scenario in CATALOGUE if not scenario.doc]


@pytest.mark.parametrize("cell", PLAYED, ids=_id)
def test_the_reference_breaks_nothing(cell):
    scenario, era, variant = cell
    played = play(scenario, bundled()["reference"], era=era, variant=variant)
    assert not played.adapter_error
    assert not played.trouble
    assert [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []
    assert [probe for probe in played.probes if not probe.agrees] == []


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_a_right_wrapper_that_is_made_otherwise_breaks_nothing(right):
    played = [play(scenario, right, era=era, variant=variant) for scenario, era, variant in cells(right)]
    assert not [each for each in played if each.trouble]
    accused = [
        (each.scenario, each.era, each.variant, judgement)
        for each in played
        for judgement in each.judgements
        if judgement.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)
    ]
    assert accused == []


@pytest.mark.parametrize("rule", JUDGED, ids=lambda rule: rule.id)
def test_the_reference_keeps_every_rule_in_some_scenario_or_another_right_wrapper_does(rule):
    if not _playable(rule):
        pytest.skip("its scenarios need an era that the installed SDK does not speak")
    assert any(Verdict.KEPT in _verdicts(rule, right) for right in (bundled()["reference"], *RIGHT))


def _verdicts(rule, right):
    return [
        judgement.verdict
        for scenario, era, variant in PLAYED
        if rule in scenario.rules
        for judgement in play(scenario, right, era=era, variant=variant).judgements
        if judgement.rule == rule.id
    ]


@pytest.mark.parametrize("wrong", HERE, ids=lambda wrong: wrong.name)
def test_a_wrong_wrapper_breaks_its_rule(wrong):
    if not _playable(wrong.rule, wrong.adapter):
        pytest.skip("its scenarios need an era that the installed SDK does not speak")
    played = sample(wrong)
    broken = set(broken_by(wrong, played))
    assert wrong.rule.id in broken
    if sdk_major() >= 2:
        written = set(WRITTEN.get(wrong.name, ()))
        assert broken <= written, "docs/reference/kill-matrix.md is stale: run tox -e docs"
        whole = {rule for rule in written if all(s in played for s in CATALOGUE if RULES[rule] in s.rules)}
        assert whole <= broken, "docs/reference/kill-matrix.md is stale: run tox -e docs"


@both_eras
@pytest.mark.parametrize("path", sorted(rule_pages()), ids=lambda path: path.name)
def test_the_pages_of_the_rules_are_fresh(path):
    assert path.read_text(encoding="utf-8") == rule_pages()[path], "stale: run tox -e docs"


@both_eras
def test_the_kill_matrix_is_fresh():
    assert set(WRITTEN) == {wrong.name for wrong in WRONG}, "stale: run tox -e docs"
    assert kill_matrix(WRITTEN) == PAGE, "stale: run tox -e docs"


def test_the_packaged_names_of_wrong_wrappers_are_fresh():
    assert PACKAGED.read_text(encoding="utf-8") == packaged(), "stale: run tox -e docs"
