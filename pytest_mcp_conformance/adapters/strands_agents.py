"""The `MCPClient` of Strands Agents as a tool provider, from which an `Agent` loads; before 1.14 entered."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from pytest_mcp_conformance.adapters._calls import hears_progress
from pytest_mcp_conformance.adapters._handed_out import HandedOut
from pytest_mcp_conformance.adapters._strands import MANAGED, NOW, PAGED, client_of, loads, stops
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter
from pytest_mcp_conformance.contract._tool import tool_of


@adapter(
    "strands-agents",
    claims=Claims(  # by the docstrings of strands.tools.mcp.mcp_client.MCPClient
        caches_listings=MANAGED,  # load_tools: "caching them for reuse"
        reacts_to_list_changed=1.0 if NOW else None,  # on_tools_changed: "updates the cached tools", in 0.3 s
        follows_pages=not PAGED,  # list_tools_sync(pagination_token)
        isolates_principals=True,  # headers: "to include on every request to the server", one client each
        call_meta=NOW,  # call_tool_async: "metadata to pass to the tool call per MCP spec"
        progress=NOW,  # call_tool_async: "progress notifications for this call"
        lazy_connect=MANAGED,  # load_tools starts it
        transports=("http", "stdio", "loopback"),
    ),
)
def adapter_(dial):
    """A client that is started when its tools are first asked for, as by an `Agent`."""
    client = client_of(dial)
    stop = stops(client)

    def load(listed=loads):
        return HandedOut(listed(client), lambda t: replace(tool_of(t.mcp_tool), handle=t))

    def list_page(token):
        page = client.list_tools_sync(token)
        return load(lambda client: page), page.pagination_token

    async def call(tool, sent, **how):
        if isinstance(tool, str) and MANAGED:
            await asyncio.to_thread(load)  # an `Agent` has loaded before it calls
        name = tool if isinstance(tool, str) else tool.mcp_tool.name
        result = await client.call_tool_async("1", name, sent, **how)
        return {**result, "isError": result["status"] == "error", "_meta": result.get("metadata")}

    async def call_with(tool, sent, meta, on_progress):
        return await call(tool, sent, meta=meta, progress_callback=hears_progress(on_progress))

    async def call_within(tool, sent, seconds):
        return await call(tool, sent, read_timeout_seconds=timedelta(seconds=seconds))

    more = {"list_page": list_page} if PAGED else {}
    verbs = {"call_with": call_with, "call_within": call_within, **more}
    yield Wrapper(list_tools=load, call_tool=call, close=stop, **verbs)
    try:
        stop()
    except RuntimeError as told:  # at the very last it tells of a connection that was lost: no fault
        if str(told) != "Connection to the MCP server was closed":
            raise
