"""The SDK's own clients at the peer's other end, and what a user of them gets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import anyio
import pytest
from mcp import ClientSession
from mcp.types import PaginatedRequestParams

from tests.sdk.peer import HOUR_MS, Peer

VERSION = version("mcp")
SECOND = not VERSION.startswith("1.")
GONE = (
    f"mcp {VERSION} no longer does this: "
    "take the finding out of docs/explanation/sdk-findings.md and the known gaps"
)

first_only = pytest.mark.skipif(SECOND, reason="about mcp 1.x alone: mcp 2.x does it otherwise")
second_only = pytest.mark.skipif(
    not SECOND, reason="about mcp 2.x alone: mcp 1.x does it otherwise, or not at all"
)
_of_the_second = pytest.mark.skipif(not SECOND, reason="mcp 1.x has neither this client nor this era")


@dataclass(frozen=True)
class Way:
    """A client of the SDK in an era of the protocol.

    With `default_ttl_ms` it keeps a listing to which the server gave no lifetime.
    """

    client: str
    era: str
    default_ttl_ms: int = 0

    @asynccontextmanager
    async def connect(self, peer: Peer, limit: float | None = None) -> AsyncIterator[User]:
        """Connect to `peer`; `limit` is the read timeout of the whole session."""
        if self.client == "client":
            from mcp import Client
            from mcp.client import CacheConfig

            mode = "auto" if self.era == "modern" else "legacy"
            cache = CacheConfig(default_ttl_ms=self.default_ttl_ms)
            async with Client(
                peer.connection(), mode=mode, read_timeout_seconds=limit, cache=cache
            ) as client:
                yield User(client)
            return
        async with (
            peer.connection() as streams,
            ClientSession(*streams, read_timeout_seconds=_limit(limit)) as session,
        ):
            await (session.discover() if self.era == "modern" else session.initialize())
            yield User(session)


SESSION = pytest.param(Way("session", "handshake"), id="session-handshake")
MODERN_SESSION = pytest.param(Way("session", "modern"), id="session-modern", marks=_of_the_second)
CLIENT = pytest.param(Way("client", "handshake"), id="client-handshake", marks=_of_the_second)
MODERN_CLIENT = pytest.param(Way("client", "modern"), id="client-modern", marks=_of_the_second)
every_way = pytest.mark.parametrize("way", [SESSION, MODERN_SESSION, CLIENT, MODERN_CLIENT])
every_cache = pytest.mark.parametrize(
    "way",
    [
        pytest.param(Way("client", "modern"), id="modern"),
        pytest.param(Way("client", "handshake", HOUR_MS), id="handshake-default-ttl"),
    ],
)


class User:
    """What stands on top of a client: it lists, and it calls."""

    def __init__(self, sdk: Any) -> None:
        self.sdk = sdk

    async def listing(self, cursor: str | None = None, **how: Any) -> Any:
        """One page, as the SDK hands it out."""
        if isinstance(self.sdk, ClientSession):
            params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
            return await self.sdk.list_tools(params=params)
        return await self.sdk.list_tools(cursor=cursor, **how)

    async def names(self, **how: Any) -> list[str]:
        return [tool.name for tool in (await self.listing(**how)).tools]

    async def call(self, name: str, limit: float | None = None, **arguments: Any) -> Outcome:
        """Call a tool; an exception is an outcome too."""
        limits = {} if limit is None else {"read_timeout_seconds": _limit(limit)}
        return await outcome(self.sdk.call_tool(name, arguments, **limits))


@dataclass(frozen=True)
class Outcome:
    """What came of a call."""

    result: Any = None
    error: Exception | None = None
    at: float = 0.0

    @property
    def accepted(self) -> bool:
        """The result was handed out."""
        return self.error is None

    @property
    def refused(self) -> bool:
        """The result was not handed out because it broke an output schema."""
        return isinstance(self.error, RuntimeError) and "structured content" in str(self.error)


async def outcome(call: Awaitable[Any]) -> Outcome:
    """Wait for `call` and say what came of it, and when."""
    try:
        return Outcome(result=await call, at=anyio.current_time())
    except Exception as error:
        return Outcome(error=error, at=anyio.current_time())


def output_schema(tool: Any) -> dict[str, Any]:
    """A tool's output schema, by the name that the installed SDK has for it."""
    return tool.output_schema if SECOND else tool.outputSchema


def _limit(seconds: float | None) -> Any:
    return seconds if SECOND or seconds is None else timedelta(seconds=seconds)
