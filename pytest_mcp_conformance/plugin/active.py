"""What the plugin does once it is asked for: the hooks of an active run."""

from __future__ import annotations

from collections.abc import Generator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp_conformance.contract import RULES, AdapterError, UsageError
from pytest_mcp_conformance.plugin import stop
from pytest_mcp_conformance.plugin.asking import from_fixtures
from pytest_mcp_conformance.plugin.cells import cells_of, wanted_scenarios
from pytest_mcp_conformance.plugin.collect import NAME, items_of
from pytest_mcp_conformance.plugin.crashes import Crashes, raise_restart_limit
from pytest_mcp_conformance.plugin.ending import Ending
from pytest_mcp_conformance.plugin.items import ATTRIBUTE, DATA, blank_of, cell_of, data_of, play_item
from pytest_mcp_conformance.plugin.judging import judge, unplayed
from pytest_mcp_conformance.plugin.options import CONTRACT, Options, read_options
from pytest_mcp_conformance.plugin.results import Results
from pytest_mcp_conformance.plugin.sources import Found, choose, from_hooks, from_ini
from pytest_mcp_conformance.reports.json import version_of
from pytest_mcp_conformance.server.ways.ways import not_installed

__all__ = ["Conformance"]


class Conformance:
    """One active run.

    Args:
        config: The run's configuration.
        named: The virtual node ids of the command line.
        only: True when the command line names nothing else.

    Raises:
        UsageError: An option cannot be met.
    """

    def __init__(self, config: pytest.Config, named: list[str], *, only: bool) -> None:
        self.config = config
        self.options: Options = read_options(config)
        self.results = Results()
        self.directories: dict[Path, pytest.Collector] = {}
        worker = getattr(config, "workerinput", {})
        self.dead: frozenset[str] = frozenset(worker.get("mcp_dead", ()))
        self._is_worker = hasattr(config, "workerinput")
        self._named = named
        self._only = only
        self._crashes = Crashes(self.options)
        self._ending = Ending(config, self.options, self.results)
        raise_restart_limit(config)

    def pytest_report_header(self) -> str:
        """What judges, and what stands beneath the wrappers."""
        return f"mcp-conformance: contract {CONTRACT}, mcp {version_of('mcp') or 'not installed'}"

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_directory(self, path: Path) -> Generator[None, Any, Any]:
        """Remember the folders: a fixture of a conftest.py is seen from below its folder."""
        node = yield
        if node is not None:
            self.directories[path] = node
        return node

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """With nothing but virtual node ids named, the tree is walked for its conftest files alone."""
        return True if self._only and collection_path.is_file() else None

    def pytest_exception_interact(
        self, call: pytest.CallInfo[Any], report: pytest.CollectReport | pytest.TestReport
    ) -> None:
        """An adapter declared wrongly in a nested conftest.py is a usage error there as well."""
        error = call.excinfo.value if call.excinfo is not None else None
        cause = getattr(error, "cause", None)
        if isinstance(report, pytest.CollectReport) and isinstance(cause, AdapterError):
            report.longrepr = f"{getattr(error, 'path', '')}: {cause}"
            stop(self.config, str(cause), shown=True)

    def add_catalogue(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the items of the catalogue.

        Raises:
            UsageError: There is no adapter, or a name leads nowhere.
        """
        if self.config.getoption("mcp_conformance"):
            added = self._catalogue(session)
            items[:] = added if self._only else [*items, *added]
            report = pytest.CollectReport(nodeid=NAME, outcome="passed", longrepr=None, result=[*added])
            session.ihook.pytest_collectreport(report=report)
        for item in items:
            cell = cell_of(item)
            if cell is not None:
                item.extra_keyword_matches.update(cell.keywords)

    def _catalogue(self, session: pytest.Session) -> list[pytest.Item]:
        found = [*from_hooks(self.config), *from_fixtures(session, self.directories), *from_ini(self.config)]
        chosen = choose(found, self.options.wrappers)
        by_parent: dict[pytest.Collector, list[Found]] = {}
        for each in chosen:
            by_parent.setdefault(each.parent or session, []).append(each)
        items: list[pytest.Item] = []
        missing: set[str] = set()
        for parent, group in by_parent.items():
            cells = [
                cell
                for each in wanted_scenarios(self.options)
                for cell in cells_of(each, group, self.options)
            ]
            missing |= {not_installed(way) for way in {cell.way for cell in cells}}
            items += items_of(parent, cells, self._play)
        if missing and "" not in missing:
            names = ", ".join(each.adapter.name for each in chosen)
            raise UsageError(
                f"--mcp-conformance: nothing of {names} can be played here: {'; '.join(sorted(missing))}"
            )
        if not items:
            raise UsageError(self._nothing_to_play([each.adapter.name for each in chosen]))
        return self._named_ones(items) if self._named else items

    def _named_ones(self, items: list[pytest.Item]) -> list[pytest.Item]:
        known = [item.nodeid for item in items]
        for name in self._named:
            if not any(_is_named(nodeid, name) for nodeid in known):
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else "--collect-only prints them all"
                raise UsageError(f"{name}: there is no such item; {hint}")
        return [item for item in items if any(_is_named(item.nodeid, name) for name in self._named)]

    def _nothing_to_play(self, wrappers: list[str]) -> str:
        options = self.options
        eras = " and ".join(options.eras)
        over = f", over {options.way}" if options.way is not None else ""
        chosen = sorted(options.selected)
        asked = ", ".join(chosen) if len(chosen) < 4 else "any of the rules that are selected"
        untested = RULES[chosen[0]].untested if len(chosen) == 1 else ""
        if untested:
            asked += f" ({untested})"
        return (
            f"--mcp-conformance: no scenario judges {asked} for {', '.join(wrappers)} in the era {eras}"
            f"{over}; ask for more, or see 'mcp-conformance rules' for the rules that are not tested and why"
        )

    def _play(self, request: pytest.FixtureRequest, cell: Any, adapter: Any) -> None:
        __tracebackhide__ = True
        play_item(self, request.node, cell, adapter)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let the report carry what was played. An item that could not be set up has a verdict as well."""
        report = yield
        data = item.stash.get(DATA, None)
        cell = cell_of(item)
        if cell is None or call.when == "teardown":
            return report
        if data is None and report.failed:
            adapter = cell.found.adapter
            blank = unplayed(blank_of(cell), cell.scenario.rules, f"the item's {call.when} failed")
            data = data_of(judge(blank, cell.scenario, self.options).played, adapter.claims.stated())
        if data is not None and (call.when == "call" or report.failed):
            setattr(report, ATTRIBUTE, data)
        error = call.excinfo.value if call.excinfo is not None else None
        if report.failed and isinstance(error, pytest.fail.Exception) and not error.pytrace:
            # Without this, styles like --tb=line name the line of ours that raised.
            report.longrepr = str(error)
        if report.skipped and isinstance(report.longrepr, tuple) and data is not None:
            # By place, pytest folds skips of one reason into one line: the place is the catalogue.
            report.longrepr = (NAME, None, report.longrepr[2].removeprefix("Skipped: "))  # type: ignore[assignment]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather what items say. An adapter that is wrong is told of once."""
        data = getattr(report, ATTRIBUTE, None)
        if data is None or self._is_worker:
            return
        played = self.results.add(report.nodeid, data)
        if data.get("unwritten"):
            self._ending.blame(data["unwritten"])
        if played.adapter_error and not stop(self.config, played.adapter_error, shown=True):
            report.longrepr = "the adapter is wrong: see above"

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """A wrapper ended the process: that is the item's verdict."""
        self._crashes.judge(crashitem, report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker which wrappers are not to be played again."""
        node.workerinput["mcp_dead"] = self._crashes.dead

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Learn the order of the items; every worker has the same."""
        self.results.in_the_order_of(ids)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write what was asked for, and look at the known gaps."""
        if not self._is_worker:
            self._ending.finish(session)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The section 'MCP conformance'."""
        self._ending.summarise(terminalreporter)


def _is_named(nodeid: str, name: str) -> bool:
    return nodeid == name or name == NAME or nodeid.startswith(name + "[")
