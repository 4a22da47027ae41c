"""Both streams of a connection, listened to while the SDK reads and writes them.

What the client must know in the order of the wire is known here: which id a request got, that its answer
has arrived, that a notice came before the answer behind it, that the peer hung up. The SDK tells none of it
in that order: 1.x calls its handler from the receive loop after validation, 2.x from a task.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from mcp_conformance_reference.sdk import Frame, frame_of

__all__ = ["HungUp", "ReadTap", "WriteTap"]

HungUp = (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError)
"""What a stream raises when the other end is gone."""


class ReadTap:
    """A read stream whose messages are heard before the SDK sees them.

    Args:
        stream: The transport's read stream.
        heard: Called with each message, in the receive loop: it must come back at once.
        hung_up: Called when the stream ends.
    """

    def __init__(
        self, stream: Any, heard: Callable[[Frame], Awaitable[None]], hung_up: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._heard = heard
        self._hung_up = hung_up

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> ReadTap:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> Any:
        return await self._stream.__aexit__(*exc)

    def __aiter__(self) -> ReadTap:
        return self

    async def __anext__(self) -> Any:
        return await self._next(self._stream.__anext__)

    async def receive(self) -> Any:
        """Receive one message, like the stream under this."""
        return await self._next(self._stream.receive)

    async def _next(self, take: Callable[[], Awaitable[Any]]) -> Any:
        try:
            item = await take()
        except (StopAsyncIteration, *HungUp):
            self._hung_up()
            raise
        frame = frame_of(item)
        if frame is not None:
            await self._heard(frame)
        return item


class WriteTap:
    """A write stream that tells of each message before and after it is written.

    Args:
        stream: The transport's write stream.
        leaving: Called before a message is written; what it raises stops the message.
        departed: Called once it is written.
        hung_up: Called when it could not be written because the other end is gone.
    """

    def __init__(
        self,
        stream: Any,
        leaving: Callable[[Frame], None],
        departed: Callable[[Frame], None],
        hung_up: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._leaving = leaving
        self._departed = departed
        self._hung_up = hung_up

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> WriteTap:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> Any:
        return await self._stream.__aexit__(*exc)

    async def send(self, item: Any) -> None:
        """Send one message, like the stream under this."""
        frame = frame_of(item)
        if frame is not None:
            self._leaving(frame)
        try:
            await self._stream.send(item)
        except HungUp:
            self._hung_up()
            raise
        if frame is not None:
            self._departed(frame)
