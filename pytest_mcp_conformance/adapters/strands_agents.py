"""The `MCPClient` of Strands Agents as a tool provider: what an `Agent` loads its tools from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from importlib.metadata import version
from typing import Any

from mcp import StdioServerParameters, stdio_client
from strands.tools.mcp import MCPClient

from pytest_mcp_conformance.adapters._handed_out import HandedOut
from pytest_mcp_conformance.contract import Claims, Dial, Tool, Wrapper, adapter


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
    listen: Any = {"on_tools_changed": lambda previous, refreshed, **more: None}
    if dial.transport == "stdio":
        command, *arguments = dial.command
        server = StdioServerParameters(command=command, args=arguments)
        client = MCPClient(partial(stdio_client, server), **listen)
    else:
        client = MCPClient(url=dial.url, headers=dial.headers, **listen)

    def load() -> Any:  # it blocks its loop, so `Agent` too gives it one of its own
        return asyncio.run(client.load_tools())

    async def call(tool: Any, sent: Any, meta: Any = None, on_progress: Any = None) -> Any:
        async def hears(progress: float, total: float | None, message: str | None) -> None:
            on_progress(progress)

        if isinstance(tool, str):
            await asyncio.to_thread(load)  # an `Agent` has loaded before it calls
        name = tool if isinstance(tool, str) else tool.mcp_tool.name
        hearing = None if on_progress is None else hears
        result = await client.call_tool_async("1", name, sent, meta=meta, progress_callback=hearing)
        return {**result, "isError": result["status"] == "error", "_meta": result.get("metadata")}

    def stop() -> None:
        client.stop(None, None, None)

    def reconnect() -> None:
        stop()
        load()

    yield Wrapper(
        list_tools=lambda: HandedOut(load(), _shown),
        call_tool=call,
        call_with=call,
        reconnect=reconnect,
        close=stop,
    )
    try:
        await asyncio.to_thread(stop)
    except RuntimeError as told:  # at the very last it tells of a connection that was lost: no fault
        if str(told) != "Connection to the MCP server was closed":
            raise


def _shown(tool: Any) -> Tool:
    spec = tool.tool_spec
    takes, gives = (spec.get(key, {}).get("json") for key in ("inputSchema", "outputSchema"))
    return Tool(spec["name"], spec["description"], takes, gives, handle=tool)
