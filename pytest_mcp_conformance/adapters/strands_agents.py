"""The `MCPClient` of Strands Agents as a tool provider: what an `Agent` loads its tools from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

from mcp import stdio_client
from strands.tools.mcp import MCPClient

from pytest_mcp_conformance.adapters._calls import hears_progress
from pytest_mcp_conformance.adapters._handed_out import HandedOut
from pytest_mcp_conformance.adapters._transports import child_of
from pytest_mcp_conformance.contract import Claims, Dial, Wrapper, adapter
from pytest_mcp_conformance.contract._tool import tool_of


@adapter(
    "strands-agents",
    version=version("strands-agents"),
    claims=Claims(  # by the docstrings of strands.tools.mcp.mcp_client.MCPClient
        caches_listings=True,  # load_tools: "caching them for reuse"
        reacts_to_list_changed=1.0,  # on_tools_changed: "updates the cached tools", after 0.3 s
        isolates_principals=True,  # headers: "to include on every request to the server", one client each
        call_meta=True,  # call_tool_async: "metadata to pass to the tool call per MCP spec"
        progress=True,  # call_tool_async: "progress notifications for this call"
        lazy_connect=True,  # load_tools starts it
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """A managed client, with the callback that turns on the refresh."""
    if dial.transport == "stdio":
        way: Any = {"transport_callable": partial(stdio_client, child_of(dial))}
    else:
        way = {"url": dial.url, "headers": dial.headers}
    client = MCPClient(**way, on_tools_changed=lambda previous, refreshed, **more: None)
    stop = partial(client.stop, None, None, None)

    def load() -> Any:  # it blocks its loop, so `Agent` too gives it one of its own
        return HandedOut(asyncio.run(client.load_tools()), lambda t: replace(tool_of(t.mcp_tool), handle=t))

    async def call(tool: Any, sent: Any, meta: Any = None, on_progress: Any = None) -> Any:
        if isinstance(tool, str):
            await asyncio.to_thread(load)  # an `Agent` has loaded before it calls
        name = tool if isinstance(tool, str) else tool.mcp_tool.name
        hears: Any = hears_progress(on_progress)
        result = await client.call_tool_async("1", name, sent, meta=meta, progress_callback=hears)
        return {**result, "isError": result["status"] == "error", "_meta": result.get("metadata")}

    yield Wrapper(list_tools=load, call_tool=call, call_with=call, close=stop)
    try:
        await asyncio.to_thread(stop)
    except RuntimeError as told:  # at the very last it tells of a connection that was lost: no fault
        if str(told) != "Connection to the MCP server was closed":
            raise
