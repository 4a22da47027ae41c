"""Reading one resource: asked for each time, and kept nowhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.errors import RequestFailed
from mcp_conformance_reference.settings import Settings

__all__ = ["Reader"]


class Reader:
    """Reads the resources of one client.

    Args:
        dialler: Gives the connection.
        relist: Lists the tools anew.
        settings: The client's measures and parts.
    """

    def __init__(self, dialler: Dialler, relist: Callable[[], Awaitable[Any]], settings: Settings) -> None:
        self._dialler = dialler
        self._relist = relist
        self._settings = settings

    async def read(self, uri: str) -> dict[str, Any]:
        """One `resources/read`; a modern server may take it through several rounds.

        Raises:
            RequestFailed: The server answered with an error, or asks for what nobody can give.
            DialFailed, ConnectionLost: There was no connection, or it ended.
        """
        connection = await self._dialler.connected()
        if connection.session.era == "handshake":
            return await connection.ask("resources/read", {"uri": uri})
        rounds = self._settings.parts.rounds_type(
            lambda asked: connection.ask("resources/read", asked),
            self._relist,
            self._settings.on_input,
            self._settings.max_rounds,
        )
        raw = await rounds.drive(uri, {"uri": uri})
        if rounds.asks(raw):
            raise RequestFailed("resources/read", f"{uri} needs input, and nobody is there to give it")
        return raw
