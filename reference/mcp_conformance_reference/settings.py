"""The measures of one client, in one frozen object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from mcp_conformance_reference.rounds import Answers
from mcp_conformance_reference.sdk import Era

if TYPE_CHECKING:
    from mcp_conformance_reference.parts import Parts

__all__ = ["LogMessage", "Settings"]


@dataclass(frozen=True)
class LogMessage:
    """A log message of the server.

    Attributes:
        level: As the server names it: debug, info, notice, warning, error, critical, alert, emergency.
        data: Any JSON value.
        logger: The name of the server's logger, or None.
    """

    level: str
    data: Any
    logger: str | None


@dataclass(frozen=True)
class Settings:
    """What one client was asked to be, and is made of.

    Attributes:
        parts: The classes of its parts.
        era: Which protocol era to speak; "auto" asks the server.
        name: What the server is called in errors.
        timeout: The limit of one verb in seconds, None for none.
        now: The clock that lifetimes are counted by, in seconds.
        max_pages: How many pages a listing may have.
        max_walks: How many walks one verb may see overtaken by notices before it gives up.
        max_reopen: How many times in a row a listen stream is opened again.
        reopen_limit: The longest wait between two of those tries, in seconds.
        close_limit: How long a connection may take to leave in good order, in seconds.
        on_log: Called with each log message of the server, in the order of the wire; must come back at once.
        on_input: Answers what a modern server asks before it finishes a call; None where nobody can.
        max_rounds: How many rounds of questions a call may take.
        log_level: Ask for log messages of this level and above (modern era, and only with `on_log`).
        client_info: The name and version this client gives of itself.
    """

    parts: Parts
    era: Era = "handshake"
    name: str = "the MCP server"
    timeout: float | None = 30.0
    now: Callable[[], float] = anyio.current_time
    max_pages: int = 1000
    max_walks: int = 20
    max_reopen: int = 10
    reopen_limit: float = 60.0
    close_limit: float = 5.0
    on_log: Callable[[LogMessage], None] | None = None
    on_input: Answers | None = None
    max_rounds: int = 10
    log_level: str = "debug"
    client_info: dict[str, Any] = field(
        default_factory=lambda: {"name": "mcp-conformance-reference", "version": "0.1.0"}
    )

    @property
    def capabilities(self) -> dict[str, Any]:
        """What this client says that it can do: a server asks only those that can answer."""
        return (
            {}
            if self.on_input is None
            else {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
        )

    @property
    def wanted_log_level(self) -> str | None:
        """The level to ask for, None where nobody listens."""
        return None if self.on_log is None else self.log_level
