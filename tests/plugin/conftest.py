"""What the tests of the plugin share: a folder with an adapter, and a run in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# What a run inside this process imports is taken out of sys.modules at its end. Imported here, the modules
# are the same in every run, and are loaded once.
import mcp.client.stdio
import mcp.client.streamable_http
import mcp_conformance_reference.overhttp
import pytest

from pytest_mcp_conformance.plugin import active, second
from pytest_mcp_conformance.scenarios import _player
from pytest_mcp_conformance.server.ways import _pools, in_process, loopback
from tests.plugin import stand_in
from tests.plugin.helpers import declared, hook
from tests.plugin.outer import forget_the_run_around

assert active
assert second
assert _player
assert _pools
assert in_process
assert loopback
assert mcp.client.stdio
assert mcp.client.streamable_http
assert mcp_conformance_reference.overhttp
for name in ("httpcore", "httpcore2"):  # httpx loads them with its first client, and keeps their exceptions
    if find_spec(name):
        import_module(name)

ROOT = Path(__file__).parents[2]
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def adapter(pytester: pytest.Pytester) -> Callable[..., Path]:
    """Write a conftest.py with one adapter, `acme`, returned by the hook."""

    def write(says: str = "", *, claims: str = "", more: str = "") -> Path:
        return pytester.makeconftest(declared(says, claims=claims) + hook("acme") + more)

    return write


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run pytest against the stand-in catalogue; with `-n` in a process of its own."""
    # Options from outside and the plugins of other libraries are no part of what is tested here; a process of
    # its own starts in half the time without them. On a CI machine pytest cuts no line of its short summary.
    forget_the_run_around(monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")

    def run(*arguments: Any, flag: bool = True, alone: bool = False) -> pytest.RunResult:
        every = ["-p", "no:asyncio", "-p", "no:syrupy", "-p", "no:randomly"]
        every += ["--mcp-conformance"] if flag else []
        if alone or "-n" in arguments:
            monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            named = ["pytest_mcp_conformance.plugin", "tests.plugin.stand_in"]
            named += ["xdist.plugin"] if "-n" in arguments else []
            return pytester.runpytest_subprocess(*(f"-p{name}" for name in named), *every, *arguments)
        return pytester.runpytest_inprocess(*every, *arguments, plugins=[stand_in])

    return run


@pytest.fixture
def report(run: Run, pytester: pytest.Pytester) -> Callable[..., dict[str, Any]]:
    """Run with `--mcp-report` and read what was written."""

    def read(*arguments: Any) -> dict[str, Any]:
        run("--mcp-report=out.json", *arguments)
        return dict(json.loads((pytester.path / "out.json").read_text()))

    return read
