"""Whom this repository judges: the reference, and the clients of the SDK that is installed."""

from __future__ import annotations


def pytest_mcp_adapters(config):
    from pytest_mcp_conformance.adapters import bundled  # not before the flag asks for it

    return list(bundled().values())
