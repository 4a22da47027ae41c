"""The `MCPAggregator` of mcp-agent, over one server or several, in an `MCPApp` of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp_agent import config
from mcp_agent.app import MCPApp
from mcp_agent.mcp.mcp_aggregator import MCPAggregator

from pytest_mcp_conformance.adapters._calls import name_of
from pytest_mcp_conformance.contract import Dial, Wrapper

__all__ = ["LIMIT", "aggregating", "together"]

LIMIT = 30


@asynccontextmanager
async def aggregating(dials: Mapping[str, Dial]) -> AsyncIterator[Any]:
    """An aggregator with persistent connections, which is its default, of servers by their names."""
    settings = config.Settings(
        mcp=config.MCPSettings(servers={name: _server(dial) for name, dial in dials.items()}),
        logger=config.LoggerSettings(type="none"),
        otel=config.OpenTelemetrySettings(enabled=False),
    )
    async with (
        MCPApp("conformance", settings=settings).run() as app,
        MCPAggregator(list(dials), context=app.context) as aggregator,
    ):
        yield aggregator


def _server(dial: Dial) -> Any:
    transport: Any = "stdio" if dial.transport == "stdio" else "streamable_http"
    return config.MCPServerSettings(transport=transport, **dial.settings(), read_timeout_seconds=LIMIT)


@asynccontextmanager
async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
    """An aggregator of several servers, whose tools it prefixes by them."""
    async with aggregating({f"server{number}": dial for number, dial in enumerate(dials)}) as aggregator:

        async def call_tool(tool: Any, arguments: dict[str, Any]) -> Any:
            return await aggregator.call_tool(name_of(tool), arguments)

        yield Wrapper(list_tools=aggregator.list_tools, call_tool=call_tool, close=aggregator.close)
