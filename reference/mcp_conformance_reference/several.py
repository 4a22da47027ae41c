"""Several clients as one: the tools of all of them, each called by the client that listed it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from mcp_conformance_reference.client import ReferenceClient
from mcp_conformance_reference.errors import StaleTool
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.results import CallResult

__all__ = ["SeveralClients", "ToolOf"]


class ToolOf:
    """A tool under a name that tells its server.

    Args:
        server: What its server is called.
        tool: The tool, as that server's client handed it out.
    """

    def __init__(self, server: str, tool: ListedTool) -> None:
        self.name = f"{server}_{tool.name}"
        self.tool = tool

    def __getattr__(self, shown: str) -> Any:
        return getattr(self.tool, shown)

    async def __call__(self, arguments: dict[str, Any] | None = None) -> CallResult:
        """Call the tool; see `ReferenceClient.call_tool`."""
        return await self.tool(arguments)


class SeveralClients:
    """Holds several clients: all of them are connected, or none.

    Args:
        clients: The clients, by what their servers are called.
    """

    tool_type: type[ToolOf] = ToolOf

    def __init__(self, clients: Mapping[str, ReferenceClient]) -> None:
        self.clients = dict(clients)

    async def __aenter__(self) -> SeveralClients:
        try:
            await self.connect()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connect those that are not connected.

        Raises:
            DialFailed, ClientClosed, VerbTimeout: As for one client.
        """
        for client in self.clients.values():
            await client.connect()

    async def reconnect(self) -> None:
        """Open a new connection for each client.

        Raises:
            DialFailed, ClientClosed, VerbTimeout: As for one client.
        """
        for client in self.clients.values():
            await client.reconnect()

    async def close(self) -> None:
        """Close all of them."""
        for client in self.clients.values():
            await client.close()

    def connected(self) -> list[str]:
        """What those servers are called that there is a live connection to now."""
        return [server for server, client in self.clients.items() if client.connected]

    async def list_tools(self) -> list[ToolOf]:
        """The tools of all, server by server.

        Raises:
            ListFailed, DialFailed, ConnectionLost, ClientClosed, VerbTimeout: As for one client.
        """
        return [
            self.tool_type(server, tool)
            for server, client in self.clients.items()
            for tool in await client.list_tools()
        ]

    async def call_tool(self, tool: ToolOf | str, arguments: dict[str, Any] | None = None) -> CallResult:
        """Call one tool, by what was handed out or by its name there.

        Raises:
            StaleTool: There is no such name, or there are two of it. Nothing was sent.
            ClientError: As for one client.
        """
        return await (await self.named(tool) if isinstance(tool, str) else tool)(arguments)

    async def named(self, name: str) -> ToolOf:
        """The one tool of this name.

        Raises:
            StaleTool: There is none, or there are two.
        """
        found = [tool for tool in await self.list_tools() if tool.name == name]
        if len(found) != 1:
            raise StaleTool(name, f"{len(found)} tools are called so")
        return found[0]
