"""The SDK's `Client` of mcp 2.x, with its response cache and, in the modern era, a subscription."""

from contextlib import nullcontext
from functools import partial
from importlib.metadata import version

from mcp import Client
from mcp.client.caching import CacheConfig

from pytest_mcp_conformance.adapters._calls import hears_progress, name_of
from pytest_mcp_conformance.adapters._mcp_client import listening
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS, Claims, Wrapper, adapter

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
async def adapter_(dial):
    """A client over memory that listens as its documentation says: first of all, and again with a refetch."""
    client = Client(
        streams_of(dial),
        mode="legacy" if dial.era == "handshake" else "auto",
        read_timeout_seconds=LIMIT,
        cache=CacheConfig(clock=dial.clock.monotonic),
    )

    async def list_tools():
        return (await client.list_tools()).tools

    async def call_tool(tool, arguments, **how):
        return await client.call_tool(name_of(tool), arguments, **how)

    async def call_with(tool, arguments, meta, on_progress):
        how = {"meta": meta, "progress_callback": hears_progress(on_progress)}
        return await call_tool(tool, arguments, **how)

    async def call_within(tool, arguments, seconds):
        return await call_tool(tool, arguments, read_timeout_seconds=seconds)

    async def list_page(cursor):
        page = await client.list_tools(cursor=cursor)
        return page.tools, page.next_cursor

    async with client, listening(client) if dial.era == "modern" else nullcontext():
        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            call_with=call_with,
            call_within=call_within,
            refresh=partial(client.list_tools, cache_mode="refresh"),
            list_page=list_page,
        )
