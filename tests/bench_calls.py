"""What a call costs through `ReferenceClient`, beside the bare SDK's session, over memory."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from mcp import ClientSession
from mcp_conformance_reference import ReferenceClient

from pytest_mcp_conformance.server import ScriptedServer, tool

__all__ = ["call_figures"]

ROUNDS, CALLS = 60, 100


class Cost(NamedTuple):
    """What a call took, in microseconds: of the process, and by the clock on the wall."""

    process: float
    wall: float


def call_figures() -> list[str]:
    """One line an era: microseconds of a call, bare and through the reference, and their median ratios.

    Bare and reference take turns, so that a drift of the machine meets both. The process's own time is less
    at the mercy of what else runs there.
    """
    eras = ("handshake", "modern") if hasattr(ClientSession, "discover") else ("handshake",)
    return [asyncio.run(_figures(era)) for era in eras]


async def _figures(era: str) -> str:
    server = ScriptedServer(era)
    server.has_tools(tool("a", "integer"))
    async with (
        ReferenceClient(server.dial().streams, era="modern" if era == "modern" else "handshake") as client,
        server.dial().session() as session,
    ):
        (handle,) = await client.list_tools()
        await session.list_tools()
        pairs = []
        for counted in range(ROUNDS + 1):
            bare = await _cost(lambda: session.call_tool("a", {"nonce": "n"}))
            through = await _cost(lambda: client.call_tool(handle, {"nonce": "n"}))
            if counted:
                pairs.append((bare, through))
    bare_process, through_process = (
        statistics.median(cost.process for cost in column) for column in zip(*pairs, strict=True)
    )
    process = statistics.median(through.process / bare.process for bare, through in pairs)
    wall = statistics.median(through.wall / bare.wall for bare, through in pairs)
    return (
        f"{era}: {bare_process:.0f} µs of the process bare, {through_process:.0f} µs through the reference, "
        f"ratio {process:.2f} ({wall:.2f} by the wall clock)"
    )


async def _cost(call: Callable[[], Awaitable[object]]) -> Cost:
    process, wall = time.process_time(), time.perf_counter()
    for _ in range(CALLS):
        await call()
    took = time.process_time() - process, time.perf_counter() - wall
    return Cost(*(seconds / CALLS * 1e6 for seconds in took))
