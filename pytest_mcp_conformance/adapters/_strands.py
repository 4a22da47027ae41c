"""The `MCPClient` of Strands Agents over each way in, as old releases take it and as new ones do."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any

from mcp import stdio_client
from strands.tools.mcp import MCPClient

from pytest_mcp_conformance.adapters._transports import child_of, sdk_http
from pytest_mcp_conformance.contract import Dial

__all__ = ["NOW", "client_of"]

NOW = "on_tools_changed" in signature(MCPClient.__init__).parameters
"""Whether it takes a URL, a handler of changes, and with a call `_meta` and a progress handler."""


def client_of(dial: Dial) -> Any:
    """A managed client, with the handler of changes that turns on the refresh."""
    changes: dict[str, Any] = {"on_tools_changed": lambda previous, refreshed, **more: None} if NOW else {}
    if dial.transport == "stdio":
        return MCPClient(partial(stdio_client, child_of(dial)), **changes)
    if NOW:
        return MCPClient(url=dial.url, headers=dial.headers, **changes)
    return MCPClient(partial(sdk_http, dial.url, dict(dial.headers)))
