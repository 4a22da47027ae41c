"""The SDK's own sessions over streams that a part of the wrapper watches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any

import anyio

from pytest_mcp_conformance.contract import ConformanceError, NotSpoken
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.scenarios._judge import VerbFailed
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways._wire import decode, encode

__all__ = [
    "DropsMeta",
    "Transport",
    "call_tool",
    "direct_session",
    "item",
    "marked_call",
    "notify",
    "sdk_client",
    "session_over",
    "watched_session",
]


@asynccontextmanager
async def session_over(read: Any, write: Any, era: str) -> AsyncIterator[Any]:
    """A session of the installed SDK over one stream pair, past its handshake."""
    from mcp import ClientSession  # heavy, and only wanted here

    if era == "modern" and not hasattr(ClientSession, "discover"):
        raise NotSpoken("the installed mcp 1.x does not speak the modern era")
    try:
        async with ClientSession(read, write) as session:
            await (session.discover() if era == "modern" else session.initialize())
            yield session
    except Exception as error:
        raise _said(error) from error


@asynccontextmanager
async def watched_session(server: ScriptedServer, ledger: Any) -> AsyncIterator[Any]:
    """A session over a connection of its own, watched by `ledger` unless that is `None`."""
    async with server.dial().streams() as pair:
        read, write = pair if ledger is None else ledger.watch(*pair)
        async with session_over(read, write, server.era) as session:
            yield session


@asynccontextmanager
async def sdk_client(server: ScriptedServer, ledger: Any) -> AsyncIterator[Any]:
    """The client of mcp 2.x over a watched connection: it sends a call again by itself."""
    try:
        from mcp import Client
    except ImportError:
        raise NotSpoken("the installed mcp 1.x has no client that sends a call again") from None

    @asynccontextmanager
    async def streams() -> AsyncIterator[tuple[Any, Any]]:
        async with server.dial().streams() as pair:
            yield ledger.watch(*pair)

    try:
        async with Client(streams(), mode="auto") as client:
            yield client
    except Exception as error:
        raise _said(error) from error


@asynccontextmanager
async def direct_session(ledger: Any, seen: list[Any], notified: list[str]) -> AsyncIterator[Any]:
    """A session of mcp 2.x over a server in its own process. Calls of the tool `fails` get an error.

    Args:
        ledger: What watches it.
        seen: Where the params of its calls are put.
        notified: Where the methods of its notifications are put.
    """
    try:
        from mcp.shared.direct_dispatcher import create_direct_dispatcher_pair
    except ImportError:
        raise NotSpoken("the installed mcp 1.x has no dispatchers") from None
    from mcp import ClientSession
    from mcp.shared.exceptions import MCPError

    async def on_request(_: Any, method: str, params: Any) -> dict[str, Any]:
        if method == "tools/call":
            seen.append(params)
            if params["name"] == "fails":
                raise MCPError(code=-32603, message="scripted failure")
            return {"content": [], "resultType": "complete"}
        return {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

    async def on_notify(_: Any, method: str, params: Any) -> None:
        notified.append(method)

    client, server = create_direct_dispatcher_pair()
    try:
        async with anyio.create_task_group() as group:
            await group.start(server.run, on_request, on_notify)
            async with ClientSession(dispatcher=ledger.watch_dispatcher(client)) as session:
                yield session
            server.close()
    except Exception as error:
        raise _said(error) from error


async def call_tool(session: Any, params: Mapping[str, Any], **more: Any) -> Any:
    """Call a tool by the session's own method, with these params."""
    return await session.call_tool(params["name"], params.get("arguments"), meta=params.get("_meta"), **more)


async def notify(session: Any) -> None:
    """Send the server a notification of mcp 2.x."""
    from mcp_types import RootsListChangedNotification

    await session.send_notification(RootsListChangedNotification())


async def marked_call(ledger: Any, session: Any, params: Mapping[str, Any], refs: list[str]) -> Any:
    """One call with its marker; its `ref` is put into `refs` as it begins."""
    with ledger.call(deepcopy(params)) as call:
        refs.append(call.ref)
        return await call_tool(session, call.params)


def item(number: int, params: Mapping[str, Any] | None, method: str = "tools/call") -> Any:
    """What the SDK writes to a transport for one request."""
    request = {"jsonrpc": "2.0", "id": number, "method": method}
    return decode(request if params is None else {**request, "params": dict(params)})


class Transport:
    """A write stream that keeps what is sent.

    Args:
        error: See below.
        sends_first: Whether the message is sent where the send raises.

    Attributes:
        items: What was sent.
        error: What a send raises, after the message is sent unless `sends_first` is false.
        returns: What a send returns.
        wait: Waited for by each send.
        entered: Whether it was entered.
        closed: Whether this end was closed.
    """

    def __init__(self, error: BaseException | None = None, *, sends_first: bool = True) -> None:
        self.items: list[Any] = []
        self.error = error
        self.returns = object()
        self.wait: Any = None
        self.entered = False
        self.closed = False
        self._sends_first = sends_first

    async def send(self, message: Any) -> Any:
        """Send one message."""
        if self._sends_first or self.error is None:
            self.items.append(message)
        if self.wait is not None:
            await self.wait.wait()
        if self.error is not None:
            raise self.error
        return self.returns

    def send_nowait(self, message: Any) -> None:
        """Send one message at once."""
        self.items.append(message)

    def clone(self) -> Transport:
        """Another end of the same stream, for what it is worth here."""
        return self

    async def aclose(self) -> None:
        """Close this end."""
        self.closed = True

    async def __aenter__(self) -> Transport:
        self.entered = True
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()


class DropsMeta:
    """A write stream that an SDK would seem to write to which rebuilds params without `_meta`."""

    def __init__(self, write: Any) -> None:
        self._write = write

    async def send(self, message: Any) -> None:
        """Send one message without its `_meta`."""
        frame = encode(message)
        if "params" in frame:
            frame["params"] = {key: value for key, value in frame["params"].items() if key != "_meta"}
        await self._write.send(decode(frame))

    async def aclose(self) -> None:
        """Close the stream under this."""
        await self._write.aclose()

    async def __aenter__(self) -> DropsMeta:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()


def _said(error: Exception) -> BaseException:
    """A scenario's own word, out of the groups that task groups make; every other error is a failure."""
    leaf = _leaf(error)
    if isinstance(leaf, ConformanceError | AssertionError):
        return leaf
    return VerbFailed(f"the SDK's session, over what the wrapper watches, raised {describe(leaf)}")


def _leaf(error: BaseException) -> BaseException:
    inside = getattr(error, "exceptions", ())
    return _leaf(inside[0]) if inside else error
