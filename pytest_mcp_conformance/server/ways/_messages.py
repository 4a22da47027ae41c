"""HTTP requests and replies as the engine takes and gives them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pytest_mcp_conformance.server.ways._streams import Body, Events, Message, Paced, Reader, Stream, Whole

__all__ = ["JSON", "PATH", "SSE", "Refusal", "Reply", "Request", "carried", "error_reply", "message_of"]

PATH = "/mcp"

JSON = "application/json"
SSE = "text/event-stream"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


@dataclass(frozen=True)
class Request:
    """One HTTP request.

    Attributes:
        method: `GET`, `POST`…
        path: The path of its URL.
        fields: The header fields as they were sent, name and value.
        body: The whole body.
        source: Tells the clients of one address apart, where the way in can: equal for requests of one
            HTTP client.
    """

    method: str
    path: str = PATH
    fields: Sequence[tuple[str, str]] = ()
    body: bytes = field(default=b"", repr=False)
    source: Any = field(default=None, repr=False)

    @cached_property
    def headers(self) -> dict[str, str]:
        """The header fields by their names in lower case; the values of one name are joined by commas."""
        joined: dict[str, str] = {}
        for name, value in self.fields:
            key = name.lower()
            joined[key] = f"{joined[key]}, {value}" if key in joined else value
        return joined

    def accepts(self, kind: str) -> bool:
        """True when the client takes an answer of this media type."""
        asked = [part.partition(";")[0].strip() for part in self.headers.get("accept", "").split(",")]
        return bool({kind, kind.partition("/")[0] + "/*", "*/*"} & set(asked))


@dataclass
class Reply:
    """One HTTP response.

    Attributes:
        status: The status code.
        headers: The header fields.
        body: What follows; `Body(…)` takes any asynchronous iterable of bytes.
        again: Header fields that are sent beside these, as one that comes twice.
    """

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: Body = field(default_factory=Whole)
    again: Sequence[tuple[str, str]] = ()

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The header fields as they are sent, name and value."""
        return [*self.headers.items(), *self.again]

    @classmethod
    def text(cls, status: int, text: str, **headers: str) -> Reply:
        """A few words for people; a name in `headers` is written with `_` for `-`."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, {"content-type": "text/plain", **fields}, Whole(text.encode()))

    @classmethod
    def json(cls, status: int, content: Message) -> Reply:
        """One JSON object."""
        return cls(status, {"content-type": JSON}, Whole(json.dumps(content, separators=(",", ":")).encode()))


class Refusal(Exception):
    """A request that the rules of the transport refuse; `reply` says so."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def message_of(request: Request, accepts: Collection[str] = (JSON, SSE)) -> Message:
    """The JSON-RPC message that a POST carries.

    Args:
        request: The POST.
        accepts: The media types of which its client has to take each as the answer.

    Raises:
        Refusal: It carries none.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != JSON:
        raise Refusal(Reply.text(415, f"Unsupported Media Type: send {JSON}"))
    if not all(map(request.accepts, accepts)):
        raise Refusal(Reply.text(406, f"Not Acceptable: accept {' and '.join(accepts)}"))
    try:
        message = json.loads(request.body)
    except ValueError:
        raise Refusal(error_reply(400, None, PARSE_ERROR, "Parse error")) from None
    if (
        not isinstance(message, dict)
        or not ({"method", "result", "error"} & message.keys())
        or not isinstance(message.get("id", 0), str | int | float)
    ):
        raise Refusal(error_reply(400, None, INVALID_REQUEST, "The body is no JSON-RPC message"))
    return message


def error_reply(status: int, number: Any, code: int, text: str, data: Any = None) -> Reply:
    """A JSON-RPC error; `number` is the request's id, or `None` where it is not known."""
    error = {"code": code, "message": text, **({"data": data} if data is not None else {})}
    return Reply.json(status, {"jsonrpc": "2.0", "id": number, "error": error})


async def carried(
    stream: Stream, keep_alive: float | None, *, as_json: bool = False, after: int | None = None
) -> Reply:
    """The reply that carries a stream: its events as they come, or its last message alone, as JSON.

    Args:
        stream: What is carried.
        keep_alive: Seconds of silence between its events after which a comment is sent.
        as_json: Wait for the last message, and give that.
        after: How many messages the client has, where it comes back for the rest.

    Raises:
        ConnectionResetError: The connection was cut before there was a reply.
    """
    if stream.broken and after is None:
        raise ConnectionResetError("the connection was cut")
    if stream.instead is not None:
        return stream.instead
    if not as_json:
        headers = {
            "content-type": SSE,
            "cache-control": "no-cache, no-transform",
            "x-accel-buffering": "no",
        }
        return Reply(200, headers, _paced(stream, Events(stream, after, keep_alive)))
    stream.reader = waiting = Reader()
    try:
        while not stream.done:
            await stream.changed()
            if stream.broken:
                raise ConnectionResetError("the connection was cut")
    finally:
        stream.leave(waiting)
    reply = Reply.json(200, stream.messages[-1])
    reply.body = _paced(stream, reply.body)
    return reply


def _paced(stream: Stream, body: Body) -> Body:
    return Paced(body, stream.pause) if stream.pause else body
