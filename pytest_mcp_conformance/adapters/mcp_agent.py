"""The `MCPAggregator` of mcp-agent over one server, in an `MCPApp`; it prefixes tools by that server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from pytest_mcp_conformance.adapters._mcp_agent import LIMIT, aggregating, together
from pytest_mcp_conformance.contract import Claims, Dial, Tool, Wrapper, adapter

PREFIX = "server_"


@adapter(
    "mcp-agent",
    version=version("mcp-agent"),
    claims=Claims(
        caches_listings=True,  # MCPAggregator.initialized: "with tools and resources from all servers"
        own_timeout=LIMIT,  # MCPServerSettings.read_timeout_seconds, which is that of the session too
        clock=True,
        eras=("handshake",),
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """An aggregator of one server."""
    async with aggregating({"server": dial}) as aggregator:

        async def list_tools() -> list[Tool]:
            return [_tool(each) for each in (await aggregator.list_tools()).tools]

        async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
            return await aggregator.call_tool(PREFIX + name.removeprefix(PREFIX), arguments)

        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            refresh=aggregator.refresh,
            close=aggregator.close,
            together=together,
        )


def _tool(t: Any) -> Tool:
    return Tool(t.name.removeprefix(PREFIX), t.description, t.inputSchema, t.outputSchema, handle=t.name)
