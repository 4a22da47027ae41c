"""The SDK's own clients over stdio, of whichever major is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SECOND = hasattr(ClientSession, "discover")

every_era = pytest.mark.parametrize(
    "era",
    [
        "handshake",
        pytest.param("modern", marks=pytest.mark.skipif(not SECOND, reason="mcp 1.x has no such era")),
    ],
)


@asynccontextmanager
async def connected(command: list[str], era: str, **how: Any) -> AsyncIterator[ClientSession]:
    """A session past its handshake, over a child of its own."""
    program, *arguments = command
    parameters = StdioServerParameters(command=program, args=arguments)
    async with stdio_client(parameters, **how) as streams, ClientSession(*streams) as session:
        await (session.discover() if era == "modern" else session.initialize())
        yield session


async def names(session: Any) -> list[str]:
    """The names of the tools."""
    return [tool.name for tool in (await session.list_tools()).tools]
