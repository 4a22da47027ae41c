"""Whom this repository judges: the reference, and the clients of the SDK that is installed."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.elsewhere import loopback_only


def pytest_mcp_adapters(config):
    from pytest_mcp_conformance.adapters import bundled  # not before the flag asks for it

    return list(bundled().values())


@pytest.fixture(scope="session", autouse=True)
def _no_test_leaves_this_machine():
    with loopback_only():
        yield
