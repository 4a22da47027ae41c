"""What a client is between one connect and one close. Then it is over; a new connect begins anew."""

from __future__ import annotations

from mcp_conformance_reference.connection import Connection, OpenStreams
from mcp_conformance_reference.errors import ClientClosed
from mcp_conformance_reference.resources import Reader
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.tasks import Shared

__all__ = ["Life"]


class _Closing(Shared[None]):
    """A close that goes on whoever stops waiting for it."""

    def abandon(self) -> None:
        """Go on."""


class Life:
    """One life of a client: its connections, its tool list, its calls.

    Args:
        open_streams: Opens one connection.
        settings: The client's measures and parts.

    Attributes:
        notices: Where notifications go.
        dialler: Holds the connection.
        tools: The tool list.
        caller: Makes the calls.
        reader: Reads the resources.
    """

    def __init__(self, open_streams: OpenStreams, settings: Settings) -> None:
        parts = settings.parts
        self._settings = settings
        self._open_streams = open_streams
        self._closing: _Closing | None = None
        self.notices = parts.notices_type(self.tools_changed, settings.on_log)
        self.dialler = parts.dialler_type(self.make_connection)
        self.tools = parts.tool_list_type(self.dialler.connected, settings)
        self.caller = parts.caller_type(self.dialler, self.tools, settings)
        self.reader = Reader(self.dialler, self.tools.refresh, settings)

    def make_connection(self) -> Connection:
        """A new connection, not yet opened."""
        connection = self._settings.parts.connection_type(self._open_streams, self._settings, self.notices)
        connection.input_schema_of = self.tools.input_schema_of
        return connection

    def tools_changed(self, connection: Connection) -> None:
        """The server said that its tools changed. On a replaced connection it has no say any more."""
        if connection is self.dialler.connection:
            self.tools.invalidate()

    async def close(self) -> None:
        """End everything, once; whoever calls this later waits for the same end."""
        if self._closing is None:
            self._closing = _Closing(self.end, "mcp close")
            self._closing.start()
        await self._closing.wait()

    async def end(self) -> None:
        """Refuse everything at once, so that nothing is sent or dialled any more, and leave what is open."""
        why = ClientClosed(f"{self._settings.name}: the client is closed; connect() opens it again")
        self.tools.refuse(why)
        self.dialler.refuse(why)
        await self.tools.close()
        await self.dialler.close(why)
