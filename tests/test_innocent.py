"""Wrappers of other shapes than the reference, which keep the rules in ways of their own: none is accused."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.contract import Verdict
from pytest_mcp_conformance.contract.connections import (
    CONCURRENT_FIRST_USE_IS_ONE_DIAL,
    CONNECTION_IN_USE_STAYS_OPEN,
)
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells
from tests.wrong._client import Client
from tests.wrong._wrong import breaks
from tests.wrong.closing import Pooling

LAZY = breaks(CONCURRENT_FIRST_USE_IS_ONE_DIAL, lazy=True)(Client).adapter
"""Dials at its first verb."""

POOLING = breaks(CONNECTION_IN_USE_STAYS_OPEN, pools_connections=True)(Pooling).adapter
"""Holders share one connection, which the last one closes."""

AREAS = frozenset({"CALL", "CONN", "TEN"})
CLIENTS = tuple(s for s in CATALOGUE if AREAS & {rule.area for rule in s.rules})
SHARED = tuple(s for s in CATALOGUE if CONNECTION_IN_USE_STAYS_OPEN in s.rules)
PLAYED = [
    *((LAZY, *cell) for cell in cells(LAZY, CLIENTS)),
    *((POOLING, *cell) for cell in cells(POOLING, SHARED)),
]


def _id(given):
    adapter, scenario, era, variant = given
    return "-".join(filter(None, (adapter.name, scenario.name, era, variant)))


@pytest.mark.parametrize("given", PLAYED, ids=_id)
def test_another_right_wrapper_breaks_nothing(given):
    adapter, scenario, era, variant = given
    played = play(scenario, adapter, era=era, variant=variant, compare=False)
    assert not played.trouble
    assert [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []


@pytest.mark.parametrize(
    ("adapter", "rule"),
    [(LAZY, "CONN-1"), (LAZY, "CONN-4"), (LAZY, "CONN-10"), (LAZY, "CONN-12"), (POOLING, "CONN-16")],
)
def test_what_only_its_shape_shows_is_seen_kept(adapter, rule):
    scenarios = tuple(s for s in CATALOGUE if rule in {r.id for r in s.rules})
    verdicts = {
        judgement.verdict
        for scenario, era, variant in cells(adapter, scenarios)
        for judgement in play(scenario, adapter, era=era, variant=variant, compare=False).judgements
        if judgement.rule == rule
    }
    assert Verdict.KEPT in verdicts
