"""The ways in to the servers of one play, each opened when it is first touched, and closed at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_mcp_conformance.contract import GIVES, AdapterError
from pytest_mcp_conformance.server.ways.stdio import StdioWay

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer
    from pytest_mcp_conformance.server.ways.http import HttpEngine
    from pytest_mcp_conformance.server.ways.in_process import InProcess
    from pytest_mcp_conformance.server.ways.loopback import Loopback

__all__ = ["Ways", "not_installed"]

_LIBRARY = {"http": "respx", "loopback": "uvicorn", "sse": "respx"}
"""The library of the extra `http` that each way in stands on."""


def not_installed(way: str) -> str:
    """What is missing for a way in, and how to get it; empty where nothing is."""
    library = _LIBRARY.get(way)
    if library is None or find_spec(library) is not None:
        return ""
    return f"{way} needs {library}: pip install 'pytest-mcp-conformance[http]'"


class Ways:
    """What the dials of one play share.

    Args:
        transport: The way in: `memory`, `http`, `stdio`, `loopback` or `sse`.
        place: A part of the host names of addresses inside this process; none without it.
    """

    def __init__(self, transport: str = "memory", place: str = "") -> None:
        self.transport = transport
        self._place = place
        self._addresses: dict[ScriptedServer, InProcess | Loopback] = {}
        self._commands: dict[tuple[ScriptedServer, str | None], StdioWay] = {}

    def must_give(self, asked: str) -> None:
        """Refuse what this play has not.

        Args:
            asked: What the adapter asked its dial for: `url`, `command`, `streams` or `session`.

        Raises:
            AdapterError: The play is over a way in that does not give it.
        """
        ways = GIVES[asked]
        if ("http" if self.transport == "sse" else self.transport) not in ways:
            raise AdapterError(
                f"the adapter asked for dial.{asked}, and this run plays over {self.transport}: "
                f"declare Claims(transports={ways!r}), or run with --mcp-transport={ways[0]}"
            )

    def url_of(self, server: ScriptedServer, principal: str | None, headers: Mapping[str, str]) -> str:
        """The address of `server`, at which `headers` stand for `principal` from now on."""
        way = self._address_of(server)
        way.dialled(principal, headers)
        return way.url

    def engine(self, server: ScriptedServer) -> HttpEngine:
        """What answers at the address of `server`, with its settings, for a script that is about HTTP.

        Raises:
            AdapterError: This run plays over another way in.
        """
        self.must_give("url")
        return self._address_of(server).engine

    def command_of(self, server: ScriptedServer, principal: str | None) -> Sequence[str]:
        """The argv of a stdio server that is `server`, for `principal`."""
        return self._command_for(server, principal).command

    def stdio(self, server: ScriptedServer, principal: str | None = None) -> StdioWay:
        """Where the children of `principal` come in, for a script that is about them.

        Raises:
            AdapterError: This run plays over another way in.
        """
        self.must_give("command")
        return self._command_for(server, principal)

    def _command_for(self, server: ScriptedServer, principal: str | None) -> StdioWay:
        if (server, principal) not in self._commands:
            self._commands[server, principal] = StdioWay(server, principal)
        return self._commands[server, principal]

    def _address_of(self, server: ScriptedServer) -> InProcess | Loopback:
        if server not in self._addresses:
            self._addresses[server] = _address(self.transport, server, self._place)
        return self._addresses[server]

    def idle(self) -> set[int]:
        """The numbers of the connections of which the client holds nothing open now."""
        return {
            connection.number
            for server in self._addresses
            for connection in server.connections
            if connection.idle
        }

    def left(self) -> list[str]:
        """What is still there after every holder has closed, in words."""
        return [line for way in self._commands.values() for line in way.left()]

    async def aclose(self) -> None:
        """Close what was opened."""
        for way in (*self._commands.values(), *self._addresses.values()):
            await way.aclose()


def _address(transport: str, server: ScriptedServer, place: str) -> InProcess | Loopback:
    """An address for `server`. The libraries behind it are heavy, and wanted only here."""
    if transport == "loopback":
        from pytest_mcp_conformance.server.ways.loopback import Loopback

        return Loopback(server)
    from pytest_mcp_conformance.server.ways.in_process import InProcess

    return InProcess(server, place, sse=transport == "sse")
