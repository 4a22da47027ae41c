"""The listen stream of a modern connection: opened, acknowledged, ended, opened again.

```text
   asked ──ack grants──▶ watched ──end──▶ down ──a delay──▶ asked …
     │                                      └──too many times──▶ down for good
     ├──ack grants nothing──▶ lifetimes only
     └──method not found────▶ lifetimes only
```

While it is watched, a kept listing may be trusted for its lifetime. Where the server has no such stream, its
lifetimes are all there is and they are trusted. While the stream is asked for or down, a change would be
missed, so nothing is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio

from mcp_conformance_reference.errors import ClientError, ConnectionLost
from mcp_conformance_reference.requests import Request
from mcp_conformance_reference.sdk import Frame

if TYPE_CHECKING:
    from mcp_conformance_reference.connection import Connection

__all__ = ["LISTEN", "ListenRequest", "Subscription"]

LISTEN = "subscriptions/listen"
LIFETIMES = "lifetimes"
_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
_METHOD_NOT_FOUND = -32601


class ListenRequest(Request):
    """The request that stays open as long as its stream does: its answer is the stream's end."""

    subscription: Subscription

    def answer_heard(self, frame: Frame) -> None:
        """The stream ended."""
        super().answer_heard(frame)
        self.subscription.stream_ended(frame)


class Subscription:
    """The listen stream of one connection.

    Args:
        connection: The connection to listen on; its settings bound the tries.
    """

    request_type: type[ListenRequest] = ListenRequest

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._request: ListenRequest | None = None
        self._asked = anyio.Event()
        self._acknowledged = 0
        self._watched: object | None = None
        self._opened_at = 0.0

    def coverage(self) -> object | None:
        """None while a change would be missed; otherwise a value that changes with every gap."""
        return self._watched

    async def begin(self) -> None:
        """Start to listen, and come back once the request has left."""
        self._connection.aside(self.keep_listening, "mcp listen")
        await self._asked.wait()

    async def end(self) -> None:
        """Say good-bye to a stream that is still open."""
        request, self._request, self._watched = self._request, None, None
        if request is not None and request.open:
            try:
                await self._connection.say_cancelled(request)
            except Exception:  # noqa: S110 - the peer is gone: so is the stream
                pass

    async def keep_listening(self) -> None:
        """Listen, and again when the stream ends, until that is of no use."""
        delays = self.delays()
        try:
            while True:
                if not await self._listen_once():
                    return
                lived = self._connection.settings.now() - self._opened_at
                if self._opened_at and lived >= self._connection.settings.reopen_limit:
                    delays = self.delays()
                delay = next(delays, None)
                if delay is None:
                    return
                await anyio.sleep(delay)
        except ConnectionLost:
            return
        finally:
            self._asked.set()

    def delays(self) -> Iterator[float]:
        """The waits before each further try in a row, in seconds: at once, then growing, then no more."""
        delay = 0.0
        for _ in range(self._connection.settings.max_reopen):
            yield delay
            delay = min(max(1.0, delay * 2), self._connection.settings.reopen_limit)

    async def _listen_once(self) -> bool:
        """Open the stream and wait for its end.

        Returns:
            Whether it is of use to try again.
        """
        self._opened_at = 0.0
        request = self._connection.begin(self.request_type, LISTEN, self.filter())
        assert isinstance(request, ListenRequest)
        request.subscription = self
        self._request = request
        await request.gone.wait()
        self._asked.set()
        try:
            await request.wait()
        except Exception as error:
            explained = self._connection.explain(LISTEN, error)
            if isinstance(explained, ConnectionLost):
                raise explained from None
        return self._watched != LIFETIMES

    def filter(self) -> dict[str, Any]:
        """What to ask for."""
        return {"notifications": {"toolsListChanged": True}}

    # -- heard on the wire, in its order -------------------------------------------------------------------

    def acknowledged(self, params: dict[str, Any]) -> None:
        """The server grants (a part of) what was asked for."""
        meta = params.get("_meta")
        if not isinstance(meta, dict) or not self._is_mine(meta.get(_SUBSCRIPTION_ID)):
            return
        self._opened_at = self._connection.settings.now()
        self._acknowledged += 1
        self._watched = self._acknowledged if self.grants(params.get("notifications")) else LIFETIMES

    def grants(self, granted: Any) -> bool:
        """Whether the acknowledged filter holds what is counted on."""
        return isinstance(granted, dict) and granted.get("toolsListChanged") is True

    def cancelled(self, frame: Frame) -> None:
        """The server cancels a request: ours, perhaps."""
        request = self._request
        if request is not None and self._is_mine(frame.params.get("requestId")):
            request.answer_heard(frame)
            request.fail(StreamEnded("the server ended the listen stream; it is opened again"))

    def stream_ended(self, frame: Frame) -> None:
        """Whatever is kept may miss a change from now on, unless nothing was granted in the first place."""
        if frame.error_code == _METHOD_NOT_FOUND:
            self._watched = LIFETIMES
        elif self._watched != LIFETIMES:
            self._watched = None

    def _is_mine(self, request_id: Any) -> bool:
        request = self._request
        return request is not None and type(request_id) is type(request.id) and request_id == request.id


class StreamEnded(ClientError):
    """A listen stream ended by a notification."""
