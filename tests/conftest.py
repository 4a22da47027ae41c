"""Whom this repository judges: the reference, and the clients of the SDK that is installed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from pytest_mcp_conformance.elsewhere import loopback_only

# A busy machine fails no test, and the same tree gives the same verdict twice.
settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


def pytest_mcp_adapters(config):
    from pytest_mcp_conformance.adapters import bundled  # not before the flag asks for it

    return list(bundled().values())


@pytest.fixture(scope="session", autouse=True)
def _no_test_leaves_this_machine():
    with loopback_only():
        yield
