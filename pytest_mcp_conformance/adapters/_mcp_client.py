"""A subscription of the SDK's `Client` that is kept open, as its documentation says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import chain, repeat

from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError

__all__ = ["listening"]


@asynccontextmanager
async def listening(client: Client) -> AsyncIterator[None]:
    """Keep a subscription open while the block lasts; the client evicts its cache by what arrives on it.

    The block begins once the first one is acknowledged, or is not to be had.
    """
    tried = asyncio.Event()
    task = asyncio.get_running_loop().create_task(_listen(client, tried), name="mcp-client listens")
    await tried.wait()
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _listen(client: Client, tried: asyncio.Event) -> None:
    """Listen until it is cancelled.

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
