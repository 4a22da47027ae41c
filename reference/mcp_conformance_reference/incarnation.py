"""One incarnation of a client: one connection from its dial to its end, and what is done on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.connection import Connection, OpenStreams
from mcp_conformance_reference.definitions import Definition, plain_copy
from mcp_conformance_reference.errors import CallFailed, ConnectionLost, RequestFailed, StaleTool
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.walk import Listing, Walk

__all__ = ["Incarnation", "WrappedTool"]


class WrappedTool:
    """A tool with the client that it is called through.

    Args:
        definition: The definition it was listed with.
        client: The client.
        good: Whether the list it belongs to is still served with it; asked before each call.
    """

    def __init__(
        self, definition: Definition, client: Incarnation, good: Callable[[WrappedTool], bool]
    ) -> None:
        self.definition = definition
        self._client = client
        self._good = good

    @property
    def name(self) -> str:
        """The name, exactly as listed."""
        return self.definition.name

    async def __call__(self, arguments: dict[str, Any] | None = None) -> CallResult:
        """Call it; see `Incarnation.call`.

        Raises:
            StaleTool: Its list is not served with it any more. Nothing was sent.
        """
        copied = plain_copy({} if arguments is None else arguments)
        if not self._good(self):
            raise StaleTool(self.name, "the list it belongs to has moved on")
        return await self._client.call(self.definition, copied)


class Incarnation:
    """One connection, from its dial to its end.

    Args:
        open_streams: Opens the stream pair.
        settings: The measures.
        on_tools_changed: Called when the server says so on this connection, also while it is being left.
    """

    def __init__(
        self,
        open_streams: OpenStreams,
        settings: Settings,
        on_tools_changed: Callable[[Incarnation], None],
    ) -> None:
        self._settings = settings
        self._notices = Notices(lambda connection: on_tools_changed(self), None)
        self._connection = Connection(open_streams, settings, self._notices)
        self._calls = 0
        self._retired = False

    @property
    def alive(self) -> bool:
        """Whether requests may be sent on it."""
        return self._connection.alive

    async def open(self) -> None:
        """Dial.

        Raises:
            DialFailed: There is no connection.
        """
        await self._connection.open()

    async def close(self) -> None:
        """End the connection; what is out on it ends with `ConnectionLost`."""
        await self._connection.close(ConnectionLost(f"{self._settings.name}: the conversation is over"))

    async def retire(self) -> None:
        """Close once no call is out: now, or with the answer to the last one."""
        self._retired = True
        if not self._calls:
            await self.close()

    async def listing(self, overtaken: Callable[[], bool]) -> Listing | None:
        """One listing, all its pages; None if `overtaken` said so between two of them.

        Raises:
            ListFailed, ConnectionLost: It failed.
        """
        return await Walk(self._connection, self._settings, overtaken).listing()

    async def call(self, definition: Definition, arguments: dict[str, Any]) -> CallResult:
        """Call a tool once, and judge its answer by this very definition, whatever is listed meanwhile.

        Raises:
            SchemaUnusable: Its output schema cannot judge anything. Nothing was sent.
            CallFailed: The server answered with an error, or with what is no result.
            CheckFailed: The tool ran, and its answer breaks its schema.
            ConnectionLost: The connection ended first.
        """
        check = OutputCheck(definition)
        self._calls += 1
        try:
            raw = await self._connection.ask("tools/call", {"name": definition.name, "arguments": arguments})
        except RequestFailed as error:
            raise CallFailed.of(definition.name, error) from error
        finally:
            self._calls -= 1
            if self._retired and not self._calls:
                await self.close()
        return check.judge(CallResult.read(definition.name, raw))
