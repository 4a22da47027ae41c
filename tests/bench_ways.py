"""What a connect and a listing cost over each way in, beside the SDK's session to a server of its own."""

from __future__ import annotations

import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from mcp import ClientSession, types
from mcp.server.lowlevel import Server
from rich.console import Console
from rich.table import Table

from pytest_mcp_conformance import clock
from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.dial import ScriptedDial
from pytest_mcp_conformance.server.ways.ways import Ways

__all__ = ["way_figures"]

CONNECTS, LISTINGS, PLAYS = 15, 40, 60

Connection = AbstractAsyncContextManager[Any]


def way_figures(console: Console) -> None:
    """Print milliseconds to connect and to list, and how many plays of a scenario fit into a second."""
    table = Table("way in", "connect ms", "list ms", "plays a second")
    connect, listing = clock.run(lambda: _costs(_own))
    table.add_row("the SDK's own server, over memory", f"{connect:.2f}", f"{listing:.2f}", "")
    for way in WAYS:
        connect, listing = clock.run(lambda way=way: _scripted(way))  # type: ignore[misc]
        table.add_row(way, f"{connect:.2f}", f"{listing:.2f}", f"{_plays_a_second(way):.0f}")
    console.print(table)


async def _scripted(way: str) -> tuple[float, float]:
    server, ways = ScriptedServer("handshake"), Ways(way)
    server.has_tools("a")

    @asynccontextmanager
    async def connected() -> AsyncIterator[Any]:
        dial = ScriptedDial(server, ways=ways)
        async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield session

    try:
        return await _costs(connected)
    finally:
        await ways.aclose()


async def _costs(connected: Callable[[], Connection]) -> tuple[float, float]:
    """Medians in milliseconds: of a connect with its close, and of a listing. The first do not count."""
    connects, listings = [], []
    for _ in range(CONNECTS + 1):
        start = time.perf_counter()
        async with connected():
            pass
        connects.append(time.perf_counter() - start)
    async with connected() as session:
        for _ in range(LISTINGS + 1):
            start = time.perf_counter()
            await session.list_tools()
            listings.append(time.perf_counter() - start)
    return 1000 * statistics.median(connects[1:]), 1000 * statistics.median(listings[1:])


def _plays_a_second(way: str) -> float:
    scenario = next(each for each in CATALOGUE if each.name == "overtaken_listing")
    reference = bundled()["reference"]
    start = time.perf_counter()
    for _ in range(PLAYS):
        play(scenario, reference, era="handshake", way=way, variant=scenario.variants[0], compare=False)
    return PLAYS / (time.perf_counter() - start)


@asynccontextmanager
async def _own() -> AsyncIterator[Any]:
    """The SDK's session, connected to the SDK's server in the way that the SDK has for tests."""
    tool = types.Tool.model_validate({"name": "a", "inputSchema": {"type": "object"}})
    if hasattr(ClientSession, "discover"):
        from mcp import Client

        async def on_list(_: Any, __: Any) -> Any:
            return types.ListToolsResult(tools=[tool])

        async with Client(Server("own", on_list_tools=on_list), mode="legacy") as client:
            yield client
        return
    from mcp.shared.memory import create_connected_server_and_client_session

    server: Any = Server("own")

    @server.list_tools()  # type: ignore[untyped-decorator, unused-ignore]
    async def _() -> Any:
        return [tool]

    async with create_connected_server_and_client_session(server) as session:
        yield session


if __name__ == "__main__":
    way_figures(Console())
