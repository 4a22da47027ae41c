"""What a call costs through `ReferenceClient`, beside the bare SDK's session, over memory."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from mcp import ClientSession
from mcp_conformance_reference import ReferenceClient

from pytest_mcp_conformance.server import ScriptedServer, tool

__all__ = ["call_figures"]

ROUNDS, CALLS = 9, 200


def call_figures() -> list[str]:
    """One line an era: microseconds of a call, bare and through the reference, and their median ratio."""
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
            bare = await _microseconds(lambda: session.call_tool("a", {"nonce": "n"}))
            through = await _microseconds(lambda: client.call_tool(handle, {"nonce": "n"}))
            if counted:
                pairs.append((bare, through))
    bare, through = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(through / bare for bare, through in pairs)
    return f"{era}: {bare:.0f} µs bare, {through:.0f} µs through the reference, ratio {ratio:.2f}"


async def _microseconds(call: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        await call()
    return (time.perf_counter() - start) / CALLS * 1e6
