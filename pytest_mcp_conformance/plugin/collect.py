"""The catalogue as a virtual module whose items are ordinary test functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from types import ModuleType
from typing import Any

import pytest

from pytest_mcp_conformance.plugin.cells import Cell

__all__ = ["NAME", "Catalogue", "items_of"]

NAME = "mcp-conformance"


class Catalogue(pytest.Module):
    """A module that no file holds. Its path is its parent's folder, so that conftest files there apply."""

    @classmethod
    def of(cls, parent: pytest.Collector, module: ModuleType, names: Collection[str]) -> Catalogue:
        """The collector of the functions `names` of `module`."""
        node: Catalogue = cls.from_parent(parent, path=parent.path, name=NAME, nodeid=NAME)
        node._module = module
        node._names = frozenset(names)
        return node

    _module: ModuleType
    _names: frozenset[str]

    def _getobj(self) -> ModuleType:
        return self._module

    def istestfunction(self, obj: object, name: str) -> bool:
        """Whatever the project's python_functions says."""
        return name in self._names

    def classnamefilter(self, name: str) -> bool:
        """There are no classes."""
        return False


def items_of(parent: pytest.Collector, cells: Iterable[Cell], play: Any) -> list[pytest.Item]:
    """Make the items of `cells`.

    Args:
        parent: The collector under which their fixtures are looked up.
        cells: What is to be played.
        play: Called with the item's request, the cell, and the adapter.
    """
    by_scenario: dict[str, list[Cell]] = {}
    for cell in cells:
        by_scenario.setdefault(cell.scenario.name, []).append(cell)
    module = ModuleType(NAME, "The packaged scenarios.")
    for name, group in by_scenario.items():
        setattr(module, name, _function(name, group, play))
    catalogue = Catalogue.of(parent, module, by_scenario)
    items: list[pytest.Item] = []
    # Not through session.genitems(catalogue): --lf leaves out every file in which nothing failed before,
    # and this module is no file.
    for node in catalogue.collect():
        for item in parent.session.genitems(node):
            item.location = (NAME, None, item.name)
            items.append(item)
    return items


def _function(name: str, cells: list[Cell], play: Any) -> Any:
    fixtures = tuple(cells[0].found.params)
    takes_fixture = cells[0].found.parent is not None

    def with_fixture(request: pytest.FixtureRequest, mcp_cell: Cell, mcp_adapter: Any) -> None:
        play(request, mcp_cell, mcp_adapter)

    def with_adapter(request: pytest.FixtureRequest, mcp_cell: Cell) -> None:
        play(request, mcp_cell, mcp_cell.found.adapter)

    function: Any = with_fixture if takes_fixture else with_adapter
    function.__name__ = function.__qualname__ = name
    function.__doc__ = cells[0].scenario.doc
    params = [
        pytest.param(cell, *(cell.found.params[fixture] for fixture in fixtures), id=cell.id)
        for cell in cells
    ]
    parametrized = pytest.mark.parametrize(("mcp_cell", *fixtures), params, indirect=list(fixtures))(function)
    return pytest.mark.mcp_conformance(*cells[0].rules)(parametrized)
