"""Agno's `MCPTools`: a toolkit whose functions are one server's tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from importlib.metadata import version
from typing import Any

from agno.tools.mcp import MCPTools

from pytest_mcp_conformance.adapters._transports import child_of
from pytest_mcp_conformance.contract import Claims, Dial, Tool, Wrapper, adapter

FAILED = ("Error from MCP tool '", "MCP tool '", "Error: ")  # a failed call is told in the text alone


@adapter(
    "agno",
    version=version("agno"),
    claims=Claims(  # by the docstring of agno.tools.mcp.MCPTools
        caches_listings=True,  # refresh_connection: only "if True, [...] tools will be refreshed on each run"
        isolates_principals=True,  # headers: "when establishing the MCP session"
        own_timeout=30.0,  # timeout_seconds: "Read timeout in seconds for the MCP client"
        clock=True,
        eras=("handshake", "modern"),  # protocol_mode: "legacy" and "auto"
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """A toolkit that is connected and closed by hand, as an agent does."""
    if dial.transport == "stdio":
        way: Any = {"server_params": child_of(dial), "transport": "stdio"}
    else:
        way = {"url": dial.url, "headers": dial.headers}
    mode: Any = "legacy" if dial.era == "handshake" else "auto"
    toolkit = MCPTools(**way, timeout_seconds=30, protocol_mode=mode)

    async def list_tools() -> Any:
        shown = toolkit.get_async_functions().values()
        return [Tool(each.name, each.description, each.parameters, handle=each) for each in shown]

    async def call_tool(tool: Any, sent: Any) -> Any:
        function = toolkit.get_async_functions()[tool] if isinstance(tool, str) else tool
        result = await function.entrypoint(**sent)
        structured = (result.metadata or {}).get("structured_content")
        failed = result.content.startswith(FAILED)
        return {"content": result.content, "structuredContent": structured, "isError": failed}

    await toolkit.connect()
    yield Wrapper(
        list_tools=list_tools,
        call_tool=call_tool,
        refresh=toolkit.build_tools,
        reconnect=partial(toolkit.connect, force=True),
        close=toolkit.close,
    )
    await toolkit.close()
