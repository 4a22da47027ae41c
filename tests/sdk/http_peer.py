"""The scripted server behind an HTTP address: a transport of the HTTP library, with no socket in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
from mcp.client.streamable_http import streamable_http_client

from tests.sdk.peer import SUBSCRIPTION, Peer

try:
    import httpx2 as http
except ImportError:
    import httpx as http

SESSION = "the-session"
CUT = http.RemoteProtocolError("peer closed connection without sending complete message body")
Fault = Callable[[Any], Any]


class Body(http.AsyncByteStream):
    """A response as it is written; an exception that is put in is raised where the client reads."""

    def __init__(self) -> None:
        self.open = True
        self.frames = 0
        self._items: list[bytes | Exception | None] = []
        self._more = anyio.Event()

    def put(self, item: bytes | Exception | None) -> None:
        self._items.append(item)
        self._more.set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            while not self._items:
                self._more = anyio.Event()
                await self._more.wait()
            item = self._items.pop(0)
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item

    async def aclose(self) -> None:
        self.open = False


@dataclass
class HttpPeer(Peer, http.AsyncBaseTransport):
    """A peer that answers each POST by a stream of its own, and has one for a GET.

    `faults` says what is done instead of answering requests of a JSON-RPC method, or of `GET` and `DELETE`.
    With `numbered` each event has an id, `retry_ms` is told, and a GET by the last id goes on with a stream.
    With `names_twice` the answer to `initialize` names the session in two headers that are the same.
    `requests` are what came in, oldest first: HTTP method, JSON-RPC method, headers, and when.
    """

    faults: dict[str, Fault] = field(default_factory=dict)
    numbered: bool = False
    retry_ms: int | None = None
    names_twice: bool = False
    requests: list[tuple[str, str, dict[str, str], float]] = field(default_factory=list)
    bodies: dict[Any, Body] = field(default_factory=dict)
    sent_frames: dict[Any, list[bytes]] = field(default_factory=dict)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[Any, Any]]:
        async with (
            http.AsyncClient(transport=self, timeout=300.0) as client,
            streamable_http_client("http://peer.test/mcp", http_client=client) as streams,
        ):
            yield streams[0], streams[1]

    async def handle_async_request(self, request: Any) -> Any:
        await anyio.lowlevel.checkpoint()  # as over a network: in a cancelled scope nothing is sent
        frame = json.loads(await request.aread() or b"{}")
        method = frame.get("method", "")
        self.requests.append((request.method, method, dict(request.headers), anyio.current_time()))
        fault = self.faults.get(method or request.method)
        if fault is not None:
            return fault(request)
        if request.method == "DELETE":
            return http.Response(200)
        if request.method == "GET":
            return self._stream(self._listen(request.headers.get("last-event-id")), "GET")
        if "id" not in frame or not method:
            self.receive(frame)
            return http.Response(202)
        body = self.bodies[frame["id"]] = Body()
        if self.numbered:
            retry = "" if self.retry_ms is None else f"retry: {self.retry_ms}\n"
            body.put(f"id: {frame['id']}.0\n{retry}data: \n\n".encode())
        self.sent_frames[frame["id"]] = []
        self.receive(frame)
        return self._stream(body, method)

    def send(self, frame: dict[str, Any]) -> None:
        params = frame.get("params") or {}
        key = frame.get("id", (params.get("_meta") or {}).get(SUBSCRIPTION, params.get("requestId", "GET")))
        sent = self.sent_frames.setdefault(key, [])
        number = f"id: {key}.{len(sent) + 1}\n" if self.numbered else ""
        data = json.dumps({"jsonrpc": "2.0", **frame})
        sent.append(f"event: message\n{number}data: {data}\n\n".encode())
        if key in self.bodies:
            self.bodies[key].put(sent[-1])
            if "method" not in frame:
                self.bodies[key].put(None)

    def cut(self, key: Any, how: Exception | None = CUT) -> None:
        """End the response to one request, or to the `GET`, before its answer."""
        self.bodies.pop(key).put(how)

    def ids(self, method: str) -> list[Any]:
        """The ids of the requests of `method`."""
        return [frame["id"] for frame in self.frames if frame.get("method") == method]

    def came(self, method: str) -> list[tuple[dict[str, str], float]]:
        """The headers of each HTTP request of `method`, HTTP or JSON-RPC, and when it came."""
        return [(headers, at) for kind, rpc, headers, at in self.requests if method in (kind, rpc)]

    def _listen(self, last: str | None) -> Body:
        if not self.numbered or last is None:
            self.bodies["GET"] = Body()
            return self.bodies["GET"]
        name, _, place = last.partition(".")
        key = int(name) if name.isdecimal() else name
        body = self.bodies[key] = Body()
        rest = self.sent_frames[key][int(place) :]
        for event in rest:
            body.put(event)
        if rest and b'"result"' in rest[-1]:
            body.put(None)
        return body

    def _stream(self, body: Body, method: str) -> Any:
        headers = [("content-type", "text/event-stream")]
        if method == "initialize":
            headers += [("mcp-session-id", SESSION)] * (2 if self.names_twice else 1)
        return http.Response(200, headers=headers, stream=body)


def status(code: int, error: str = "", number: int = -32602) -> Fault:
    """A response with this status, and with a JSON-RPC error for a body where there is a text."""
    if not error:
        return lambda request: http.Response(code, text="scripted")
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": number, "message": error}}
    return lambda request: http.Response(code, json=body)


def refused(request: Any) -> Any:
    """Nobody takes the connection."""
    raise http.ConnectError("connection refused", request=request)


def hung_up(request: Any) -> Any:
    """The connection is lost before there is a response."""
    raise http.RemoteProtocolError("Server disconnected without sending a response.", request=request)
