"""The `MCPAggregator` of mcp-agent over one server, in an `MCPApp`; it prefixes tools by that server."""

from pytest_mcp_conformance.adapters._mcp_agent import LIMIT, aggregating, together
from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter

PREFIX = "server_"


@adapter(
    "mcp-agent",
    claims=Claims(
        caches_listings=True,  # MCPAggregator.initialized: "with tools and resources from all servers"
        own_timeout=LIMIT,  # MCPServerSettings.read_timeout_seconds, which is that of the session too
        clock=True,
        eras=("handshake",),
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial):
    """An aggregator of one server."""
    async with aggregating({"server": dial}) as aggregator:

        async def list_tools():
            return [_tool(each) for each in (await aggregator.list_tools()).tools]

        async def call_tool(name, arguments):
            return await aggregator.call_tool(PREFIX + name.removeprefix(PREFIX), arguments)

        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            refresh=aggregator.refresh,
            close=aggregator.close,
            together=together,
        )


def _tool(t):
    return Tool(t.name.removeprefix(PREFIX), t.description, t.inputSchema, t.outputSchema, handle=t.name)
