"""What an HTTP response carries: messages that the script puts in, bytes that the client reads."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.ways._messages import Reply

__all__ = ["PIECES", "Body", "Events", "Paced", "Reader", "Stream", "Whole"]

Message = dict[str, Any]

PIECES = 10
"""Bits in which what is slow comes."""


class Body:
    """The body of a response: bytes, as they come.

    Args:
        chunks: The bytes.
    """

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self._chunks = aiter(chunks)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        """The next bytes.

        Raises:
            ConnectionResetError: The connection was cut.
        """
        return await anext(self._chunks)

    def close(self) -> None:
        """The client reads no further: it has read everything, or hung up. A second time is nothing."""


class Whole(Body):
    """A body that is there from the start."""

    def __init__(self, content: bytes = b"") -> None:
        self._left = [content] if content else []

    async def __anext__(self) -> bytes:
        """The whole of it, once."""
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop()


class Paced(Body):
    """A body that comes in bits, with a pause before each.

    Args:
        body: All of it.
        pause: Seconds on the loop's clock.
    """

    def __init__(self, body: Body, pause: float) -> None:
        self._body = body
        self._pause = pause
        self._left = b""

    async def __anext__(self) -> bytes:
        """The next bit."""
        if not self._left:
            self._left = await anext(self._body)
            self._size = -(-len(self._left) // PIECES)
        await anyio.sleep(self._pause)
        bit, self._left = self._left[: self._size], self._left[self._size :]
        return bit

    def close(self) -> None:
        """The client reads no further."""
        self._body.close()


class Reader:
    """Whoever reads a stream now.

    Attributes:
        until: How many messages it gets in all, once it has left or was cut off.
    """

    until: float = math.inf


class Stream:
    """The messages of one answer, or of what a client listens to, in their order.

    A response reads it, or several responses one after the other where its events are numbered.

    Args:
        name: Begins the ids of its events; empty for events without ids.
        retry_ms: Milliseconds after which to come back, told where events have ids.
        left: Called when a client stops to read, or its connection was cut.

    Attributes:
        done: True once nothing more is to come.
        broken: True once a connection that read it was cut, until it is read again.
        instead: The response that its request gets in place of this, where something has gone wrong.
        pause: Seconds before each bit of a response that reads it; 0 for a response that comes at once.
    """

    def __init__(
        self,
        name: str = "",
        retry_ms: int | None = None,
        left: Callable[[Stream], None] = lambda stream: None,
    ) -> None:
        self.name = name
        self.retry_ms = retry_ms
        self.messages: list[Message] = []
        self.done = False
        self.broken = False
        self.instead: Reply | None = None
        self.pause = 0.0
        self.reader: Reader | None = None
        self._left = left
        self._changed = anyio.Event()

    def put(self, message: Message) -> None:
        """Send one message."""
        self.messages.append(message)
        self._tell()

    def end(self) -> None:
        """Say that nothing more is to come."""
        self.done = True
        self._tell()

    def cut(self) -> None:
        """Cut the connection of the client that reads it, after what was sent so far."""
        if not self.done:
            self.broken = True
            self.leave(self.reader)
            self._tell()

    async def changed(self, within: float | None = None) -> bool:
        """Wait for a message, the end or a cut, for that many seconds. False when none of it came."""
        with anyio.move_on_after(within) as limit:
            await self._changed.wait()
        return not limit.cancelled_caught

    def leave(self, reader: Reader | None) -> None:
        """A client stops to read."""
        if reader is not None and self.reader is reader:
            reader.until = len(self.messages)
            self.reader = None
            self._left(self)
            self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class Events(Body, Reader):
    """A stream as server-sent events.

    Args:
        stream: What is read, by nobody else.
        after: How many of its messages the client has.
        keep_alive: Seconds of silence after which a comment is sent; `None` for none.
    """

    def __init__(self, stream: Stream, after: int | None = None, keep_alive: float | None = None) -> None:
        self._stream = stream
        self._keep_alive = keep_alive
        self._place = after or 0
        self._primed = not stream.name or after is not None
        stream.reader = self
        stream.broken = False

    async def __anext__(self) -> bytes:
        """The next event."""
        stream = self._stream
        while True:
            if not self._primed:
                self._primed = True
                retry = "" if stream.retry_ms is None else f"retry: {stream.retry_ms}\n"
                return f"id: {stream.name}.0\n{retry}data: \n\n".encode()
            if self._place < min(len(stream.messages), self.until):
                self._place += 1
                number = f"id: {stream.name}.{self._place}\n" if stream.name else ""
                data = json.dumps(stream.messages[self._place - 1], separators=(",", ":"))
                return f"event: message\n{number}data: {data}\n\n".encode()
            if stream.reader is not self:
                raise ConnectionResetError("the connection was cut")
            if stream.done:
                self.close()
                raise StopAsyncIteration
            if not await stream.changed(self._keep_alive):
                return b": still here\n\n"

    def close(self) -> None:
        """The client reads no further."""
        self._stream.leave(self)
