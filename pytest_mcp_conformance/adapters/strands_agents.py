"""The `MCPClient` of Strands Agents as a tool provider: what an `Agent` loads its tools from."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

from pytest_mcp_conformance.adapters._calls import hears_progress
from pytest_mcp_conformance.adapters._handed_out import HandedOut
from pytest_mcp_conformance.adapters._strands import NOW, client_of
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter
from pytest_mcp_conformance.contract._tool import tool_of


@adapter(
    "strands-agents",
    claims=Claims(  # by the docstrings of strands.tools.mcp.mcp_client.MCPClient
        caches_listings=True,  # load_tools: "caching them for reuse"
        reacts_to_list_changed=1.0 if NOW else None,  # on_tools_changed: "updates the cached tools", in 0.3 s
        isolates_principals=True,  # headers: "to include on every request to the server", one client each
        call_meta=NOW,  # call_tool_async: "metadata to pass to the tool call per MCP spec"
        progress=NOW,  # call_tool_async: "progress notifications for this call"
        lazy_connect=True,  # load_tools starts it
        transports=("http", "stdio", "loopback"),
    ),
)
def adapter_(dial):
    """A client that is started when its tools are first asked for, as by an `Agent`."""
    client = client_of(dial)
    stop = partial(client.stop, None, None, None)

    def load():  # it blocks its loop, so `Agent` too gives it one of its own
        return HandedOut(asyncio.run(client.load_tools()), lambda t: replace(tool_of(t.mcp_tool), handle=t))

    async def call(tool, sent, **how):
        if isinstance(tool, str):
            await asyncio.to_thread(load)  # an `Agent` has loaded before it calls
        name = tool if isinstance(tool, str) else tool.mcp_tool.name
        result = await client.call_tool_async("1", name, sent, **how)
        return {**result, "isError": result["status"] == "error", "_meta": result.get("metadata")}

    async def call_with(tool, sent, meta, on_progress):
        return await call(tool, sent, meta=meta, progress_callback=hears_progress(on_progress))

    async def call_within(tool, sent, seconds):
        return await call(tool, sent, read_timeout_seconds=timedelta(seconds=seconds))

    yield Wrapper(list_tools=load, call_tool=call, call_with=call_with, call_within=call_within, close=stop)
    try:
        stop()
    except RuntimeError as told:  # at the very last it tells of a connection that was lost: no fault
        if str(told) != "Connection to the MCP server was closed":
            raise
