"""The way in over memory: the SDK's (read, write) pair, for both SDK majors, without a pump task between."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import anyio

from pytest_mcp_conformance.server.ways._wire import decode, encode

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["memory_streams"]


class _WriteEnd:
    """The client's write stream: what is sent reaches the script in the sender's task."""

    def __init__(self, receive: Callable[[dict[str, Any]], None], is_open: Callable[[], bool]) -> None:
        self._receive = receive
        self._is_open = is_open
        self._closed = False

    async def send(self, message: Any) -> None:
        """Hand one message over.

        Raises:
            anyio.ClosedResourceError: This end was closed.
            anyio.BrokenResourceError: The server hung up.
        """
        if self._closed:
            raise anyio.ClosedResourceError
        await anyio.lowlevel.checkpoint()
        if not self._is_open():
            raise anyio.BrokenResourceError
        self._receive(encode(message))

    async def aclose(self) -> None:
        """Close this end."""
        self._closed = True

    def close(self) -> None:
        """Close this end."""
        self._closed = True

    async def __aenter__(self) -> _WriteEnd:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._closed = True


@asynccontextmanager
async def memory_streams(
    server: ScriptedServer, principal: str | None, headers: Mapping[str, str]
) -> AsyncIterator[tuple[Any, Any]]:
    """One connection over memory, open while the context is.

    Raises:
        ConnectionRefusedError: The server refuses connections now.
    """
    await anyio.lowlevel.checkpoint()
    send, receive = anyio.create_memory_object_stream[Any](float("inf"))

    def sink(message: Any, related: Any) -> None:
        if message is None:
            send.close()
            return
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # nobody is left to hear it
            send.send_nowait(decode(message))

    try:
        connection = server.open(sink, principal=principal, headers=headers)
    except BaseException:
        send.close()
        receive.close()
        raise
    try:
        async with nullcontext() if server.brittle is None else server.brittle.around(connection):
            yield receive, _WriteEnd(connection.receive, lambda: connection.open)
    finally:
        connection.closed_by_client()
        send.close()
        receive.close()
