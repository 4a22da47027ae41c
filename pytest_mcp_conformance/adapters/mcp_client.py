"""The SDK's `Client` of mcp 2.x, with its response cache and, in the modern era, a subscription."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from importlib.metadata import version
from itertools import chain, repeat
from typing import Any

from mcp import Client
from mcp.client.caching import CacheConfig
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError

from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS, Claims, Dial, Wrapper, adapter

LIMIT = 30.0


@adapter(
    "mcp-client",
    version=version("mcp"),
    claims=Claims(
        caches_listings=True,
        reacts_to_list_changed=0.0,
        follows_pages=False,
        isolates_principals=True,
        own_timeout=LIMIT,
        call_meta=True,
        progress=True,
        clock=True,
        one_shot=True,
        same_task_close=True,
        eras=("handshake", "modern"),
        transports=WAYS,
    ),
)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """A client over memory that listens as its documentation says: first of all, and again with a refetch."""
    client = Client(
        streams_of(dial),
        mode="legacy" if dial.era == "handshake" else "auto",
        read_timeout_seconds=LIMIT,
        cache=CacheConfig(clock=dial.clock.monotonic),
    )

    async def list_tools() -> Any:
        return (await client.list_tools()).tools

    async def call_tool(tool: Any, arguments: dict[str, Any]) -> Any:
        name = tool if isinstance(tool, str) else tool.name
        return await client.call_tool(name, arguments, read_timeout_seconds=LIMIT)

    async def call_with(tool: Any, arguments: dict[str, Any], meta: Any, on_progress: Any) -> Any:
        async def hears(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress)

        return await client.call_tool(
            tool if isinstance(tool, str) else tool.name,
            arguments,
            read_timeout_seconds=LIMIT,
            progress_callback=None if on_progress is None else hears,
            meta=meta,
        )

    async def refresh() -> None:
        await client.list_tools(cache_mode="refresh")

    async def list_page(cursor: str | None) -> Any:
        page = await client.list_tools(cursor=cursor)
        return page.tools, page.next_cursor

    async with client, AsyncExitStack() as stack:
        if dial.era == "modern":
            tried = asyncio.Event()
            listening = asyncio.get_running_loop().create_task(
                _listen(client, tried), name="mcp-client listens"
            )
            stack.push_async_callback(_end, listening)
            await tried.wait()
        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            call_with=call_with,
            refresh=refresh,
            list_page=list_page,
        )


async def _listen(client: Client, tried: asyncio.Event) -> None:
    """Keep a subscription open; the client evicts its cache by what arrives on it.

    `tried` is set once the first one is acknowledged, or is not to be had.

    A subscription that is lost is opened again at once and the tools are fetched again, as the SDK says a
    user should; one that is refused is asked for again after a growing pause.
    """
    pause = 0.0
    for again in chain([False], repeat(True)):
        await asyncio.sleep(pause)
        pause = min(max(1.0, 2 * pause), 60.0)
        with suppress(SubscriptionLost, MCPError, TimeoutError):
            async with client.listen(tools_list_changed=True) as subscription:
                tried.set()
                if again:
                    await client.list_tools()
                pause = 0.0
                async for _ in subscription:
                    pass
        tried.set()


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
