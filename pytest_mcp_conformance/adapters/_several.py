"""Several servers in one object of the reference."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from mcp_conformance_reference import ReferenceClient
from mcp_conformance_reference.overhttp import http_streams, sse_streams
from mcp_conformance_reference.several import SeveralClients

from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Dial, Wrapper

__all__ = ["together_of"]


def together_of(kind: type[SeveralClients], limit: float) -> Any:
    """The verb `together`.

    Args:
        kind: What holds the clients.
        limit: The limit of each verb of each client, in seconds.
    """

    @asynccontextmanager
    async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
        def client_of(dial: Dial) -> ReferenceClient:
            era: Any = dial.era
            streams = partial(streams_of, dial, http_streams, sse_streams)
            return ReferenceClient(streams, era=era, timeout=limit, clock=dial.clock)

        async with kind({f"server{n}": client_of(dial) for n, dial in enumerate(dials)}) as several:
            yield Wrapper(
                list_tools=several.list_tools,
                call_tool=several.call_tool,
                reconnect=several.reconnect,
                close=several.close,
                connected_servers=several.connected,
            )

    return together
