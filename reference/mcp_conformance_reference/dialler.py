"""One connection at a time: dialled when it is first needed, and again when it is found dead."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.errors import ClientClosed, ConnectionLost
from mcp_conformance_reference.tasks import Shared

__all__ = ["Dialler"]


class Dialler:
    """Holds the connection of one client, and makes the next one.

    Args:
        make: Makes a connection, not yet opened.

    Attributes:
        connection: The connection in use; it may be dead. None before the first dial.
        refused: Why nothing is dialled any more, None while something is.
    """

    def __init__(self, make: Callable[[], Connection]) -> None:
        self.connection: Connection | None = None
        self.refused: ClientClosed | None = None
        self._make = make
        self._dialling: Shared[Connection] | None = None
        self._unfinished: set[Shared[Connection]] = set()

    async def connected(self) -> Connection:
        """The live connection, dialled by this call or by whoever asked first.

        Raises:
            DialFailed: This dial failed. The next call dials again.
            ClientClosed: Nothing is dialled any more.
        """
        if self.connection is not None and self.usable(self.connection):
            return self.connection
        return await self.shared_dial().wait()

    async def reconnect(self) -> Connection:
        """Dial although a connection is there; it is replaced once the new one is up, and kept if that fails.

        Raises:
            DialFailed: The new connection could not be opened.
            ClientClosed: Nothing is dialled any more.
        """
        return await self.shared_dial().wait()

    def usable(self, connection: Connection) -> bool:
        """Whether verbs may go on with this connection."""
        return connection.alive

    def shared_dial(self) -> Shared[Connection]:
        """The dial under way, or a new one: whoever needs a connection now waits for the same one.

        Raises:
            ClientClosed: Nothing is dialled any more.
        """
        if self.refused is not None:
            raise ClientClosed(*self.refused.args)
        if self._dialling is None or self._dialling.settled:
            self._dialling = Shared(self.dial, "mcp dial")
            self._unfinished = {dial for dial in self._unfinished if not dial.finished.is_set()}
            self._unfinished.add(self._dialling)
            self._dialling.start()
        return self._dialling

    async def dial(self) -> Connection:
        """Open a connection and put it in the place of the one before. A failure leaves nothing behind."""
        connection = self._make()
        try:
            await connection.open()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await connection.close(ConnectionLost("the dial was given up; the next verb dials again"))
            raise
        await self.replace(connection)
        return connection

    async def replace(self, connection: Connection) -> None:
        """Use a new connection from now on, and close the one before."""
        previous, self.connection = self.connection, connection
        if previous is not None and previous.alive:
            with anyio.CancelScope(shield=True):
                await previous.close(ConnectionLost("the connection was replaced by reconnect(); try again"))

    def refuse(self, why: ClientClosed) -> None:
        """Dial nothing any more, and end whatever waits for a dial or an answer."""
        self.refused = why
        if self._dialling is not None:
            self._dialling.fail(ClientClosed(*why.args))
        if self.connection is not None:
            self.connection.end(why)

    async def close(self, why: ClientClosed) -> None:
        """Wait until nothing is open: a dial that was given up leaves its transport in its own time."""
        for dial in self._unfinished:
            await dial.finished.wait()
        if self.connection is not None:
            await self.connection.close(why)
