"""The fixture `mcp_adapter`: asked once while collecting, for its adapter's name and claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from pytest_mcp_conformance.contract import Adapter, UsageError
from pytest_mcp_conformance.plugin.collect import Catalogue
from pytest_mcp_conformance.plugin.sources import Found
from pytest_mcp_conformance.reports.text import clean

__all__ = ["FIXTURE", "from_fixtures"]

FIXTURE = "mcp_adapter"
_FIXTURE_TYPE = type(pytest.fixture(lambda: None))


def from_fixtures(
    session: pytest.Session, directories: Mapping[Path, pytest.Collector], under: Path | None = None
) -> list[Found]:
    """The adapters that fixtures named `mcp_adapter` give.

    Each such fixture is set up and torn down once, as for a test, before the items are made: an item's name
    holds the adapter's. The items themselves ask the fixture again, each for itself.

    Args:
        session: The run.
        directories: The collected folders.
        under: Only conftest files that stand above this path.

    Raises:
        UsageError: A fixture failed, or gave something that is no adapter.
    """
    found: list[Found] = []
    for folder in _folders_with_the_fixture(session.config):
        if under is None or folder in under.parents:
            parent = directories.get(folder, session)
            found += _ask(parent, f"the fixture {FIXTURE} of {_conftest(session.config, folder)}")
    return found


def _folders_with_the_fixture(config: pytest.Config) -> Iterator[Path]:
    for name, plugin in config.pluginmanager.list_name_plugin():
        if plugin is not None and name.endswith("conftest.py") and _has_fixture(plugin):
            yield Path(name).parent


def _has_fixture(plugin: Any) -> bool:
    for attribute, value in vars(plugin).items():
        if isinstance(value, _FIXTURE_TYPE) and (getattr(value, "name", None) or attribute) == FIXTURE:
            return True
    return False


def _ask(parent: pytest.Collector, place: str) -> list[Found]:
    answers: list[Any] = []

    def question(mcp_adapter: Any) -> None:
        answers.append(mcp_adapter)

    module = ModuleType("mcp-conformance-question")
    module.question = question  # type: ignore[attr-defined]
    found = []
    for item in Catalogue.of(parent, module, ["question"]).collect():
        answers.clear()
        params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        for report in runtestprotocol(item, log=False, nextitem=None):  # type: ignore[arg-type]
            if not report.passed:
                raise UsageError(f"{place} {report.outcome} in its {report.when}: {clean(_said(report))}")
        if not answers or not isinstance(answers[0], Adapter):
            given = clean(repr(answers[0])) if answers else "nothing"
            raise UsageError(f"{place} gave {given}; return what @adapter(...) made")
        found.append(Found(answers[0], place, parent, params))
    return found


def _said(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(getattr(crash, "message", report.longreprtext)).strip()


def _conftest(config: pytest.Config, folder: Path) -> str:
    path = folder / "conftest.py"
    return str(path.relative_to(config.rootpath)) if path.is_relative_to(config.rootpath) else str(path)
