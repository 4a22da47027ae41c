"""The pytest plugin's entry: options, hooks and fixtures, and nothing that costs a run which does not ask.

Until `--mcp-conformance`, or a test that takes a fixture of the kit's, this module is all that is
imported, and it imports pytest and the standard library alone. The rest is `active.Conformance`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from glob import glob
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from pytest_mcp_conformance.history import LiveHistory
    from pytest_mcp_conformance.plugin.active import Conformance
    from pytest_mcp_conformance.plugin.looping import LoopClock
    from pytest_mcp_conformance.plugin.second import Playable
    from pytest_mcp_conformance.server import ScriptedServer

# Scenarios judge by assert. An editable install lists no files by which pytest would find them by itself.
pytest.register_assert_rewrite("pytest_mcp_conformance.scenarios")

_NAME = "mcp-conformance"
_ACTIVE = pytest.StashKey["Conformance"]()
_STOPPED = pytest.StashKey[dict[str, bool]]()
_MANY: dict[str, Any] = {"action": "append", "default": []}
_FLAG: dict[str, Any] = {"action": "store_true"}
_OPTIONS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("--mcp-conformance", "", "add the catalogue of scenarios to this run", _FLAG),
    ("--mcp-wrapper", "NAME", "judge this wrapper; globs; repeatable", _MANY),
    ("--mcp-rule", "PATTERN", "judge these rules, as in CCH, CCH-13 or 'CCH-1*'; repeatable", _MANY),
    ("--mcp-era", "ERA", "handshake or modern; default: each that the adapter supports", {}),
    (
        "--mcp-transport",
        "WAY",
        "memory, http, stdio, loopback or sse; default: the adapter's first",
        {},
    ),
    ("--mcp-strict", "", "a broken SHOULD fails too", _FLAG),
    (
        "--mcp-known-gaps",
        "FILE",
        "the strict baseline: a TOML file of [[gap]] entries; or known-gaps in [tool.mcp-conformance]",
        {},
    ),
    ("--mcp-write-known-gaps", "FILE", "write a first baseline from today's verdicts", {}),
    ("--mcp-report", "FILE", "write a .json report; repeatable", _MANY),
    ("--mcp-history", "DIR", "write the history of each item that is played into this folder", {}),
    ("--mcp-contract", "VERSION", "the rules as frozen at this version: 1.0", {}),
    ("--mcp-explore", "N", "reserved", {}),
    ("--mcp-replay", "TOKEN", "reserved", {}),
)


class _Hooks:
    """What other plugins and conftest files may implement."""

    @pytest.hookspec
    def pytest_mcp_adapters(self, config: pytest.Config) -> list[Any]:  # type: ignore[empty-body]
        """Return a list of adapters, each made by `pytest_mcp_conformance.adapter`."""


class _Watch:
    """Under pytest-xdist, what workers play may reach a process that was not asked for anything."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if hasattr(report, "mcp_conformance") and _ACTIVE not in self._config.stash:
            _activate(self._config).pytest_runtest_logreport(report)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup(_NAME, "conformance of MCP client wrappers")
    for name, value, told, settings in _OPTIONS:
        group.addoption(name, help=told, **settings, **({"metavar": value} if value else {}))
    parser.addini(
        "mcp_adapters", "adapters to judge: bundled names, or module:name", type="linelist", default=[]
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hook of conftest files."""
    pluginmanager.add_hookspecs(_Hooks)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Take the virtual node ids out of the arguments, and become active if that is asked for."""
    config.addinivalue_line(
        "markers", "mcp_conformance(*rules): an item of the catalogue, and the rules that it judges"
    )
    config.addinivalue_line("markers", "mcp_era(era): the era of mcp_server, handshake or modern")
    config.addinivalue_line("markers", "mcp_loop: run this test in virtual time")
    named = [argument for argument in config.args if _is_virtual(config, argument)]
    only = bool(named) and len(named) == len(config.args)
    if named:
        config.option.mcp_conformance = True
        config.args[:] = [argument for argument in config.args if argument not in named]
    if only:
        config.args[:] = _usual_places(config)
    if config.option.mcp_conformance:
        _activate(config, named, only=only)
    else:
        config.pluginmanager.register(_Watch(config), f"{_NAME}-watch")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the catalogue before anything is selected or ordered."""
    kit = config.stash.get(_ACTIVE, None)
    if kit is not None and not stopped(config):
        from pytest_mcp_conformance.contract import UsageError

        try:
            kit.add_catalogue(session, items)
        except UsageError as error:
            stop(config, str(error))
    if stopped(config):
        items.clear()
        if hasattr(config, "workerinput"):
            messages = config.stash[_STOPPED]
            config.workeroutput["mcp_stopped"] = {**messages}  # type: ignore[attr-defined]
        else:
            _raise_what_is_not_shown(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the tests of the second way in."""
    if "mcp_scenario" not in metafunc.fixturenames or stopped(metafunc.config):
        return
    from pytest_mcp_conformance.contract import UsageError
    from pytest_mcp_conformance.plugin.second import parametrize

    try:
        parametrize(_activate(metafunc.config), metafunc)
    except (UsageError, pytest.UsageError) as error:
        stop(metafunc.config, str(error))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Learn from a worker why it had nothing to run."""
    for message, shown in getattr(node, "workeroutput", {}).get("mcp_stopped", {}).items():
        stop(node.config, message, shown=shown)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run that was stopped by a mistake in its use ends as pytest ends such runs."""
    config = session.config
    if not stopped(config) or hasattr(config, "workerinput"):
        return
    session.exitstatus = pytest.ExitCode.USAGE_ERROR
    for message, shown in config.stash[_STOPPED].items():
        if not shown:
            sys.stderr.write(f"ERROR: {message}\n")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Run a test that is marked with `mcp_loop` in virtual time."""
    if pyfuncitem.get_closest_marker("mcp_loop") is None:
        return (yield)
    from pytest_mcp_conformance.plugin.looping import in_virtual_time

    with in_virtual_time(pyfuncitem):
        return (yield)


@pytest.fixture
def mcp_server(request: pytest.FixtureRequest) -> ScriptedServer:
    """A fresh scripted MCP server over memory; `@pytest.mark.mcp_era("modern")` chooses its era."""
    from pytest_mcp_conformance.plugin.offered import server_for

    return server_for(request.node)


@pytest.fixture
def mcp_history(request: pytest.FixtureRequest) -> LiveHistory:
    """What happens in this test, at its `mcp_server` or in its `mcp_scenario`: the entries, oldest first."""
    from pytest_mcp_conformance.plugin.offered import history_for

    return history_for(request)


@pytest.fixture
def listing_history(request: pytest.FixtureRequest) -> SnapshotAssertion:
    """The history as it was before: `assert mcp_history == listing_history`. Needs syrupy."""
    from pytest_mcp_conformance.plugin.offered import snapshot_for

    return snapshot_for(request)


@pytest.fixture
def mcp_clock(request: pytest.FixtureRequest) -> LoopClock:
    """Virtual time, for a test that is marked with `mcp_loop` or takes `mcp_scenario`."""
    from pytest_mcp_conformance.plugin.offered import clock_for

    return clock_for(request)


@pytest.fixture
def mcp_scenario(request: pytest.FixtureRequest) -> Playable:
    """One packaged scenario against one adapter: `mcp_scenario.play()`. The test is made once for each."""
    from pytest_mcp_conformance.plugin.second import Playable

    return Playable(request.config.stash[_ACTIVE], request, request.param)


def stop(config: pytest.Config, message: str, *, shown: bool = False) -> bool:
    """Note that the run cannot go on, for a mistake in its use.

    Args:
        config: The run.
        message: What is wrong, where, and what to write instead.
        shown: The message reaches the user by itself.

    Returns:
        True when the message is new.
    """
    messages = config.stash.setdefault(_STOPPED, {})
    new = message not in messages
    messages.setdefault(message, shown)
    return new


def stopped(config: pytest.Config) -> Sequence[str]:
    """Why the run cannot go on; empty while it can."""
    messages: dict[str, bool] = config.stash.get(_STOPPED, {})
    return tuple(messages)


def _activate(config: pytest.Config, named: list[str] | None = None, *, only: bool = False) -> Conformance:
    """The run's active half; made on first use.

    Raises:
        pytest.UsageError: An option cannot be met.
    """
    if _ACTIVE not in config.stash:
        from pytest_mcp_conformance.contract import UsageError
        from pytest_mcp_conformance.plugin.active import Conformance

        try:
            kit = Conformance(config, named or [], only=only)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        config.stash[_ACTIVE] = kit
        config.pluginmanager.register(kit, f"{_NAME}-active")
    return config.stash[_ACTIVE]


def _usual_places(config: pytest.Config) -> list[str]:
    """Where pytest would look if no argument were given."""
    here = config.invocation_params.dir
    patterns = config.getini("testpaths") if here == config.rootpath else []
    return [place for pattern in patterns for place in sorted(glob(pattern, recursive=True))] or [str(here)]


def _is_virtual(config: pytest.Config, argument: str) -> bool:
    if argument == _NAME:
        return not (config.invocation_params.dir / argument).exists()
    return argument.startswith(f"{_NAME}::")


def _raise_what_is_not_shown(config: pytest.Config) -> None:
    """Raise the first message, which pytest prints as a usage error.

    Raises:
        pytest.UsageError: There is one.
    """
    for message, shown in config.stash[_STOPPED].items():
        if not shown:
            config.stash[_STOPPED][message] = True
            raise pytest.UsageError(message)
