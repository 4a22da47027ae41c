"""The SDK's `Client` of mcp 2.x, with its response cache and, in the modern era, a subscription."""

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from importlib.metadata import version

from mcp import Client
from mcp.client.caching import CacheConfig

from pytest_mcp_conformance.adapters._mcp_client import listening
from pytest_mcp_conformance.adapters._sdk import CLAIMS, LIMIT, verbs_of
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Wrapper, adapter


@adapter(
    "mcp-client",
    version=version("mcp"),
    claims=replace(CLAIMS, caches_listings=True, reacts_to_list_changed=0.0, eras=("handshake", "modern")),
)
async def adapter_(dial, *, limit=LIMIT):
    """A client that listens as its documentation says: first of all, and again with a refetch."""
    client = Client(
        streams_of(dial),
        mode="legacy" if dial.era == "handshake" else "auto",
        read_timeout_seconds=limit,
        cache=CacheConfig(clock=dial.clock.monotonic),
    )

    async def list_page(cursor):
        page = await client.list_tools(cursor=cursor)
        return page.tools, page.next_cursor

    async with client, listening(client) if dial.era == "modern" else nullcontext():
        yield Wrapper(
            **verbs_of(client),
            refresh=partial(client.list_tools, cache_mode="refresh"),
            list_page=list_page,
        )
