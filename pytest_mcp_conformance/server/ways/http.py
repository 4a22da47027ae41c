"""HTTP without I/O: a request in, a reply out, and the script behind it knows nothing of HTTP.

What the ways in share: `in_process` gives it the requests of an HTTP client in this process, `loopback` those
that come through a socket. Everything here runs in the loop of the scenario.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from pytest_mcp_conformance.server.connection import Connection
from pytest_mcp_conformance.server.ways._exchanges import Exchanges
from pytest_mcp_conformance.server.ways._line import Line
from pytest_mcp_conformance.server.ways._messages import PATH, Refusal, Reply, Request
from pytest_mcp_conformance.server.ways._sessions import Sessions
from pytest_mcp_conformance.server.ways._sse import EventStreams
from pytest_mcp_conformance.server.ways._streams import Body, Stream

if TYPE_CHECKING:
    from pytest_mcp_conformance.history import Event
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["DOMAIN", "PATH", "Body", "Exchanged", "HttpEngine", "Reply", "Request"]

DOMAIN = "mcp-conformance.test"
"""Of addresses inside a process, which nobody else can look up."""

Answer = Callable[[Request], Awaitable[Reply]]


@dataclass
class Exchanged:
    """One request that came in, and the status that it got; 0 as long as there is none."""

    request: Request
    status: int = 0


class HttpEngine:
    """Answers HTTP requests out of a script, by the rules of streamable HTTP in its era.

    Args:
        server: The script.
        sse: Answer by the rules of the transport before that, which is of the handshake era.

    Attributes:
        as_json: Answer a request by one JSON object and not by a stream of events.
        event_ids: Number the events, so that a client may come back for the rest of a stream that was cut.
            The modern era has none.
        retry_ms: Milliseconds that a client is told to wait before it comes back.
        keep_alive: Seconds of silence after which an open stream sends a comment, as servers do so that no
            client takes it for dead; `None` for never.
        through: Answers each request instead: it is given the request and what would answer it. It may
            reply by itself, wait, change the reply, or raise ConnectionResetError to cut the connection and
            ConnectionRefusedError to refuse it. By default nothing is in between.
        exchanged: Every request so far.
    """

    def __init__(self, server: ScriptedServer, *, sse: bool = False) -> None:
        self.server = server
        self.as_json = False
        self.event_ids = False
        self.retry_ms: int | None = None
        self.keep_alive: float | None = 15.0
        self.through: Callable[[Request, Answer], Awaitable[Reply]] | None = None
        self.exchanged: list[Exchanged] = []
        self._principals: dict[str, str | None] = {}
        self._waits: set[anyio.CancelScope] = set()
        self._closed = False
        kind = EventStreams if sse else Sessions if server.era == "handshake" else Exchanges
        self._rules: Sessions | Exchanges | EventStreams = kind(self)

    @property
    def path(self) -> str:
        """Where a client begins."""
        return self._rules.path

    def dialled(self, principal: str | None, headers: Mapping[str, str]) -> None:
        """Learn the credentials that stand for a principal."""
        for name, value in headers.items():
            if name.lower() == "authorization":
                self._principals[value] = principal

    def principal_of(self, request: Request) -> str | None:
        """Whoever the credentials of a request stand for."""
        return self._principals.get(request.headers.get("authorization", ""))

    async def handle(self, request: Request) -> Reply:
        """Answer one request.

        When this is cancelled, or the body of the reply is closed before its end, the client has hung up.

        Raises:
            ConnectionRefusedError: Nobody takes the connection.
            ConnectionResetError: The connection was cut before there was a reply.
        """
        if self._closed:
            raise ConnectionRefusedError("the scripted server is no longer there")
        exchanged = Exchanged(request)
        self.exchanged.append(exchanged)
        with self.until_closed():
            reply = await (self.through(request, self.answer) if self.through else self.answer(request))
        exchanged.status = reply.status
        return reply

    @contextmanager
    def until_closed(self) -> Iterator[None]:
        """Bound what is inside by the life of the engine.

        Raises:
            ConnectionResetError: The engine was closed meanwhile.
        """
        with anyio.CancelScope() as scope:
            self._waits.add(scope)
            try:
                yield
            finally:
                self._waits.discard(scope)
        if scope.cancelled_caught:
            raise ConnectionResetError("the scripted server is gone")

    async def answer(self, request: Request) -> Reply:
        """Answer one request, with nothing in between."""
        if request.path not in self._rules.paths:
            return Reply.text(404, "Not Found")
        try:
            return await self._rules.answer(request)
        except Refusal as refusal:
            return refusal.reply

    def streams(self, connection: Connection) -> list[Stream]:
        """The streams of a connection that a client reads now, each to be `cut()`."""
        lines = [line for line in self._lines if line.connection is connection]
        return [stream for line in lines for stream in line.streams() if stream.reader is not None]

    def answer_to(self, request: Event) -> Stream | None:
        """The stream by which a request that is out is answered, where a client reads it now."""
        lines = [line for line in self._lines if line.connection.number == request.connection]
        streams = [line.answers[request.id] for line in lines if request.id in line.answers]
        return next((stream for stream in streams if stream.reader is not None), None)

    def forget(self, connection: Connection) -> None:
        """End a session as one that has expired: its streams end, and its id is not known any more."""
        for line in self._lines:
            if line.connection is connection:
                line.end()
        connection.drop()

    def close(self) -> None:
        """Take no more requests, and cut what is still open. What is open then stays so in the history."""
        self._closed = True
        for line in self._lines:
            if line.connection.idle:
                line.connection.closed_by_client()
            for stream in line.streams():
                stream.cut()
        for scope in self._waits:
            scope.cancel()

    @property
    def _lines(self) -> list[Line]:
        return list(self._rules.lines)
