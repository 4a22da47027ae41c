"""The `MCPAggregator` of mcp-agent over one server, in an `MCPApp`; it prefixes tools by that server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from mcp_agent import config
from mcp_agent.app import MCPApp
from mcp_agent.mcp.mcp_aggregator import MCPAggregator

from pytest_mcp_conformance.contract import Claims, Dial, Tool, Wrapper, adapter

LIMIT = 30
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
    """An aggregator with persistent connections, which is its default."""
    if dial.transport == "stdio":
        command, *arguments = dial.command
        way: dict[str, Any] = {"transport": "stdio", "command": command, "args": arguments}
    else:
        way = {"transport": "streamable_http", "url": dial.url, "headers": dial.headers}
    server = config.MCPServerSettings(**way, read_timeout_seconds=LIMIT)
    settings = config.Settings(
        mcp=config.MCPSettings(servers={"server": server}),
        logger=config.LoggerSettings(type="none"),
        otel=config.OpenTelemetrySettings(enabled=False),
    )

    async def list_tools() -> list[Tool]:
        return [_tool(each) for each in (await aggregator.list_tools()).tools]

    async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
        return await aggregator.call_tool(PREFIX + name.removeprefix(PREFIX), arguments)

    async with (
        MCPApp("conformance", settings=settings).run() as app,
        MCPAggregator(["server"], context=app.context) as aggregator,
    ):
        verbs = {"refresh": aggregator.refresh, "close": aggregator.close}
        yield Wrapper(list_tools=list_tools, call_tool=call_tool, **verbs)


def _tool(t: Any) -> Tool:
    return Tool(t.name.removeprefix(PREFIX), t.description, t.inputSchema, t.outputSchema, handle=t.name)
