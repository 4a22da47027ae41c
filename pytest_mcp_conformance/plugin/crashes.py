"""Wrappers that end their process: pytest-xdist starts another one, and the item still gets its verdict."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_mcp_conformance.contract import Played
from pytest_mcp_conformance.plugin.cells import read_node_id
from pytest_mcp_conformance.plugin.failure import failure_text
from pytest_mcp_conformance.plugin.items import ATTRIBUTE, data_of
from pytest_mcp_conformance.plugin.judging import judge, unplayed
from pytest_mcp_conformance.plugin.options import Options

__all__ = ["Crashes", "raise_restart_limit"]

_ENOUGH = 3
_RESTARTS = 40


class Crashes:
    """Counts the processes that each wrapper ended."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._counted: Counter[str] = Counter()

    @property
    def dead(self) -> list[str]:
        """The wrappers that ended enough processes: they are not played again."""
        return sorted(name for name, number in self._counted.items() if number >= _ENOUGH)

    def judge(self, nodeid: str, report: pytest.TestReport) -> None:
        """Give the report of a crashed item a verdict."""
        named = read_node_id(nodeid)
        if named is None:
            return
        scenario, wrapper, way, era, variant = named
        self._counted[wrapper] += 1
        blank = Played(scenario.name, wrapper, "", way, era, variant)
        played = unplayed(blank, scenario.rules, f"the process died while playing {scenario.name}")
        judged = judge(played, scenario, self._options)
        virtual = nodeid.startswith("mcp-conformance::")
        report.longrepr = failure_text(judged, nodeid, self._options, virtual=virtual)
        setattr(report, ATTRIBUTE, data_of(judged.played, {}))


def raise_restart_limit(config: pytest.Config) -> None:
    """Let pytest-xdist replace more workers than it would: each death is one verdict."""
    options: Any = config.option
    workers = getattr(options, "numprocesses", None)
    if workers and getattr(options, "maxworkerrestart", "") is None:
        options.maxworkerrestart = str(4 * workers + _RESTARTS)
