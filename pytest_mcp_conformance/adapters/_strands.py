"""The `MCPClient` of Strands Agents over each way in, as old releases take it and as new ones do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from inspect import signature
from typing import Any

from mcp import stdio_client
from strands.tools.mcp import MCPClient

from pytest_mcp_conformance.adapters._transports import child_of, sdk_http
from pytest_mcp_conformance.contract import Dial

__all__ = ["MANAGED", "NOW", "PAGED", "client_of", "loads", "stops"]

NOW = "on_tools_changed" in signature(MCPClient.__init__).parameters
"""Whether it takes a URL, a handler of changes, and with a call `_meta` and a progress handler."""

MANAGED = hasattr(MCPClient, "load_tools")
"""Whether an `Agent` starts it and loads its tools, as since 1.14; before, its user enters it and lists."""

PAGED = not MANAGED and "pagination_token" in signature(MCPClient.list_tools_sync).parameters
"""Whether the pages of a list are left to its user, as since 1.0."""


def client_of(dial: Dial) -> Any:
    """A managed client, with the handler of changes that turns on the refresh."""
    changes: dict[str, Any] = {"on_tools_changed": lambda previous, refreshed, **more: None} if NOW else {}
    if dial.transport == "stdio":
        return MCPClient(partial(stdio_client, child_of(dial)), **changes)
    if NOW:
        return MCPClient(url=dial.url, headers=dial.headers, **changes)
    return MCPClient(partial(sdk_http, dial.url, dict(dial.headers)))


def loads(client: Any) -> Any:
    """The tools that its user is given; it blocks its loop, so `Agent` too gives it one of its own."""
    return asyncio.run(client.load_tools()) if MANAGED else client.list_tools_sync()


def stops(client: Any) -> Callable[[], None]:
    """What stops it; one that its user enters is entered now, and stopped by leaving it."""
    if MANAGED:
        return partial(client.stop, None, None, None)
    entered = ExitStack()
    entered.enter_context(client)
    return entered.close
