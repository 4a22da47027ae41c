"""Streamable HTTP of the handshake era: sessions, each with an id, and a stream that a GET listens to.

One session is one connection of the script. It opens with `initialize` and is closed by a DELETE. A response
that the client leaves takes nothing with it, as the protocol says, but for that of `initialize`: a client
that never saw the answer cannot end the session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pytest_mcp_conformance.server.faults import Fault
from pytest_mcp_conformance.server.ways._faults import farewell
from pytest_mcp_conformance.server.ways._line import Line
from pytest_mcp_conformance.server.ways._messages import (
    INVALID_REQUEST,
    PATH,
    SSE,
    Refusal,
    Reply,
    Request,
    carried,
    error_reply,
    message_of,
)
from pytest_mcp_conformance.server.ways._streams import Message, Stream

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.ways.http import HttpEngine

__all__ = ["Sessions"]

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
LAST_EVENT = "last-event-id"


class Session(Line):
    """One session.

    Attributes:
        id: What the client names it by.
        listening: The streams that GETs listen to, the newest last; the first is there before its GET.
    """

    def __init__(self, engine: HttpEngine, handshake: Any) -> None:
        super().__init__()
        self.id = uuid4().hex
        self.numbered: dict[str, Stream] = {}
        self._engine = engine
        self._opening = self.answers[handshake] = self.stream()
        self._listened = False
        self.listening = [self.stream()]

    def stream(self) -> Stream:
        """A new stream of this session; its events have ids where the engine gives ids."""
        name = f"{len(self.numbered) + 1}" if self._engine.event_ids else ""
        stream = Stream(name, self._engine.retry_ms, self._left)
        if name:
            self.numbered[name] = stream
        return stream

    def sink(self, message: Message | Fault | None, related: Any) -> None:
        """As of any line; a handshake that fails leaves no session."""
        opening = self.answers.get(related) is self._opening
        super().sink(message, related)
        fails = not message.answers if isinstance(message, Fault) else "error" in (message or ())
        if opening and fails:
            self.connection.closed_by_client("after a failed handshake")

    def streams(self) -> list[Stream]:
        """What the client may hold open."""
        return [*super().streams(), *self.listening]

    def elsewhere(self) -> Stream | None:
        """The newest stream that somebody listens to, or may come back to."""
        found = [s for s in self.listening if s.reader is not None or s.name or not self._listened]
        return found[-1] if found else None

    def give_up(self, message: Message) -> None:
        """End the stream of the request that a client's notice cancels: no answer will come on it."""
        if message.get("method") == "notifications/cancelled":
            stream = self.answers.pop((message.get("params") or {}).get("requestId"), None)
            if stream is not None:
                stream.end()

    def listen(self) -> Stream:
        """The stream for a new GET."""
        if self._listened:
            self.listening.append(self.stream())
        self._listened = True
        return self.listening[-1]

    def resumed(self, last: str) -> tuple[Stream, int]:
        """The stream of the event `last`, and how many messages the client has of it.

        Raises:
            Refusal: There was no such event.
        """
        name, _, place = last.partition(".")
        stream = self.numbered.get(name)
        if stream is None or not place.isdecimal() or int(place) > len(stream.messages):
            raise Refusal(error_reply(400, None, INVALID_REQUEST, f"Bad Request: no event {last!r}"))
        return stream, int(place)

    def _left(self, stream: Stream) -> None:
        if stream is self._opening and not stream.done and not stream.broken:
            self.connection.closed_by_client("during its handshake")


class Sessions:
    """Answers the requests of the handshake era.

    Args:
        engine: Whose settings and script they are answered by.
    """

    path = PATH
    paths = (PATH,)

    def __init__(self, engine: HttpEngine) -> None:
        self._engine = engine
        self._sessions: dict[str, Session] = {}

    @property
    def lines(self) -> list[Session]:
        """Every session so far."""
        return list(self._sessions.values())

    async def answer(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            Refusal: The rules of the transport forbid it.
            ConnectionRefusedError: The script refuses connections now.
            ConnectionResetError: The script hung up.
        """
        if request.method == "POST":
            return await self._post(request)
        if request.method == "GET":
            return await self._get(request)
        if request.method == "DELETE":
            session = self._session(request)
            session.connection.closed_by_client()
            session.end()
            return await farewell(self._engine.server.meets("close"))
        raise Refusal(Reply.text(405, "Method Not Allowed", allow="GET, POST, DELETE"))

    async def _post(self, request: Request) -> Reply:
        message = message_of(request)
        if message.get("method") == "initialize" and "id" in message and SESSION not in request.headers:
            return await self._initialize(request, message)
        session = self._session(request)
        principal = self._engine.principal_of(request)
        if "id" not in message or "method" not in message:
            session.connection.receive(message, request.headers, principal)
            session.give_up(message)
            return Reply(202)
        stream = session.answers[message["id"]] = session.stream()
        session.connection.receive(message, request.headers, principal)
        return await carried(stream, self._engine.keep_alive, as_json=self._engine.as_json)

    async def _initialize(self, request: Request, message: Message) -> Reply:
        session = Session(self._engine, message["id"])
        stream = session.answers[message["id"]]
        session.connection = self._engine.server.open(
            session.sink, principal=self._engine.principal_of(request), headers=request.headers
        )
        self._sessions[session.id] = session
        session.connection.receive(message, request.headers)
        reply = await carried(stream, self._engine.keep_alive, as_json=self._engine.as_json)
        if session.connection.open:
            reply.headers[SESSION] = session.id
        return reply

    async def _get(self, request: Request) -> Reply:
        if not request.accepts(SSE):
            raise Refusal(Reply.text(406, f"Not Acceptable: accept {SSE}"))
        session = self._session(request)
        last = request.headers.get(LAST_EVENT)
        if last is None or not self._engine.event_ids:
            return await carried(session.listen(), self._engine.keep_alive)
        stream, place = session.resumed(last)
        return await carried(stream, self._engine.keep_alive, after=place)

    def _session(self, request: Request) -> Session:
        """The session that a request names.

        Raises:
            Refusal: It names none, or one that is over; or it speaks a version that nobody speaks.
        """
        named = request.headers.get(SESSION)
        if named is None:
            raise Refusal(error_reply(400, None, INVALID_REQUEST, "Bad Request: Mcp-Session-Id is missing"))
        session = self._sessions.get(named)
        if session is None or not session.connection.open:
            raise Refusal(Reply.text(404, "Not Found"))
        version = request.headers.get(VERSION)
        if version is not None and version not in self._engine.server.versions:
            text = f"Bad Request: Unsupported protocol version: {version}"
            raise Refusal(error_reply(400, None, INVALID_REQUEST, text))
        return session
