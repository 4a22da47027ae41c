"""The SDK's own transports over each way in, for adapters that take several."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pytest_mcp_conformance.contract import Dial

__all__ = ["streams_of"]


@asynccontextmanager
async def streams_of(dial: Dial) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's (read, write) pair over the way in of this run, with the principal's headers over HTTP."""
    if dial.transport == "memory":
        async with dial.streams() as pair:
            yield pair
    elif dial.transport == "stdio":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        command, *arguments = dial.command
        async with stdio_client(StdioServerParameters(command=command, args=arguments)) as pair:
            yield pair
    else:
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        async with (
            create_mcp_http_client(headers=dial.headers) as client,
            streamable_http_client(dial.url, http_client=client) as (read, write, *_),
        ):
            yield read, write
