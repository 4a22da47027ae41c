"""Streamable HTTP through a socket on this machine."""

from __future__ import annotations

from pytest_mcp_conformance.server.ways.loopback import Loopback
from tests.server.http_way import WayOverHttp


class TestLoopback(WayOverHttp):
    kind = Loopback
