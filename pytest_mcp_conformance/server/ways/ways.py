"""The ways in to the servers of one play, each opened when it is first touched, and closed at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_mcp_conformance.contract import GIVES, AdapterError

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["Ways"]


class Ways:
    """What the dials of one play share.

    Args:
        transport: The way in: `memory`, `http`, `stdio` or `loopback`.
    """

    def __init__(self, transport: str = "memory") -> None:
        self.transport = transport

    def must_give(self, asked: str) -> None:
        """Refuse what this play has not.

        Args:
            asked: What the adapter asked its dial for: `url`, `command`, `streams` or `session`.

        Raises:
            AdapterError: The play is over a way in that does not give it.
        """
        ways = GIVES[asked]
        if self.transport not in ways:
            raise AdapterError(
                f"the adapter asked for dial.{asked}, and this run plays over {self.transport}: "
                f"declare Claims(transports={ways!r}), or run with --mcp-transport={ways[0]}"
            )

    def url_of(self, server: ScriptedServer, principal: str | None, headers: Mapping[str, str]) -> str:
        """The address of `server`, at which `headers` stand for `principal` from now on."""
        raise NotImplementedError

    def command_of(
        self, server: ScriptedServer, principal: str | None, headers: Mapping[str, str]
    ) -> Sequence[str]:
        """The argv of a stdio server that is `server`, for `principal`."""
        raise NotImplementedError

    def left(self) -> list[str]:
        """What is still there after every holder has closed, in words."""
        return []

    async def aclose(self) -> None:
        """Close what was opened."""
