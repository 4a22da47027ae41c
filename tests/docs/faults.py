"""The table of faults, as the page about the scripted server shows it."""

from __future__ import annotations

from itertools import groupby

from pytest_mcp_conformance.contract import WAYS
from pytest_mcp_conformance.server import FAULTS
from pytest_mcp_conformance.server.faults import Fault

__all__ = ["rows"]


def rows() -> list[str]:
    """One line for each fault: its name, what happens, and the steps and ways in where it makes sense."""
    return [f"| `{fault.name}` | {fault.says} | {_places(fault)} |" for fault in FAULTS.values()]


def _places(fault: Fault) -> str:
    runs = groupby(fault.at.items(), key=lambda place: place[1])
    return "; ".join(f"{', '.join(step for step, _ in run)}: {_ways(ways)}" for ways, run in runs)


def _ways(ways: tuple[str, ...]) -> str:
    return "every way" if ways == WAYS else ", ".join(ways)
