"""A client of fastmcp with the configuration of several servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client

from pytest_mcp_conformance.adapters._calls import name_of
from pytest_mcp_conformance.contract import Dial, Wrapper

__all__ = ["together_of"]


def together_of(limit: float) -> Any:
    """The verb `together`: one client with the configuration of several servers."""

    @asynccontextmanager
    async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
        servers = {f"server{number}": dial.settings() for number, dial in enumerate(dials)}
        client: Any = Client({"mcpServers": servers}, timeout=limit, init_timeout=limit)

        async def call_tool(tool: Any, arguments: Any) -> Any:
            return await client.call_tool(name_of(tool), arguments)

        async with client:
            yield Wrapper(list_tools=client.list_tools, call_tool=call_tool, close=client.close)
        await client.close()

    return together
