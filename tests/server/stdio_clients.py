"""Scenes over stdio, with the SDK's own clients of whichever major is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.stdio import StdioWay

SECOND = hasattr(ClientSession, "discover")

second_only = pytest.mark.skipif(not SECOND, reason="mcp 1.x has neither this era nor this client")
every_era = pytest.mark.parametrize("era", ["handshake", pytest.param("modern", marks=second_only)])

Scene = Callable[[ScriptedServer, StdioWay], Coroutine[Any, Any, None]]


def play(
    scene: Scene,
    era: str = "handshake",
    principal: str | None = None,
    runs: Callable[[Callable[[], Coroutine[Any, Any, ScriptedServer]]], ScriptedServer] = run,
) -> ScriptedServer:
    """Play a scene, by default in virtual time; gives the server, to be asked what it saw."""

    async def main() -> ScriptedServer:
        server = ScriptedServer(era)
        way = StdioWay(server, principal)
        try:
            await scene(server, way)
        finally:
            await way.aclose()
        return server

    return runs(main)


def parameters(command: Sequence[str]) -> StdioServerParameters:
    """A command, as the SDK takes it."""
    return StdioServerParameters(command=command[0], args=list(command[1:]))


@asynccontextmanager
async def connected(
    command: Sequence[str], era: str = "handshake", *, errlog: Any = None, **how: Any
) -> AsyncIterator[ClientSession]:
    """A session past its handshake, over a child of its own."""
    said = {} if errlog is None else {"errlog": errlog}
    async with (
        stdio_client(parameters(command), **said) as streams,
        ClientSession(*streams, **how) as session,
    ):
        await (session.discover() if era == "modern" else session.initialize())
        yield session


async def names(session: Any) -> list[str]:
    """The names of the tools."""
    return [tool.name for tool in (await session.list_tools()).tools]
