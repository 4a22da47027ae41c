"""The MCP tools of Microsoft Agent Framework: a connection whose functions an agent is given."""

from functools import partial

from pytest_mcp_conformance.adapters._agent_framework import RECONNECTS, TAKES_META, arguments_for, tool_at
from pytest_mcp_conformance.adapters._calls import name_of
from pytest_mcp_conformance.adapters._handed_out import HandedOut
from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter


@adapter(
    "agent-framework-core",
    claims=Claims(  # by the docstrings of agent_framework.MCPStreamableHTTPTool
        caches_listings=True,  # functions: those that load_tools has made
        reacts_to_list_changed=0.0,  # message_handler: "will trigger a reload of the tools"
        isolates_principals=True,  # static_headers: "included on connection-lifetime requests and tool calls"
        own_timeout=30.0,  # request_timeout: "The default timeout in seconds for all requests"
        call_meta=TAKES_META,  # call_tool: "_meta: Optional dict[str, Any] of MCP request metadata"
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial):
    """A connection of its own, entered as the examples enter it."""

    async def shown():
        return HandedOut(tool.functions, lambda f: Tool(f.name, f.description, f.parameters(), handle=f))

    async def call(called, sent):
        if isinstance(called, str):
            return {"content": await tool.call_tool(called, **sent)}
        return {"content": await called.invoke(arguments=arguments_for(called, sent))}

    async def call_with(called, sent, meta=None, on_progress=None):
        parts = await tool.call_tool(name_of(called), **sent, _meta=meta)
        return {"content": parts, "_meta": parts[0].additional_properties.get("_meta")}

    async with tool_at(dial) as tool, tool:
        yield Wrapper(
            list_tools=shown,
            call_tool=call,
            call_with=call_with if TAKES_META else None,
            reconnect=partial(tool.connect, reset=True) if RECONNECTS else None,
            close=tool.close,
        )
