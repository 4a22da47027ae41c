"""What a client is between one connect and one close. After the close it is over; a new connect begins anew."""

from __future__ import annotations

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.connection import Connection, OpenStreams
from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.errors import ClientClosed
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.tasks import Shared
from mcp_conformance_reference.toollist import ToolList

__all__ = ["Life", "Parts"]


class Parts:
    """The classes that a client is made of. A subclass of the client may name others."""

    connection_type: type[Connection] = Connection
    dialler_type: type[Dialler] = Dialler
    tool_list_type: type[ToolList] = ToolList
    notices_type: type[Notices] = Notices
    caller_type: type[Caller] = Caller


class _Closing(Shared[None]):
    """A close that goes on whoever stops waiting for it."""

    def abandon(self) -> None:
        """Go on."""


class Life:
    """One life of a client: its connections, its tool list, its calls.

    Args:
        open_streams: Opens one connection.
        settings: The client's measures.
        parts: The classes to make it of.
    """

    def __init__(self, open_streams: OpenStreams, settings: Settings, parts: type[Parts] | Parts) -> None:
        self._settings = settings
        self._open_streams = open_streams
        self._parts = parts
        self._closing: _Closing | None = None
        self.notices = parts.notices_type(self.tools_changed, settings.on_log)
        self.dialler = parts.dialler_type(self._make_connection)
        self.tools = parts.tool_list_type(self.dialler.connected, settings)
        self.caller = parts.caller_type(self.dialler, self.tools, settings)

    def _make_connection(self) -> Connection:
        return self._parts.connection_type(self._open_streams, self._settings, self.notices)

    def tools_changed(self, connection: Connection) -> None:
        """A server said that its tools changed; one that was replaced has no say any more."""
        if connection is self.dialler.connection:
            self.tools.invalidate()

    async def close(self) -> None:
        """End everything, once; whoever calls this later waits for the same end."""
        if self._closing is None:
            self._closing = _Closing(self._close, "mcp close")
            self._closing.start()
        await self._closing.wait()

    async def _close(self) -> None:
        why = ClientClosed(f"{self._settings.name}: the client is closed; connect() opens it again")
        self.dialler.closed = why
        await self.tools.close(why)
        await self.dialler.close(why)

