"""One `tools/call` for one verb: refused before it leaves, or sent once and judged by what was known then."""

from __future__ import annotations

from typing import Any

from mcp_conformance_reference.checks import OutputCheck
from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.definitions import Definition, plain_copy
from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.errors import CallFailed, ConnectionLost, RequestFailed, StaleTool
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Listing

__all__ = ["Caller"]


class Caller:
    """Makes the calls of one client.

    Args:
        dialler: Gives the connection.
        tools: Gives the listing that calls are judged by.
        settings: The client's measures.
    """

    check_type: type[OutputCheck] = OutputCheck

    def __init__(self, dialler: Dialler, tools: ToolList, settings: Settings) -> None:
        self._dialler = dialler
        self._tools = tools
        self._settings = settings

    async def call(self, tool: ListedTool | str, arguments: dict[str, Any] | None) -> CallResult:
        """Call a tool. What could fail without the tool is done before the call leaves, so that no result is lost.

        Raises:
            ValueError: The arguments are not plain JSON.
            StaleTool, SchemaUnusable, ListFailed, DialFailed: Nothing was sent.
            ConnectionLost: The connection ended; the tool may have run.
            CallFailed: The server answered with an error.
            CheckFailed: The tool ran; its result is in the error.
        """
        copied = plain_copy({} if arguments is None else arguments)
        connection, listing = await self.ready()
        definition = self.definition_for(tool, listing)
        check = None if definition is None else self.check_type(definition)
        raw = await self.send(connection, tool if isinstance(tool, str) else tool.name, copied)
        result = self.read(raw)
        return result if check is None else check.judge(result)

    async def ready(self) -> tuple[Connection, Listing]:
        """A live connection, and the newest listing of it, with nothing awaited since both were true."""
        for _ in range(self._settings.max_walks):
            connection = await self._dialler.connected()
            listing = await self._tools.known(connection)
            if listing.connection is connection and connection.alive and not self._tools.stale():
                return connection, listing
        raise ConnectionLost(
            f"{self._settings.name}: no connection and no listing lasted long enough to call; nothing was sent, try again"
        )

    def definition_for(self, tool: ListedTool | str, listing: Listing) -> Definition | None:
        """The definition that a call goes out under.

        Returns:
            For a tool that was handed out, the definition it was minted from. For a name, the newest one; None
            where the name was never listed with an output schema: then there is nothing to judge by.

        Raises:
            StaleTool: The newest listing lacks the tool, or shows it otherwise.
        """
        if isinstance(tool, str):
            known = listing.definition(tool)
            if known is None and self._tools.ever_promised(tool):
                raise StaleTool(tool, "it was listed with an output schema, and the newest listing lacks it")
            return known
        known = listing.definition(tool.name)
        if known is None:
            raise StaleTool(tool.name, "the newest listing lacks it")
        if known.canonical != tool.definition.canonical:
            changed = ", ".join(known.differences(tool.definition))
            raise StaleTool(tool.name, f"the newest listing shows it otherwise ({changed})")
        return tool.definition

    async def send(self, connection: Connection, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Send the call, once, whatever comes of it.

        Raises:
            CallFailed: The server answered with an error.
            ConnectionLost: The connection ended before the answer.
        """
        try:
            return await connection.ask("tools/call", {"name": name, "arguments": arguments})
        except RequestFailed as error:
            raise CallFailed(f"tools/call {name}", error.message, code=error.code, data=error.data) from error

    def read(self, raw: dict[str, Any]) -> CallResult:
        """Read a raw result.

        Raises:
            CallFailed: It is none.
        """
        try:
            return CallResult.read(raw)
        except ValueError as error:
            raise CallFailed("tools/call", str(error)) from error
