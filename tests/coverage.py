"""Over which ways in each scenario is played, and what it says of the reference there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.contract import ERAS, WAYS, Verdict, eras_over
from pytest_mcp_conformance.scenarios import CATALOGUE, Scenario
from pytest_mcp_conformance.scenarios._player import play
from tests.pages import coverage_page
from tests.unlogged import unlogged

__all__ = ["COLUMNS", "ROWS", "Place", "page", "places", "said"]

Place = tuple[str, str, str]
"""A scenario's name, an era, and a way in."""

ROWS = {scenario.name: scenario for scenario in CATALOGUE if scenario.rules}
"""The scenarios that judge rules, by name."""

COLUMNS = [(way, era) for way in WAYS for era in eras_over(way)]
"""Each way in with each era that is played over it."""


def places() -> Iterator[Place]:
    """Every scenario, era and way in that can be played."""
    for name, scenario in ROWS.items():
        for era in ERAS:
            for way, spoken in COLUMNS:
                if era == spoken and era in scenario.eras and way in scenario.ways:
                    yield name, era, way


@unlogged()
def said(name: str, era: str, way: str) -> str:
    """What a scenario says of the reference: `kept`, `left out`, or what is wrong."""
    verdicts: set[str] = set()
    for variant in ROWS[name].variants:
        played = play(ROWS[name], bundled()["reference"], era=era, way=way, variant=variant, compare=False)
        verdicts |= {str(each.verdict) for each in played.judgements} | {*played.trouble}
    wrong = verdicts - {Verdict.KEPT, Verdict.NOT_CLAIMED}
    if wrong:
        return ", ".join(sorted(wrong))
    return "kept" if Verdict.KEPT in verdicts else "left out"


def page(found: Mapping[Place, str]) -> str:
    """The page: a row for each scenario, a column for each way in and era."""
    rows: list[tuple[Scenario, list[str]]] = [
        (scenario, [found.get((name, era, way), "") for way, era in COLUMNS])
        for name, scenario in ROWS.items()
    ]
    return coverage_page(COLUMNS, rows)
