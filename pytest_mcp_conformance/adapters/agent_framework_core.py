"""The MCP tools of Microsoft Agent Framework: a connection whose functions an agent is given."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from importlib.metadata import version
from inspect import signature
from typing import Any

from agent_framework import MCPStdioTool, MCPStreamableHTTPTool

from pytest_mcp_conformance.adapters._handed_out import HandedOut
from pytest_mcp_conformance.contract import Claims, Dial, Tool, Wrapper, adapter

LIMIT = 30


@adapter(
    "agent-framework-core",
    version=version("agent-framework-core"),
    claims=Claims(  # by the docstrings of agent_framework.MCPStreamableHTTPTool
        caches_listings=True,  # functions: those that load_tools has made
        reacts_to_list_changed=0.0,  # message_handler: "will trigger a reload of the tools"
        isolates_principals=True,  # static_headers: "included on connection-lifetime requests and tool calls"
        own_timeout=float(LIMIT),  # request_timeout: "The default timeout in seconds for all requests"
        call_meta=True,  # call_tool: _meta
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """A connection of its own, entered as the examples enter it."""
    if dial.transport == "stdio":
        command, *arguments = dial.command
        tool: Any = MCPStdioTool("kit", command, args=arguments, request_timeout=LIMIT)
    else:
        tool = MCPStreamableHTTPTool("kit", dial.url, request_timeout=LIMIT, **_headers(dial))

    async def list_tools() -> Any:
        return HandedOut(tool.functions, _shown)

    async def call_tool(called: Any, sent: Any) -> Any:
        by_name = isinstance(called, str)
        return _told(await (tool.call_tool(called, **sent) if by_name else called.invoke(arguments=sent)))

    async def call_with(called: Any, sent: Any, meta: Any, on_progress: Any) -> Any:
        name = called if isinstance(called, str) else called.name
        return _told(await tool.call_tool(name, **sent, _meta=meta))

    async with tool:
        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            call_with=call_with,
            reconnect=partial(tool.connect, reset=True),
            close=tool.close,
        )


def _headers(dial: Dial) -> dict[str, Any]:
    if "static_headers" in signature(MCPStreamableHTTPTool).parameters:
        return {"static_headers": dial.headers}
    return {"header_provider": lambda told: dial.headers}


def _shown(function: Any) -> Tool:
    return Tool(function.name, function.description, function.parameters(), handle=function)


def _told(parts: Any) -> Any:
    meta = [part.additional_properties.get("_meta") for part in parts]
    return {"content": parts, "_meta": next(iter(meta), None)}
