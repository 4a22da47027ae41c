"""What the fixtures for tests of the user's own give."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from pytest_mcp_conformance.contract import ERAS
from pytest_mcp_conformance.history import LiveHistory
from pytest_mcp_conformance.plugin.looping import MARKER, LoopClock, clock_of, is_virtual
from pytest_mcp_conformance.plugin.noting import OwnHistory
from pytest_mcp_conformance.reports.json import version_of
from pytest_mcp_conformance.server import ScriptedServer

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from pytest_mcp_conformance.plugin.second import Playable

__all__ = ["clock_for", "history_for", "server_for", "snapshot_for"]

SCENARIO = "mcp_scenario"


def server_for(item: pytest.Item) -> ScriptedServer:
    """A scripted server of the era that the test is marked with, on the clock of the test."""
    marker = item.get_closest_marker("mcp_era")
    era = marker.args[0] if marker is not None and marker.args else ERAS[0]
    if era not in ERAS:
        pytest.fail(
            f"@pytest.mark.mcp_era({era!r}): write one of {', '.join(map(repr, ERAS))}", pytrace=False
        )
    server = ScriptedServer(era)
    server.history.keep_time(clock_of(item).monotonic if is_virtual(item) else _stopwatch())
    return server


def history_for(request: pytest.FixtureRequest) -> LiveHistory:
    """The history of the scenario that the test plays, else of its server, from the beginning."""
    if SCENARIO in request.fixturenames:
        scenario: Playable = request.getfixturevalue(SCENARIO)
        history = LiveHistory(**_about(request.node, scenario.era, virtual=True))
        scenario.listeners.append(history.take)
        return history
    server: ScriptedServer = request.getfixturevalue("mcp_server")
    return OwnHistory(server, **_about(request.node, server.era, virtual=is_virtual(request.node)))


def snapshot_for(request: pytest.FixtureRequest) -> SnapshotAssertion:
    """The snapshot object of the test, bound to histories.

    Raises:
        pytest.UsageError: syrupy is not installed, or takes no part in this run.
    """
    if find_spec("syrupy") is None:
        raise pytest.UsageError(
            "listing_history needs syrupy: pip install 'pytest-mcp-conformance[snapshots]'"
        )
    if not request.config.pluginmanager.hasplugin("syrupy"):
        raise pytest.UsageError("listing_history needs the plugin syrupy: run without -p no:syrupy")
    from syrupy.assertion import SnapshotAssertion

    from pytest_mcp_conformance.snapshots import HistorySnapshot

    snapshot = request.getfixturevalue("snapshot")
    if not isinstance(snapshot, SnapshotAssertion):
        raise pytest.UsageError(
            f"listing_history needs syrupy's fixture snapshot, and another gave {type(snapshot).__name__}: "
            "give that fixture another name"
        )
    return snapshot.use_extension(HistorySnapshot)


def clock_for(request: pytest.FixtureRequest) -> LoopClock:
    """The virtual time of a test.

    Raises:
        pytest.UsageError: The test does not run in the kit's loop.
    """
    clock = clock_of(request.node)
    if SCENARIO in request.fixturenames:
        scenario: Playable = request.getfixturevalue(SCENARIO)
        scenario.listeners.append(lambda event: setattr(clock, "last", event.at))
    elif not is_virtual(request.node):
        raise pytest.UsageError(
            f"mcp_clock is the time of the kit's own loop: mark {request.node.name} with "
            f"@pytest.mark.{MARKER}, in the place of asyncio or anyio, or take {SCENARIO}"
        )
    return clock


def _about(item: pytest.Item, era: str, *, virtual: bool) -> dict[str, str]:
    """What the header of a test's history says."""
    return {
        "name": item.nodeid.encode("utf-8", "backslashreplace").decode(),
        "era": era,
        "clock": "virtual" if virtual else "real",
        "kit": version_of("pytest-mcp-conformance"),
        "sdk": version_of("mcp"),
    }


def _stopwatch() -> Callable[[], float]:
    """Seconds from now on."""
    began = time.monotonic()
    return lambda: time.monotonic() - began
