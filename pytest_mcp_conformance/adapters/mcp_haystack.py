"""Haystack's `MCPToolset`, of plain functions: behind them a thread with a loop that all toolsets share."""

import json

from haystack_integrations.tools.mcp import MCPToolset, StdioServerInfo, StreamableHttpServerInfo

from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter

LIMIT = 30.0
TO_CONNECT = 4.0  # a dial that fails sits this out, in real time: less than the silence that a play bears


@adapter(
    "mcp-haystack",
    claims=Claims(  # by the docstrings of haystack_integrations.tools.mcp.MCPToolset
        caches_listings=True,  # warm_up: "unless already connected"
        isolates_principals=True,  # headers of StreamableHttpServerInfo: "Custom HTTP headers"
        own_timeout=LIMIT,  # connection_timeout, invocation_timeout
        lazy_connect=True,  # eager_connect: "If False (default), defer connection to warm_up"
        eras=("handshake",),
        transports=("http", "stdio", "loopback"),
    ),
)
def adapter_(dial):
    """A toolset that is warmed up when its tools are first asked for, as a pipeline does."""
    kind = StdioServerInfo if dial.transport == "stdio" else StreamableHttpServerInfo
    server = kind(**dial.settings(), max_retries=0)  # else a call that was cut off is sent again
    toolset = MCPToolset(server, connection_timeout=TO_CONNECT, invocation_timeout=LIMIT)

    def warmed_up():
        toolset.warm_up()
        return list(toolset)

    def list_tools():
        return [Tool(each.name, each.description, each.parameters, handle=each) for each in warmed_up()]

    def call_tool(tool, sent):
        found = {each.name: each for each in warmed_up()}[tool] if isinstance(tool, str) else tool
        return json.loads(found.invoke(**sent))

    yield Wrapper(list_tools=list_tools, call_tool=call_tool, close=toolset.close)
    toolset.close()
