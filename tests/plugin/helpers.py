"""Text for the tests of the plugin: adapters for a conftest.py, and what a usage error looks like."""

from __future__ import annotations

import pytest

ADAPTER = """\
from pytest_mcp_conformance import Claims, adapter

@adapter({name!r}, version={says!r}, claims=Claims(transports=('memory',), {claims}))
async def {variable}(dial):
    yield
"""
HOOK = """
def pytest_mcp_adapters(config):
    return [{variables}]
"""


def declared(says: str = "", *, name: str = "acme", claims: str = "", variable: str = "") -> str:
    """The source of one adapter; `says` is what the stand-in catalogue makes of it."""
    return ADAPTER.format(name=name, says=says, claims=claims, variable=variable or name.replace("-", "_"))


def hook(*variables: str) -> str:
    """The source of a hook that returns adapters by the names of their variables."""
    return HOOK.format(variables=", ".join(variables))


def error_of(result: pytest.RunResult) -> str:
    """The one usage error of a run: exit code 4, one message, no traceback.

    Raises:
        AssertionError: It is not so.
    """
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str()
    errors = [line for line in result.errlines if line.startswith("ERROR: ")]
    assert len(errors) == 1, result.errlines
    for output in (result.stdout.str(), result.stderr.str()):
        assert "Traceback" not in output
        assert "INTERNALERROR" not in output
    return errors[0].removeprefix("ERROR: ")
