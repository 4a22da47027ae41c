"""What may be played against one wrapper."""

from __future__ import annotations

from pytest_mcp_conformance.contract import Adapter
from pytest_mcp_conformance.scenarios import CATALOGUE, Scenario

__all__ = ["cells"]


def cells(adapter: Adapter, scenarios: tuple[Scenario, ...] = CATALOGUE) -> list[tuple[Scenario, str, str]]:
    """Everything that may be played against `adapter`: scenario, era, variant."""
    spoken = adapter.claims.eras or ("handshake", "modern")
    return [
        (scenario, era, variant)
        for scenario in scenarios
        for era in sorted(scenario.eras)
        if era in spoken
        for variant in scenario.variants
    ]
