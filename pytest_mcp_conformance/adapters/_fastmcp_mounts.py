"""A server of fastmcp that mounts a stateful proxy for each of several servers behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import FastMCP

from pytest_mcp_conformance.adapters._fastmcp import transport_of
from pytest_mcp_conformance.adapters._fastmcp_proxy import user_of
from pytest_mcp_conformance.contract import Dial, Wrapper

__all__ = ["together_of"]


def together_of(module: Any) -> Any:
    """The verb `together`: one server, whose tools have the names of their proxies before their own.

    Args:
        module: Where this release has its proxies.
    """

    @asynccontextmanager
    async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
        transports = [transport_of(dial) for dial in dials]
        several: Any = FastMCP("several")
        for number, transport in enumerate(transports):
            behind = module.StatefulProxyClient(transport)
            several.mount(module.FastMCPProxy(client_factory=behind.new_stateful), f"server{number}")
        async with user_of(several, "handshake") as wrapper:
            yield wrapper
        for transport in transports:
            await transport.close()

    return together
