"""Streams over streamable HTTP: the SDK's transport, over an HTTP client that mends what it makes of trouble.

What comes of trouble with one request is told as an answer to that request, in both majors of the SDK:

* an HTTP error is a JSON-RPC error that names the status, or the one that its body holds; 1.x would end the
  whole session, and 2.x would not say the status;
* 404 to a session's id is "Session terminated", whatever the body says, so the client dials anew;
* an answer that is cut is resumed by the SDK where its events have ids, in a bounded number of tries that
  bring nothing new; where they have none, or the tries are over, the request fails. 1.x would wait for ever.

A session id that the server names twice is one id. Headers that may be replaced are read anew for each
request.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import import_module
from typing import Any

from mcp_conformance_reference.sdk import MAJOR

__all__ = ["Answer", "Credentials", "Headers", "HttpClient", "http_streams", "sse_streams"]

_http: Any = import_module("httpx2" if MAJOR == 2 else "httpx")

_SESSION = "mcp-session-id"
_LAST_EVENT = "last-event-id"
_SSE = "text/event-stream"
_INVALID_REQUEST, _METHOD_NOT_FOUND, _INTERNAL_ERROR = -32600, -32601, -32603
_CONNECTION_CLOSED = -32000

Headers = Mapping[str, str] | Callable[[], Mapping[str, str]]
"""Headers that stay, or a function that is asked for them before each request."""


@asynccontextmanager
async def http_streams(
    url: str, headers: Headers | None = None, *, client_type: type[HttpClient] | None = None
) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's (read, write) pair to a streamable HTTP address.

    Args:
        url: The address.
        headers: Ride on every request, whatever it is. Copied; where they may change, as a token that is
            renewed does, give `Credentials`, or any function that gives those of the moment.
        client_type: The HTTP client; by default `HttpClient`.
    """
    transport = import_module("mcp.client.streamable_http")
    timeout = _http.Timeout(30.0, read=300.0)  # as the SDK's own: answers may take long
    async with (
        (client_type or HttpClient)(headers=headers, timeout=timeout) as client,
        transport.streamable_http_client(url, http_client=client) as (read, write, *_),
    ):
        yield read, write


@asynccontextmanager
async def sse_streams(url: str, headers: Headers | None = None) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's (read, write) pair to an address of the transport before streamable HTTP.

    All answers come on one stream there, whose end is the end of the connection: there is nothing to mend.

    Args:
        url: The address.
        headers: Ride on every request, as over streamable HTTP.
    """
    transport = import_module("mcp.client.sse")
    async with transport.sse_client(url, auth=_Headers(headers)) as pair:
        yield pair


class _Headers(_http.Auth):  # type: ignore[misc]
    """Puts the headers of the moment on each request."""

    def __init__(self, headers: Headers | None) -> None:
        fixed = {} if headers is None or callable(headers) else dict(headers)
        self._now = headers if callable(headers) else lambda: fixed

    def auth_flow(self, request: Any) -> Iterator[Any]:
        request.headers.update(self._now())
        yield request


class Credentials:
    """The headers of one user, which may be replaced while connections are open.

    Args:
        headers: The first ones. They are copied, as all are.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = dict(headers)

    def __call__(self) -> Mapping[str, str]:
        """The headers of the moment."""
        return self._headers

    def replace(self, headers: Mapping[str, str]) -> None:
        """Send these from now on, and the ones before never again."""
        self._headers = dict(headers)


class Answer:
    """What is known of the answer to one request, over all the responses that carry it.

    Attributes:
        id: The JSON-RPC id of the request.
        last_event: The id of its last event; empty where events have none.
        tries: How many times in a row it was resumed and brought no new event.
    """

    def __init__(self, request_id: Any) -> None:
        self.id = request_id
        self.last_event = ""
        self.tries = 0

    def read(self, events: bytes) -> None:
        """Take note of the ids in whole events."""
        for line in events.splitlines():
            if line.startswith(b"id:"):
                self.last_event, self.tries = line[3:].strip().decode(), 0


