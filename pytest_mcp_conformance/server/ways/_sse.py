"""HTTP with server-sent events, the transport before streamable HTTP: one stream down, messages up beside it.

A GET opens a connection of the script, and the stream of its response is all that the server says. Its first
event names the address to which the client posts its messages; each is taken with 202, and answered on the
stream. The connection is open until the client leaves the stream, or the server ends it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pytest_mcp_conformance.server.faults import Fault
from pytest_mcp_conformance.server.ways._faults import reply_of
from pytest_mcp_conformance.server.ways._line import Line
from pytest_mcp_conformance.server.ways._messages import Refusal, Reply, Request, carried, message_of
from pytest_mcp_conformance.server.ways._streams import Body, Message, Stream

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.ways.http import HttpEngine

__all__ = ["EventStreams"]


class EventStream(Line):
    """One connection.

    Attributes:
        stream: What its client reads.
        instead: The responses that posts get in place of 202, by the ids of their requests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stream = Stream(left=self._left)
        self.instead: dict[Any, Reply] = {}

    def sink(self, message: Message | Fault | None, related: Any) -> None:
        """As of any line; whatever is said belongs on the one stream."""
        if isinstance(message, dict):
            self.stream.put(message)
        else:
            super().sink(message, related)

    def suffer(self, fault: Fault, related: Any) -> None:
        """Have the post of a request refused."""
        self.instead[related] = reply_of(fault)

    def streams(self) -> list[Stream]:
        """What the client holds open."""
        return [self.stream]

    def _left(self, stream: Stream) -> None:
        if not stream.broken:
            self.connection.closed_by_client()


class EventStreams:
    """Answers the requests of this transport, which is of the handshake era.

    Args:
        engine: Whose settings and script they are answered by.
    """

    path = "/sse"

    def __init__(self, engine: HttpEngine) -> None:
        self._engine = engine
        self._by_path: dict[str, EventStream] = {}

    @property
    def lines(self) -> list[EventStream]:
        """Every connection so far."""
        return list(self._by_path.values())

    @property
    def paths(self) -> Collection[str]:
        """Where there is something: the stream's path, and one for the messages of each connection."""
        return {self.path, *self._by_path}

    async def answer(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            Refusal: The rules of the transport forbid it.
            ConnectionRefusedError: The script refuses connections now.
            ConnectionResetError: The script hung up.
        """
        line = self._by_path.get(request.path)
        allowed = "GET" if line is None else "POST"
        if request.method != allowed:
            raise Refusal(Reply.text(405, "Method Not Allowed", allow=allowed))
        return await self._get(request) if line is None else self._post(request, line)

    async def _get(self, request: Request) -> Reply:
        line, path = EventStream(), f"/messages/{uuid4().hex}"
        line.connection = self._engine.server.open(
            line.sink, principal=self._engine.principal_of(request), headers=request.headers
        )
        self._by_path[path] = line
        reply = await carried(line.stream, self._engine.keep_alive)
        reply.body = _After(f"event: endpoint\ndata: {path}\n\n".encode(), reply.body)
        return reply

    def _post(self, request: Request, line: EventStream) -> Reply:
        if not line.connection.open:
            raise Refusal(Reply.text(404, "Not Found"))
        message = message_of(request, accepts=())
        line.connection.receive(message, request.headers, self._engine.principal_of(request))
        return line.instead.pop(message.get("id"), Reply(202))


class _After(Body):
    """A body with an event before it."""

    def __init__(self, first: bytes, body: Body) -> None:
        self._first = first
        self._body = body

    async def __anext__(self) -> bytes:
        first, self._first = self._first, b""
        return first or await anext(self._body)

    def close(self) -> None:
        self._body.close()
