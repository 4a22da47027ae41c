"""The SDK's own transports over each way in, for adapters that take several."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from pytest_mcp_conformance.contract import Dial

__all__ = ["OverHttp", "child_of", "sdk_http", "sdk_sse", "streams_of"]

OverHttp = Callable[[str, dict[str, str]], AbstractAsyncContextManager[tuple[Any, Any]]]
"""Opens a (read, write) pair to a URL, with these headers on every request."""


@asynccontextmanager
async def sdk_http(url: str, headers: dict[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's own transport over the SDK's own HTTP client."""
    from mcp.client import streamable_http as module
    from mcp.shared._httpx_utils import create_mcp_http_client

    sdk: Any = module  # its names differ by release
    streamable_http_client = getattr(sdk, "streamable_http_client", None)
    if streamable_http_client is None:  # before mcp 1.24
        async with sdk.streamablehttp_client(url, headers) as (read, write, *_):
            yield read, write
        return
    async with (
        create_mcp_http_client(headers=headers) as client,
        streamable_http_client(url, http_client=client) as (read, write, *_),
    ):
        yield read, write


@asynccontextmanager
async def sdk_sse(url: str, headers: dict[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's transport of before streamable HTTP."""
    from mcp.client.sse import sse_client

    async with sse_client(url, headers) as pair:
        yield pair


def child_of(dial: Dial) -> Any:
    """The command of a stdio server, as the SDK's parameters."""
    from mcp import StdioServerParameters

    command, *arguments = dial.command
    return StdioServerParameters(command=command, args=arguments)


@asynccontextmanager
async def streams_of(
    dial: Dial, over_http: OverHttp = sdk_http, over_sse: OverHttp = sdk_sse
) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's (read, write) pair over the way in of this run, with the principal's headers over HTTP.

    Args:
        dial: The way in.
        over_http: Opens it where that is over HTTP.
        over_sse: Opens it where that is over the transport before.
    """
    if dial.transport == "memory":
        async with dial.streams() as pair:
            yield pair
    elif dial.transport == "stdio":
        from mcp.client.stdio import stdio_client

        async with stdio_client(child_of(dial)) as pair:
            yield pair
    else:
        opened = over_sse if dial.transport == "sse" else over_http
        async with opened(dial.url, dial.headers) as pair:
            yield pair
