"""The checker beside the scenarios: it accuses no reference, and where both judge they never disagree.

A sample is played, the same one in each run; all of it where EVERY_PLACE is set.
"""

from __future__ import annotations

import os
from zlib import crc32

import pytest

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.contract import Verdict
from pytest_mcp_conformance.history.model.faults import FAULTS
from pytest_mcp_conformance.scenarios import CATALOGUE
from tests.cells import cells
from tests.history.judged import judged
from tests.right import RIGHT
from tests.wrong import WRONG

CITED = {rule for fault in FAULTS.values() for rule in fault.rules}
OVER_MEMORY = tuple(s for s in CATALOGUE if s.rules and "memory" in s.ways)
ONE_IN = 1 if os.environ.get("EVERY_PLACE") else 6


def sampled(named):
    return crc32(named.encode()) % ONE_IN == 0


def cells_of(adapter, scenarios=OVER_MEMORY):
    return [cell for cell in cells(adapter, scenarios) if sampled(f"{adapter.name} {_id(cell)}")]


def _id(cell):
    scenario, era, variant = cell
    return "-".join(filter(None, (scenario.name, era, variant)))


@pytest.mark.parametrize("cell", cells_of(bundled()["reference"]), ids=_id)
def test_the_reference_is_accused_of_nothing(cell):
    scenario, era, variant = cell
    assert judged(scenario, bundled()["reference"], era=era, way="memory", variant=variant).findings == ()


@pytest.mark.parametrize("adapter", RIGHT, ids=lambda adapter: adapter.name)
def test_right_wrappers_of_another_make_are_accused_of_nothing(adapter):
    for scenario, era, variant in cells_of(adapter):
        if sampled(f"{scenario.name} {adapter.name}"):
            assert judged(scenario, adapter, era=era, way="memory", variant=variant).findings == ()


@pytest.mark.parametrize(
    "wrong", [w for w in WRONG if w.rule.id in CITED and not w.inside], ids=lambda wrong: wrong.name
)
def test_where_both_judge_they_never_disagree(wrong):
    own = tuple(s for s in OVER_MEMORY if wrong.rule in s.rules)
    others = tuple(
        s for s in OVER_MEMORY if s not in own and crc32(f"{wrong.name} {s.name}".encode()) % 40 == 0
    )
    for scenario, era, variant in [*cells(wrong.adapter, own), *cells_of(wrong.adapter, others)]:
        play = judged(scenario, wrong.adapter, era=era, way="memory", variant=variant)
        kept = {each.rule for each in play.played.judgements if each.verdict is Verdict.KEPT}
        assert [finding for finding in play.findings if finding.rule in kept] == []


def test_every_rule_that_is_cited_for_itself_has_a_wrong_wrapper_that_is_found():
    seen = ["cch_12_notice_is_only_logged", "cch_15_last_arrival_wins", "call_1_equal_call_is_not_sent"]
    for wrong in (w for w in WRONG if w.name in seen):
        found = {
            finding.rule
            for scenario, era, variant in cells(
                wrong.adapter, tuple(s for s in OVER_MEMORY if wrong.rule in s.rules)
            )
            for finding in judged(scenario, wrong.adapter, era=era, way="memory", variant=variant).findings
        }
        assert wrong.rule.id in found
