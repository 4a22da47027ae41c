"""The MCP tools of Microsoft Agent Framework: a connection whose functions an agent is given."""

from functools import partial
from inspect import signature

from agent_framework import MCPStdioTool, MCPStreamableHTTPTool

from pytest_mcp_conformance.adapters._calls import name_of
from pytest_mcp_conformance.adapters._handed_out import HandedOut
from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter

FIXED = "static_headers" in signature(MCPStreamableHTTPTool).parameters  # before: a provider alone
ALIKE = {"request_timeout": 30, "load_prompts": False}  # old releases ask for prompts unoffered


@adapter(
    "agent-framework-core",
    claims=Claims(  # by the docstrings of agent_framework.MCPStreamableHTTPTool
        caches_listings=True,  # functions: those that load_tools has made
        reacts_to_list_changed=0.0,  # message_handler: "will trigger a reload of the tools"
        isolates_principals=True,  # static_headers: "included on connection-lifetime requests and tool calls"
        own_timeout=30.0,  # request_timeout: "The default timeout in seconds for all requests"
        call_meta=True,  # call_tool: "_meta: Optional dict[str, Any] of MCP request metadata"
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial):
    """A connection of its own, entered as the examples enter it."""
    if dial.transport == "stdio":
        tool = MCPStdioTool("kit", **dial.settings(), **ALIKE)
    else:
        fixed = {"static_headers": dial.headers}
        headers = fixed if FIXED else {"header_provider": lambda _: dial.headers}
        tool = MCPStreamableHTTPTool("kit", dial.url, **ALIKE, **headers)

    async def shown():
        return HandedOut(tool.functions, lambda f: Tool(f.name, f.description, f.parameters(), handle=f))

    async def call(called, sent):
        if isinstance(called, str):
            return await call_with(called, sent)
        return {"content": await called.invoke(arguments=sent)}

    async def call_with(called, sent, meta=None, on_progress=None):
        parts = await tool.call_tool(name_of(called), **sent, _meta=meta)
        return {"content": parts, "_meta": parts[0].additional_properties.get("_meta")}

    again = partial(tool.connect, reset=True)
    async with tool:
        yield Wrapper(
            list_tools=shown, call_tool=call, call_with=call_with, reconnect=again, close=tool.close
        )
