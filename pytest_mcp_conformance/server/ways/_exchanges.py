"""Streamable HTTP of the modern era: one request, one response, and nothing between them.

There are no sessions, so a connection of the script is what the server can tell apart: the requests of one
HTTP client, where the way in knows it, with the same credentials. A `server/discover` after the first begins
another one, and so does a request whose id is still out. It is idle, and nothing of it is open, whenever no
response is being read. A response that the client leaves before its end cancels the request, and the script
is told so as over any other way in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.server.ways._headers import checked
from pytest_mcp_conformance.server.ways._line import Line
from pytest_mcp_conformance.server.ways._messages import (
    PATH,
    Refusal,
    Reply,
    Request,
    carried,
    message_of,
)
from pytest_mcp_conformance.server.ways._streams import Message, Reader, Stream

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.ways.http import HttpEngine

__all__ = ["Exchanges"]

STATUS = {
    -32700: 400,
    -32600: 400,
    -32602: 400,
    -32020: 400,
    -32021: 400,
    -32022: 400,
    -32601: 404,
}
"""The status of a response that is an error and nothing else; 200 for other codes."""


class Exchange(Line):
    """Requests that count as one connection."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = False
        self._ids: dict[Stream, Any] = {}

    def ask(self, number: Any) -> Stream:
        """The stream for the answer to a new request."""
        stream = self.answers[number] = Stream(left=self._left)
        self._ids[stream] = number
        self.connection.idle = False
        return stream

    def streams(self) -> list[Stream]:
        """What the client holds open."""
        return list(self._ids)

    def _left(self, stream: Stream) -> None:
        number = self._ids.pop(stream)
        self.connection.idle = not self._ids
        if stream.done:
            return
        self.answers.pop(number, None)
        if stream.broken:
            self.connection.subscriptions.pop(number, None)
        else:
            params = {"requestId": number, "reason": "the client closed the response"}
            self.connection.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


class Exchanges:
    """Answers the requests of the modern era.

    Args:
        engine: Whose settings and script they are answered by.
    """

    path = PATH
    paths = (PATH,)

    def __init__(self, engine: HttpEngine) -> None:
        self._engine = engine
        self._newest: dict[tuple[Any, str | None], Exchange] = {}
        self.lines: list[Exchange] = []

    async def answer(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            Refusal: The rules of the transport forbid it.
            ConnectionRefusedError: The script refuses connections now.
            ConnectionResetError: The script hung up.
        """
        if request.method != "POST":
            raise Refusal(Reply.text(405, "Method Not Allowed", allow="POST"))
        message = message_of(request)
        principal = self._engine.principal_of(request)
        if "id" not in message or "method" not in message:
            self._line(request, principal, message).connection.receive(message, request.headers)
            return Reply(202)
        checked(request, message, self._engine.server, principal)
        line = self._line(request, principal, message)
        stream = line.ask(message["id"])
        stream.reader = arriving = Reader()
        line.connection.receive(message, request.headers)
        if stream.instead is not None:
            stream.leave(arriving)
        elif stream.done and "error" in (last := stream.messages[-1]):
            stream.leave(arriving)
            return Reply.json(STATUS.get(last["error"]["code"], 200), last)
        listens = message["method"] == "subscriptions/listen"
        return await carried(stream, self._engine.keep_alive, as_json=self._engine.as_json and not listens)

    def _line(self, request: Request, principal: str | None, message: Message) -> Exchange:
        key = (request.source, principal)
        line = self._newest.get(key)
        begins = message.get("method") == "server/discover"
        if (
            line is None
            or not line.connection.open
            or (begins and line.begun)
            or ("method" in message and message.get("id") in line.answers)
        ):
            line = Exchange()
            line.connection = self._engine.server.open(
                line.sink, principal=principal, headers=request.headers
            )
            line.connection.idle = True
            self._newest[key] = line
            self.lines.append(line)
        line.begun = line.begun or begins
        return line
