"""What a scenario sees of streamable HTTP: each request with its reply, and replies in the script's place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.server import DEADLINE, NotReached, ScriptedServer
from pytest_mcp_conformance.server.ways.http import PATH, HttpEngine, Reply, Request

__all__ = ["LAST_EVENT", "SESSION", "VERSION", "Seen", "Traffic"]

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
LAST_EVENT = "last-event-id"


@dataclass
class Seen:
    """One HTTP request.

    Attributes:
        at: When it came, on the loop's clock.
        request: The request.
        message: The JSON-RPC message in it; empty where there is none.
        reply: What it got; None as long as it has got nothing.
    """

    at: float
    request: Request
    message: Mapping[str, Any] = field(default_factory=dict)
    reply: Reply | None = None

    @property
    def status(self) -> int:
        """The status of the reply; 0 as long as there is none."""
        return 0 if self.reply is None else self.reply.status

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the request."""
        return self.request.headers

    @property
    def asks(self) -> str:
        """The JSON-RPC method of a request that wants an answer, else empty."""
        return str(self.message["method"]) if "id" in self.message and "method" in self.message else ""

    @property
    def nonce(self) -> Any:
        """The nonce of a call."""
        return ((self.message.get("params") or {}).get("arguments") or {}).get("nonce")

    def __str__(self) -> str:
        return f"{self.request.method} {self.message.get('method', '')}".rstrip()


class Traffic:
    """Everything that comes to the address of one server.

    Args:
        server: The script.
        connect: Whose ways in these are.

    Attributes:
        engine: What answers there.
        seen: Every request so far, at whatever path.
        instead: Gives the reply to a request in the script's place, or None to have the script answer.
        changes: Is given each request with its reply, before that goes out.
    """

    def __init__(self, server: ScriptedServer, connect: Connect) -> None:
        self.engine: HttpEngine = connect.ways.engine(server)
        self.engine.through = self._through
        self.seen: list[Seen] = []
        self.instead: Callable[[Seen], Reply | None] = lambda seen: None
        self.changes: Callable[[Seen], None] = lambda seen: None
        self._changed = anyio.Event()

    @property
    def mark(self) -> int:
        """A place in it, for `since=`."""
        return len(self.seen)

    def requests(self, method: str = "", since: int = 0) -> list[Seen]:
        """The HTTP requests to the MCP endpoint, of one HTTP method where it is given."""
        return [
            each
            for each in self.seen[since:]
            if each.request.path == PATH and method in ("", each.request.method)
        ]

    def asked(self, method: str, since: int = 0) -> list[Seen]:
        """The JSON-RPC requests of one method, answered by the script or in its place."""
        return [each for each in self.requests("POST", since) if each.asks == method]

    def calls(self, nonce: str) -> list[Seen]:
        """The calls that carry a nonce."""
        return [each for each in self.asked("tools/call") if each.nonce == nonce]

    async def until(self, condition: Callable[[], bool], what: str, deadline: float = DEADLINE) -> None:
        """Wait until `condition` holds; it is tried after every request that comes.

        Raises:
            NotReached: `deadline` seconds of the loop's time passed.
        """
        with anyio.move_on_after(deadline):
            while not condition():
                self._changed = anyio.Event()
                await self._changed.wait()
        if not condition():
            raise NotReached(f"{what}: not seen within {deadline:g} s")

    async def _through(self, request: Request, answer: Any) -> Reply:
        seen = Seen(asyncio.get_running_loop().time(), request, _message(request))
        self.seen.append(seen)
        self._changed.set()
        seen.reply = self.instead(seen)
        if seen.reply is None:
            seen.reply = await answer(request)
        self.changes(seen)
        return seen.reply


def _message(request: Request) -> Mapping[str, Any]:
    try:
        message = json.loads(request.body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
