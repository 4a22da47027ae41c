"""The second way in: a visible test in a file of the user's own, `def test_mcp(mcp_scenario)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.plugin.asking import FIXTURE, from_fixtures
from pytest_mcp_conformance.plugin.cells import Cell, cells_of, wanted_scenarios
from pytest_mcp_conformance.plugin.items import play_item
from pytest_mcp_conformance.plugin.sources import choose, from_hooks, from_ini

if TYPE_CHECKING:
    from pytest_mcp_conformance.plugin.active import Conformance

__all__ = ["Playable", "parametrize"]

ARGUMENT = "mcp_scenario"


class Playable:
    """One scenario against one wrapper, for a test to play.

    Attributes:
        name: The scenario's name.
        wrapper: The adapter's name.
        era: The era.
        variant: The scenario's variant, or empty.
        rules: The ids of the rules that it judges.
        listeners: Told of each event of the scenario as it happens.
    """

    def __init__(self, kit: Conformance, request: pytest.FixtureRequest, cell: Cell) -> None:
        self.name = cell.scenario.name
        self.wrapper = cell.wrapper
        self.era = cell.era
        self.variant = cell.variant
        self.rules = tuple(cell.rules)
        self.listeners: list[Callable[[Event], None]] = []
        self._kit = kit
        self._request = request
        self._cell = cell

    def __repr__(self) -> str:
        return f"<{self.name} [{self._cell.id}]>"

    def play(self) -> None:
        """Play the scenario and give the test its outcome: passed, failed, skipped or xfailed."""
        __tracebackhide__ = True
        found = self._cell.found
        adapter = found.adapter if found.parent is None else self._request.getfixturevalue(FIXTURE)
        play_item(self._kit, self._request.node, self._cell, adapter, self.listeners)


def parametrize(kit: Conformance, metafunc: pytest.Metafunc) -> None:
    """Make one test of each scenario, wrapper, era and variant.

    Raises:
        UsageError: There is no adapter, or a name leads nowhere.
    """
    session = metafunc.definition.session
    path = metafunc.definition.path
    folders = {
        node.path: node for node in metafunc.definition.iter_parents() if isinstance(node, pytest.Directory)
    }
    found = [*from_hooks(kit.config, path), *from_fixtures(session, folders, path), *from_ini(kit.config)]
    chosen = choose(found, kit.options.wrappers)
    for each in chosen:
        if each.params:
            raise UsageError(
                f"{ARGUMENT} in {metafunc.definition.nodeid}: {each.place} is parametrized; "
                "return the adapters from pytest_mcp_adapters(config) instead"
            )
    cells = [cell for each in wanted_scenarios(kit.options) for cell in cells_of(each, chosen, kit.options)]
    metafunc.parametrize(
        ARGUMENT,
        [
            pytest.param(
                cell, id=f"{cell.scenario.name}-{cell.id}", marks=pytest.mark.mcp_conformance(*cell.rules)
            )
            for cell in cells
        ],
        indirect=True,
    )
