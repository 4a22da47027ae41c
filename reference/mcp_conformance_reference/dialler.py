"""One connection at a time: dialled when it is first needed, and again when it is found dead."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.errors import ClientClosed
from mcp_conformance_reference.tasks import Shared

__all__ = ["Dialler"]


class Dialler:
    """Holds the connection of one client and makes the next one.

    Args:
        make: Makes a connection, not yet opened.

    Attributes:
        connection: The connection in use; it may be dead.
        closed: Why nothing is dialled any more, None while something is.
    """

    def __init__(self, make: Callable[[], Connection]) -> None:
        self.connection: Connection | None = None
        self.closed: ClientClosed | None = None
        self._make = make
        self._dialling: Shared[Connection] | None = None

    async def connected(self) -> Connection:
        """The live connection, dialled by this call or by whoever asked first.

        Raises:
            DialFailed: This dial failed. The next call dials again.
            ClientClosed: Nothing is dialled any more.
        """
        if self.closed is not None:
            raise self.closed_again()
        if self.connection is not None and self.usable(self.connection):
            return self.connection
        return await self.shared_dial().wait()

    def usable(self, connection: Connection) -> bool:
        """Whether verbs may go on with this connection."""
        return connection.alive

    async def reconnect(self) -> Connection:
        """Dial although a connection is there; it is replaced when the new one is up, and kept if that fails.

        Raises:
            DialFailed: The new connection could not be opened.
            ClientClosed: Nothing is dialled any more.
        """
        if self.closed is not None:
            raise self.closed_again()
        return await self.shared_dial().wait()

    def shared_dial(self) -> Shared[Connection]:
        """The dial under way, or a new one: whoever needs a connection now waits for the same one."""
        if self._dialling is None or self._dialling.settled:
            self._dialling = Shared(self._dial, "mcp dial")
            self._dialling.start()
        return self._dialling

    async def _dial(self) -> Connection:
        connection = self._make()
        try:
            await connection.open()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await connection.close(self.closed_again())
            raise
        await self._replace(connection)
        return connection

    async def _replace(self, connection: Connection) -> None:
        previous, self.connection = self.connection, connection
        if previous is not None and previous.alive:
            with anyio.CancelScope(shield=True):
                await previous.close(ClientClosed("the connection was replaced by reconnect(); try again"))

    async def close(self, why: ClientClosed) -> None:
        """Dial nothing any more, and close what is open or being opened."""
        self.closed = why
        if self._dialling is not None:
            self._dialling.fail(self.closed_again())
            await self._dialling.finished.wait()
        if self.connection is not None:
            await self.connection.close(why)

    def closed_again(self) -> ClientClosed:
        """A fresh error that says why nothing is dialled."""
        return ClientClosed(*(self.closed.args if self.closed is not None else ("the dial was given up",)))
