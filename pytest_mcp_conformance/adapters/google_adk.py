"""google-adk's `McpToolset`, before 1.14 `MCPToolset`, whose tools are called by the objects listed."""

import os
from contextlib import AsyncExitStack
from dataclasses import replace

from google.adk.tools import mcp_tool as adk
from google.adk.tools.mcp_tool import StdioConnectionParams, StreamableHTTPConnectionParams
from mcp import StdioServerParameters

from pytest_mcp_conformance.contract import Claims, Wrapper, adapter
from pytest_mcp_conformance.contract._tool import tool_of

LIMIT = 30.0
TOOLSET = adk.McpToolset if hasattr(adk, "McpToolset") else adk.MCPToolset
RAW = "raw_mcp_tool" if hasattr(adk.MCPTool, "raw_mcp_tool") else "_mcp_tool"  # no public name before 1.15
os.environ.setdefault("GOOGLE_API_USE_CLIENT_CERTIFICATE", "false")  # it asks a host for one else


@adapter(
    "google-adk",
    claims=Claims(  # the docstrings that are named
        own_timeout=LIMIT,  # StreamableHTTPConnectionParams: timeout, sse_read_timeout
        redials=True,  # MCPSessionManager.create_session
        isolates_principals=True,
        binds_tools=True,  # McpToolset.get_tools
        lazy_connect=True,
        clock=not hasattr(adk.mcp_toolset, "time"),  # until 2.6 its timers are the loop's
        eras=("handshake",),
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial):
    """One toolset, which lists on each call: its cache is for the asking, and kept by real time."""
    toolset = TOOLSET(connection_params=_parameters(dial))
    known = {}

    async def list_tools():
        tools = await toolset.get_tools()
        known.update((tool.name, tool) for tool in tools)
        return [replace(tool_of(getattr(tool, RAW)), handle=tool) for tool in tools]

    async def call_tool(tool, arguments):
        if isinstance(tool, str):
            if not known:
                await list_tools()
            tool = known[tool]
        return await tool.run_async(args=arguments, tool_context=None)

    async with AsyncExitStack() as stack:
        stack.push_async_callback(toolset.close)
        yield Wrapper(list_tools=list_tools, call_tool=call_tool, refresh=list_tools, close=toolset.close)


def _parameters(dial):
    if dial.transport == "stdio":
        return StdioConnectionParams(server_params=StdioServerParameters(**dial.settings()), timeout=LIMIT)
    return StreamableHTTPConnectionParams(**dial.settings(), timeout=LIMIT, sse_read_timeout=LIMIT)
