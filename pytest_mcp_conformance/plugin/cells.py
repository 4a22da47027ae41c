"""Which items there are: scenario by wrapper, era and variant; and how a node id is read back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_mcp_conformance.contract import ERAS, RULES, WAYS, Adapter, eras_over, way_into, ways_of
from pytest_mcp_conformance.plugin.options import Options
from pytest_mcp_conformance.plugin.sources import Found

if TYPE_CHECKING:
    from pytest_mcp_conformance.scenarios import Scenario

__all__ = ["Cell", "catalogue", "cells_of", "planned", "read_node_id", "wanted_scenarios"]


@dataclass(frozen=True)
class Cell:
    """One item to be: what is played, against whom, and how.

    Attributes:
        scenario: What is played.
        found: The adapter and where it comes from.
        era: The era.
        variant: One of the scenario's variants, or empty.
        way: The way in.
    """

    scenario: Scenario
    found: Found
    era: str
    variant: str
    way: str

    @property
    def wrapper(self) -> str:
        """The adapter's name."""
        return self.found.adapter.name

    @property
    def id(self) -> str:
        """What stands in the brackets of the node id."""
        return "-".join(filter(None, (self.wrapper, self.way, self.era, self.variant)))

    @property
    def rules(self) -> list[str]:
        """The ids of the rules that the scenario judges."""
        return [rule.id for rule in self.scenario.rules]

    @property
    def keywords(self) -> set[str]:
        """Words for `-k`: the ids and areas of its rules, and the claim that it probes."""
        words = {*self.rules, *(rule.area for rule in self.scenario.rules), self.scenario.claim}
        return words - {""}


def catalogue() -> tuple[Scenario, ...]:
    """Every scenario. Imported here and not above: under pytest-xdist one process can do without the SDK."""
    from pytest_mcp_conformance import scenarios

    return scenarios.CATALOGUE


def wanted_scenarios(options: Options) -> Iterator[Scenario]:
    """The scenarios that judge a selected rule, and the probes of the claims that these need."""
    judging = [each for each in catalogue() if any(rule.id in options.selected for rule in each.rules)]
    if not judging:
        return
    needed = {name for rule in options.selected for need in RULES[rule].needs for name in need.split(" or ")}
    yield from (each for each in catalogue() if each.claim and (not options.narrowed or each.claim in needed))
    yield from judging


def way_of(scenario: Scenario, adapter: Adapter, era: str, wanted: str | None) -> str | None:
    """Over which way in a scenario is played against an adapter in an era; `None` where there is none.

    The first that both know, unless one is wanted. A part that is looked into is handed streams over memory
    by the script itself; a wrapper that takes no streams may hand out such parts as well.

    Args:
        scenario: What is played.
        adapter: Whom it is played against.
        era: The era.
        wanted: What `--mcp-transport` says.
    """
    way = way_into(adapter, scenario.ways, era) if wanted is None else wanted
    open_to_it = wanted is None or (wanted in ways_of(adapter) and wanted in scenario.ways)
    return way if open_to_it and era in eras_over(way) else None


def cells_of(scenario: Scenario, found: Iterable[Found], options: Options) -> list[Cell]:
    """The items of one scenario, in the order of the adapters."""
    return [
        Cell(scenario, each, era, variant, way)
        for each in found
        for era in ERAS
        if era in options.eras and era in scenario.eras and era in (each.adapter.claims.eras or ERAS)
        if (way := way_of(scenario, each.adapter, era, options.way)) is not None
        for variant in scenario.variants
    ]


def planned(rule: str, eras: Iterable[str], wanted: str | None) -> set[tuple[str, str, str]]:
    """Every (scenario, era, variant) that judges a rule in some eras, whatever a run was narrowed to.

    Args:
        rule: The rule's id.
        eras: In which eras.
        wanted: What `--mcp-transport` says.
    """
    return {
        (scenario.name, era, variant)
        for scenario in catalogue()
        if any(each.id == rule for each in scenario.rules) and wanted in (None, *scenario.ways)
        for era in eras
        if era in scenario.eras and (wanted is None or era in eras_over(wanted))
        for variant in scenario.variants
    }


def read_node_id(nodeid: str) -> tuple[Scenario, str, str, str, str] | None:
    """The scenario, wrapper, way, era and variant that a node id names; `None` where it is none of ours."""
    fitting = re.fullmatch(
        rf"(?:mcp-conformance::(?P<own>\w+)\[|.*\[(?P<other>\w+)-)(?P<wrapper>.+)-(?P<way>{'|'.join(WAYS)})-"
        rf"(?P<era>{'|'.join(ERAS)})(?:-(?P<variant>.+))?\](?:@.*)?",
        nodeid,
    )
    if fitting is None:
        return None
    name = fitting["own"] or fitting["other"]
    scenario = next((each for each in catalogue() if each.name == name), None)
    if scenario is None:
        return None
    variant = next(
        (each for each in scenario.variants if each and (fitting["variant"] or "").startswith(each)), ""
    )
    return scenario, fitting["wrapper"], fitting["way"], fitting["era"], variant
