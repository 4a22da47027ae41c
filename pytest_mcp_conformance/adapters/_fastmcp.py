"""The transports of fastmcp over each way in, for the wrappers that take them."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import ClientTransport, SSETransport, StdioTransport, StreamableHttpTransport
from mcp import ClientSession

from pytest_mcp_conformance.contract import Dial

__all__ = ["MODERN", "RAW", "TAKES", "cache_of", "transport_of"]

MODERN = "mode" in inspect.signature(Client.__init__).parameters
"""Whether this is fastmcp 4.x, which knows both eras and has a response cache."""

TAKES = inspect.signature(Client.call_tool).parameters
"""What a call can be given."""

RAW = {"raise_on_error": False} if "raise_on_error" in TAKES else {}
"""What has a caller see a failed tool with all that it said, not an error with its first text: since 2.10."""


def transport_of(dial: Dial, **child: Any) -> Any:
    """The transport for the way in of this run, with the principal's headers over HTTP.

    Args:
        dial: The way in.
        child: Further settings of a `StdioTransport`.
    """
    if dial.transport == "memory":
        return _Streams(dial)
    if dial.transport == "stdio":
        command, *arguments = dial.command
        return StdioTransport(command, arguments, **child)
    kind = SSETransport if dial.transport == "sse" else StreamableHttpTransport
    return kind(dial.url, headers=dial.headers)


class _Streams(ClientTransport):
    """A transport of the user's own, over a pair of streams."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial

    @asynccontextmanager
    async def connect_session(self, *, transport_options: Any = None, **how: Any) -> AsyncIterator[Any]:
        """A session that its client initialises."""
        kind = getattr(transport_options, "session_class", ClientSession)
        async with self._dial.streams() as (read, write), kind(read, write, **how) as session:
            yield session


def cache_of(dial: Dial) -> dict[str, Any]:
    """What has a client of fastmcp 4.x keep its response cache, by the scenario's clock."""
    if not MODERN:
        return {}
    from mcp.client.caching import CacheConfig  # since mcp 2.0

    return {"cache": CacheConfig(clock=dial.clock.monotonic)}
