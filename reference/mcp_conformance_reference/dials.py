"""A dial for the pool: an SDK session over a stream pair that knows when its connection has closed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio

from mcp_conformance_reference.sdk import Era, Frame, SdkSession, open_session
from mcp_conformance_reference.taps import ReadTap, WriteTap

__all__ = ["PooledSession", "pooled_session"]

_US = {"name": "mcp-conformance-reference", "version": "0.1.0"}


class PooledSession:
    """What several legs use of one connection.

    Args:
        session: The SDK session, past its handshake.
        closed: Set when a stream of the connection ends.
    """

    def __init__(self, session: SdkSession, closed: anyio.Event) -> None:
        self.session = session
        self.closed = closed

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send one request and wait for its raw result.

        Raises:
            Exception: What the SDK raises: the server's error, or that the connection closed.
        """
        return await self.session.ask(method, params or {})


@asynccontextmanager
async def pooled_session(
    open_streams: Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]],
    *,
    era: Era = "handshake",
    client_info: Mapping[str, Any] = _US,
) -> AsyncIterator[PooledSession]:
    """Open one connection in the way that a pool asks for: give `acquire` a function that returns this.

    Args:
        open_streams: Opens the SDK's (read, write) pair.
        era: Which protocol era to speak.
        client_info: The name and version this client gives of itself.

    Source: the seed mcp-connection-pool.
    """
    closed = anyio.Event()

    def sent(frame: Frame) -> None:
        """Messages are the session's own business."""

    async def heard(frame: Frame) -> None:
        """Messages are the session's own business."""

    async with open_streams() as (read, write):
        session = open_session(
            ReadTap(read, heard, closed.set),
            WriteTap(write, sent, sent, closed.set),
            client_info=dict(client_info),
            log_level=None,
        )
        async with session:
            await session.agree(era)
            yield PooledSession(session, closed)
