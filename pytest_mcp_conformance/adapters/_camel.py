"""What differs by the release of CAMEL, whose first toolkits took clients alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

from camel.toolkits import MCPToolkit, mcp_toolkit

from pytest_mcp_conformance.contract import Dial

__all__ = ["BY_CONFIG", "LIMIT", "connected"]

LIMIT = 30.0

_TAKEN = signature(MCPToolkit).parameters

BY_CONFIG = "config_dict" in _TAKEN
"""Since 0.2.54; before, there was no limit for the whole, and no streamable HTTP."""


@asynccontextmanager
async def connected(dial: Dial) -> AsyncIterator[Any]:
    """A toolkit over one server, as its configuration file would name it."""
    if BY_CONFIG:
        servers = {"mcpServers": {"server": dial.settings()}}
        once = {"max_retries": 1} if "max_retries" in _TAKEN else {}  # two tries may take twice as long
        toolkit: Any = MCPToolkit(config_dict=servers, timeout=LIMIT, **once)
    else:
        command, *arguments = dial.command
        toolkit = MCPToolkit(servers=[mcp_toolkit.MCPClient(command, args=arguments, timeout=LIMIT)])
    if hasattr(toolkit, "__aenter__"):
        async with toolkit:
            yield toolkit
        return
    await toolkit.connect()
    try:
        yield toolkit
    finally:
        await toolkit.disconnect()