class HttpClient(_http.AsyncClient):  # type: ignore[misc]
    """An HTTP client under the SDK's transport. Whatever the SDK sends goes through `send`.

    Args:
        headers: Ride on every request.
        settings: As of any HTTP client.

    Attributes:
        cut: The answers that were cut and may be resumed, by the ids of their last events.
    """

    max_tries = 5
    """How many tries in a row to resume an answer may bring nothing."""

    def __init__(self, headers: Headers | None = None, **settings: Any) -> None:
        super().__init__(headers=None if callable(headers) else headers, **settings)
        self.cut: dict[str, Answer] = {}
        self._headers_now = headers if callable(headers) else None

    async def send(self, request: Any, **how: Any) -> Any:
        """Send one HTTP request; trouble with a JSON-RPC request comes back as its answer."""
        request.headers.update(self.headers_for(request))
        answer = self.cut.pop(request.headers.get(_LAST_EVENT, ""), None)
        if request.method == "GET" and answer is not None:
            return await self.resume(request, answer, **how)
        if request.method != "POST":
            return await super().send(request, **how)
        message = json.loads(request.content)
        response = await super().send(request, **how)
        if response.status_code >= 400:
            return await self.mended(request, response, message)
        self.name_once(response)
        if "id" in message and response.headers.get("content-type", "").startswith(_SSE):
            return self.carrying(request, response, Answer(message["id"]))
        return response

    def headers_for(self, request: Any) -> Mapping[str, str]:
        """The headers that are read anew for a request."""
        return {} if self._headers_now is None else self._headers_now()

    def name_once(self, response: Any) -> None:
        """Leave one of several equal session ids: joined they would be another one."""
        named = response.headers.get_list(_SESSION)
        if len(set(named)) == 1:
            response.headers[_SESSION] = named[0]

    # -- errors --------------------------------------------------------------------------------------------

    async def mended(self, request: Any, response: Any, message: dict[str, Any]) -> Any:
        """The answer that an HTTP error is; what wants no answer gets none."""
        body = await response.aread()
        await response.aclose()
        if "id" not in message or "method" not in message:
            return _http.Response(202, request=request)
        failed = {"jsonrpc": "2.0", "id": message["id"], "error": self.error_of(request, response, body)}
        return _http.Response(200, json=failed, request=request)

    def error_of(self, request: Any, response: Any, body: bytes) -> dict[str, Any]:
        """What an HTTP error is in JSON-RPC."""
        status = response.status_code
        if status == 404 and _SESSION in request.headers:
            return {"code": _INVALID_REQUEST, "message": "Session terminated"}
        try:
            said = json.loads(body)["error"]
            if isinstance(said["code"], int) and isinstance(said["message"], str):
                return dict(said)
        except (ValueError, TypeError, LookupError):  # a text for people, or nothing
            pass
        code = _METHOD_NOT_FOUND if status == 404 else _INTERNAL_ERROR
        return {"code": code, "message": f"HTTP {_named(status)}", "data": {"status": status}}

    # -- answers that are cut ------------------------------------------------------------------------------

    async def resume(self, request: Any, answer: Answer, **how: Any) -> Any:
        """Go on with an answer; a try that is refused is one that brought nothing."""
        answer.tries += 1
        if answer.tries > self.max_tries:
            return self.events(request, _failed(answer, f"it was cut {answer.tries} times and not resumed"))
        try:
            response = await super().send(request, **how)
        except _http.TransportError:
            self.cut[answer.last_event] = answer
            return self.events(request, b"")
        if response.status_code >= 400:
            await response.aclose()
            if response.status_code == 404:
                return self.events(request, _failed(answer, "Session terminated", _INVALID_REQUEST))
            self.cut[answer.last_event] = answer
            return self.events(request, b"")
        return self.carrying(request, response, answer)

    def carrying(self, request: Any, response: Any, answer: Answer) -> Any:
        """A response that carries events of an answer, with an end of our own where it is cut for good."""
        decoded = ("content-encoding", "content-length")
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in decoded]
        stream = _Events(self, response, answer)
        return _http.Response(response.status_code, headers=headers, stream=stream, request=request)

    def events(self, request: Any, events: bytes) -> Any:
        """A response of these events and no more."""
        return _http.Response(200, headers={"content-type": _SSE}, content=events, request=request)


class _Events(_http.AsyncByteStream):  # type: ignore[misc]
    """The whole events of a response. The SDK closes it at the answer; an end before that is a cut."""

    def __init__(self, client: HttpClient, response: Any, answer: Answer) -> None:
        self._client = client
        self._response = response
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest = b""
        try:
            async for piece in self._response.aiter_bytes():
                *whole, rest = (rest + piece).replace(b"\r\n", b"\n").rpartition(b"\n\n")
                if whole[1]:
                    self._answer.read(whole[0])
                    yield whole[0] + whole[1]
        except _http.TransportError:
            pass  # a cut like any other
        if self._answer.last_event:
            self._client.cut[self._answer.last_event] = self._answer
        else:
            yield _failed(self._answer, "the stream of the answer ended before it")

    async def aclose(self) -> None:
        await self._response.aclose()


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _failed(answer: Answer, why: str, code: int = _CONNECTION_CLOSED) -> bytes:
    """The event of an answer that is an error."""
    failed = {"jsonrpc": "2.0", "id": answer.id, "error": {"code": code, "message": why}}
    return f"event: message\ndata: {json.dumps(failed)}\n\n".encode()
