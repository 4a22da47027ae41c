"""Transports that break from within, as those of the SDK over HTTP and stdio do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.connection import Connection

__all__ = ["Brittle"]


class Brittle:
    """What keeps the connections of a server going, in a task group for each.

    When a task of such a group fails, whoever entered the transport is cancelled, and told why only when it
    has left.
    """

    def __init__(self) -> None:
        self._broken = anyio.Event()
        self._cause: Exception = ConnectionError()

    def breaks(self, cause: Exception) -> None:
        """Have every transport that is open fail with `cause`."""
        self._cause = cause
        self._broken.set()

    @asynccontextmanager
    async def around(self, connection: Connection) -> AsyncIterator[None]:
        """The task group of one connection, while it is open."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._fail, connection)
            yield
            group.cancel_scope.cancel()

    async def _fail(self, connection: Connection) -> None:
        await self._broken.wait()
        connection.broke()
        raise self._cause
