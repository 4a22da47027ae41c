"""Haystack's `MCPToolset`, of plain functions: behind them a thread with a loop that all toolsets share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from haystack_integrations.tools.mcp import MCPToolset, StdioServerInfo, StreamableHttpServerInfo

from pytest_mcp_conformance.contract import Claims, Dial, Tool, Wrapper, adapter

LIMIT = 30.0
TO_CONNECT = 4.0  # a dial that fails sits this out, in real time: less than the silence that a play bears


@adapter(
    "mcp-haystack",
    version=version("mcp-haystack"),
    claims=Claims(  # by the docstrings of haystack_integrations.tools.mcp.MCPToolset
        caches_listings=True,  # warm_up: "unless already connected"
        isolates_principals=True,  # headers of StreamableHttpServerInfo: "Custom HTTP headers"
        own_timeout=LIMIT,  # connection_timeout, invocation_timeout
        lazy_connect=True,  # eager_connect: "If False (default), defer connection to warm_up"
        eras=("handshake",),
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """A toolset that is warmed up when its tools are first asked for, as a pipeline does."""
    if dial.transport == "stdio":
        command, *arguments = dial.command
        server: Any = StdioServerInfo(command=command, args=arguments)
    else:
        server = StreamableHttpServerInfo(url=dial.url, headers=dict(dial.headers))
    toolset = MCPToolset(server, connection_timeout=TO_CONNECT, invocation_timeout=LIMIT)

    def warmed_up() -> list[Any]:
        toolset.warm_up()
        return list(toolset)

    def list_tools() -> Any:
        return [Tool(each.name, each.description, each.parameters, handle=each) for each in warmed_up()]

    def call_tool(tool: Any, sent: Any) -> Any:
        found = {each.name: each for each in warmed_up()}[tool] if isinstance(tool, str) else tool
        return json.loads(found.invoke(**sent))

    yield Wrapper(list_tools=list_tools, call_tool=call_tool, close=toolset.close)
    await asyncio.to_thread(toolset.close)
