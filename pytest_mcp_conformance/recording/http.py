"""A proxy between a client and a server that speak over HTTP, on 127.0.0.1.

Bodies go through unchanged, the events of a stream one by one. What a message tells is recorded before its
end is passed on, so nothing in the file comes after what it has caused.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from pytest_mcp_conformance.contract import ConformanceError, UsageError
from pytest_mcp_conformance.door import HOST, turned_away
from pytest_mcp_conformance.recording.connections import SESSION, Connections
from pytest_mcp_conformance.recording.exchange import Exchange
from pytest_mcp_conformance.recording.fields import Fields, fields_of, joined, without_hops
from pytest_mcp_conformance.recording.record import Record
from pytest_mcp_conformance.recording.upstream import Upstream

__all__ = ["HttpRecorder"]


_NEEDS = "record --url needs {}: install pytest-mcp-conformance[http]"

Event = MutableMapping[str, Any]
Send = Callable[[Event], Awaitable[None]]


class HttpRecorder:
    """Stands on a port of this machine for a server elsewhere, and records what is said.

    Args:
        upstream: The server.
        record: Where to; it is closed when serving ends.
    """

    def __init__(self, upstream: Upstream, record: Record) -> None:
        self._upstream = upstream
        self._record = record
        self._connections = Connections(record)
        self._port = 0

    @property
    def url(self) -> str:
        """What a client connects to in the place of the server's address."""
        return f"http://{HOST}:{self._port}{self._upstream.path}"

    def serve(self, port: int, ready: Callable[[str], None]) -> None:
        """Serve until an interrupt or SIGTERM.

        Args:
            port: Of 127.0.0.1; 0 for any that is free.
            ready: Is told the address once clients may connect.

        Raises:
            UsageError: The port cannot be had.
            ConformanceError: A library is missing.
        """
        try:
            uvicorn, http = _uvicorn(), _library()
            with _bound(port) as listening:
                self._port = listening.getsockname()[1]
                asyncio.run(self._serve(uvicorn, http, listening, ready))
        finally:
            self._connections.close()
            self._record.close()

    async def _serve(
        self, uvicorn: ModuleType, http: ModuleType, listening: socket.socket, ready: Callable[[str], None]
    ) -> None:
        logging.getLogger("uvicorn").addHandler(logging.NullHandler())
        config = uvicorn.Config(
            self._answer,
            interface="asgi3",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        server.capture_signals = _no_signals  # it would raise them again before the file is ended
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, setattr, server, "should_exit", True)
        limits = http.Limits(max_connections=None, max_keepalive_connections=20)
        self._http = http
        far = self._upstream.is_far  # what is on this machine needs no proxy in between
        async with http.AsyncClient(timeout=None, limits=limits, trust_env=far) as self._client:
            serving = loop.create_task(server.serve(sockets=[listening]))
            listening.listen()
            ready(self.url)
            await serving

    async def _answer(
        self, scope: MutableMapping[str, Any], receive: Callable[[], Awaitable[Event]], send: Send
    ) -> None:
        """The ASGI application."""
        body = await _body_of(receive)
        if body is None:
            return
        fields = fields_of(scope["headers"])
        headers = joined(fields)
        if refused := turned_away(headers, self._port, "recorder"):
            await _respond(send, *refused)
            return
        exchange = None
        if scope["path"] == self._upstream.path and (scope["method"] == "POST" or SESSION in headers):
            exchange = Exchange(self._connections, scope["method"], headers, scope.get("client"), body)
        request = self._http.Request(
            scope["method"], self._address(scope), headers=self._passed_on(fields), content=body
        )
        passing = asyncio.ensure_future(self._pass_on(request, exchange, send))
        gone = asyncio.ensure_future(_gone(receive))
        left = True
        try:
            await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
            left = not passing.done()
        finally:
            for task in (passing, gone):
                task.cancel()
            await asyncio.wait({passing, gone})
            if left and exchange is not None:
                exchange.left()

    async def _pass_on(self, request: Any, exchange: Exchange | None, send: Send) -> None:
        """Ask the server, and pass the response on as it comes."""
        try:
            reply = await self._client.send(request, stream=True)
        except self._http.HTTPError as error:
            why = type(error).__name__
            await _respond(send, 502, f"Bad Gateway: {self._upstream.host} gives no answer ({why})")
            return
        try:
            fields = fields_of(reply.headers.raw)
            if exchange is not None:
                exchange.begins(reply.status_code, joined(fields))
            start = _start(reply.status_code, without_hops(fields, {"content-length"}))
            await _pass_body(reply, exchange, start, send)
        except self._http.HTTPError:  # uvicorn cuts the response off, as the server has done
            return
        finally:
            await reply.aclose()

    def _address(self, scope: Mapping[str, Any]) -> str:
        path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        if scope["path"] == self._upstream.path and not query:
            query = self._upstream.query
        return f"{self._upstream.origin}{path}{'?' if query else ''}{query}"

    def _passed_on(self, fields: Fields) -> Fields:
        """The headers of a request, for the server: its own origin where the client named ours."""
        own = self._upstream.site
        passed = [(name, own if name == "origin" else value) for name, value in without_hops(fields)]
        return [*passed, ("accept-encoding", "identity")]


async def _pass_body(reply: Any, exchange: Exchange | None, start: Event, send: Send) -> None:
    """Pass a response on; the last piece of one that is no stream waits until its message is recorded."""
    held_back = exchange is not None and exchange.waits
    waiting = [start]
    if not held_back:
        await send(waiting.pop())
    async for piece in reply.aiter_raw():
        if exchange is not None:
            exchange.feed(piece)
        waiting.append({"type": "http.response.body", "body": piece, "more_body": True})
        while len(waiting) > (1 if held_back else 0):
            await send(waiting.pop(0))
    if exchange is not None:
        exchange.ends()
    for event in (*waiting, {"type": "http.response.body", "body": b""}):
        await send(event)


async def _body_of(receive: Callable[[], Awaitable[Event]]) -> bytes | None:
    """The body of a request; `None` where the client left before its end."""
    pieces: list[bytes] = []
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        pieces.append(event.get("body", b""))
        if not event.get("more_body", False):
            return b"".join(pieces)


async def _gone(receive: Callable[[], Awaitable[Event]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _respond(send: Send, status: int, text: str) -> None:
    await send(_start(status, [("content-type", "text/plain")]))
    await send({"type": "http.response.body", "body": text.encode()})


def _start(status: int, fields: Iterable[tuple[str, str]]) -> Event:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
    return {"type": "http.response.start", "status": status, "headers": headers}


@contextmanager
def _no_signals() -> Any:
    yield


def _bound(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise UsageError(f"--port {port}: {error.strerror or error}; take another one, or 0") from None
    return listening


def _uvicorn() -> ModuleType:
    try:
        import uvicorn
    except ImportError:
        raise ConformanceError(_NEEDS.format("uvicorn")) from None
    return uvicorn


def _library() -> ModuleType:
    """The HTTP library that is here: httpx2 beside mcp 2.x, httpx beside mcp 1.x."""
    from importlib import import_module

    for name in ("httpx2", "httpx"):
        with suppress(ImportError):
            return import_module(name)
    raise ConformanceError(_NEEDS.format("httpx"))
