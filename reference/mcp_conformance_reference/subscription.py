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
from mcp_conformance_reference.settings import Settings

if TYPE_CHECKING:
    from mcp_conformance_reference.exchange import Exchange

__all__ = ["LISTEN", "ListenRequest", "Subscription"]

LISTEN = "subscriptions/listen"
_LIFETIMES = "lifetimes"
_SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
_METHOD_NOT_FOUND = -32601


class ListenRequest(Request):
    """The request that stays open as long as its stream does: its answer is the stream's end."""

    subscription: Subscription

    def answer_heard(self, frame: Frame) -> None:
        """The stream ended."""
        super().answer_heard(frame)
        self.subscription.stream_ended(frame)


class StreamEnded(ClientError):
    """A listen stream was ended by a notification."""


class Subscription:
    """The listen stream of one connection.

    Args:
        settings: The client's measures.
        exchange: The requests of the connection.
    """

    def __init__(self, settings: Settings, exchange: Exchange) -> None:
        self._settings = settings
        self._exchange = exchange
        self._request: ListenRequest | None = None
        self._asked = anyio.Event()
        self._acknowledged = 0
        self._acknowledged_at: float | None = None
        self._watched: object | None = None

    def coverage(self) -> object | None:
        """None while a change would be missed; otherwise a value that changes with every gap."""
        return self._watched

    # -- asking --------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Start to listen, and come back once the request has left."""
        self._exchange.asides.start(self.keep_listening, "mcp listen")
        await self._asked.wait()

    async def end(self) -> None:
        """Say good-bye to a stream that is still open."""
        if self._request is not None and self._request.open:
            await self._exchange.say_cancelled(self._request)

    async def keep_listening(self) -> None:
        """Listen, and again whenever the stream ends, until that is of no use."""
        delays = self.delays()
        try:
            while True:
                await self.listen_once()
                if self._watched == _LIFETIMES:
                    return
                if self.lived_long():
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
        """The waits before each further try in a row, in seconds: none, then growing ones, then no more."""
        delay = 0.0
        for _ in range(self._settings.max_reopen):
            yield delay
            delay = min(max(1.0, delay * 2), self._settings.reopen_limit)

    def lived_long(self) -> bool:
        """Whether the stream that just ended had been up so long that its end starts a row of its own."""
        at = self._acknowledged_at
        return at is not None and anyio.current_time() - at >= self._settings.reopen_limit

    async def listen_once(self) -> None:
        """Open the stream and wait for its end.

        Raises:
            ConnectionLost: The connection ended.
        """
        self._acknowledged_at = None
        request = self._exchange.begin(self._settings.parts.listen_type, LISTEN, self.filter())
        assert isinstance(request, ListenRequest)
        request.subscription = self
        self._request = request
        await request.gone.wait()
        self._asked.set()
        try:
            await request.wait()
        except Exception as error:
            explained = self._exchange.explain(LISTEN, error)
            if isinstance(explained, ConnectionLost):
                raise explained from error

    def filter(self) -> dict[str, Any]:
        """What to ask for."""
        return {"notifications": {"toolsListChanged": True}}

    # -- heard on the wire, in its order -------------------------------------------------------------------

    def acknowledged(self, frame: Frame) -> None:
        """The server grants what was asked for, or a part of it."""
        meta = frame.params.get("_meta")
        if isinstance(meta, dict) and self.is_mine(meta.get(_SUBSCRIPTION_ID)):
            self._acknowledged += 1
            self._acknowledged_at = anyio.current_time()
            self._watched = self._acknowledged if self.grants(frame.params) else _LIFETIMES

    def grants(self, acknowledgement: dict[str, Any]) -> bool:
        """Whether the acknowledged filter holds what is counted on."""
        granted = acknowledgement.get("notifications")
        return isinstance(granted, dict) and granted.get("toolsListChanged") is True

    def cancelled(self, frame: Frame) -> None:
        """The server cancels a request: ours, perhaps, which ends the stream."""
        request = self._request
        if request is not None and self.is_mine(frame.params.get("requestId")):
            request.answer_heard(frame)
            request.fail(StreamEnded("the server ended the listen stream; it is opened again"))

    def stream_ended(self, frame: Frame) -> None:
        """Whatever is kept may miss a change from now on, unless hearing of changes was never granted."""
        if frame.error_code == _METHOD_NOT_FOUND:
            self._watched = _LIFETIMES
        elif self._watched != _LIFETIMES:
            self._watched = None

    def is_mine(self, request_id: Any) -> bool:
        """Whether a message speaks of this stream."""
        request = self._request
        return request is not None and type(request_id) is type(request.id) and request_id == request.id
