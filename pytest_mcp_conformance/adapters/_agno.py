"""The toolkits of Agno: their functions are called as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

from agno.tools import mcp

from pytest_mcp_conformance.adapters._transports import child_of
from pytest_mcp_conformance.contract import Dial, Tool, Wrapper

__all__ = ["HAS_FORCE", "HAS_MODES", "HAS_MULTI", "params_of", "together", "verbs_of"]

HAS_MODES = "protocol_mode" in mcp.MCPTools.__init__.__annotations__  # since 3.0
HAS_FORCE = "force" in signature(mcp.MCPTools.connect).parameters  # since 2.2.2, as build_tools is
HAS_ASYNC = hasattr(mcp.MCPTools, "get_async_functions")
HAS_MULTI = hasattr(mcp, "MultiMCPTools")  # until 3.0
FAILED = ("Error from MCP tool '", "MCP tool '", "Error: ")  # a failed call is told in the text alone


def params_of(dial: Dial) -> Any:
    """The parameters of one server."""
    if dial.transport == "stdio":
        return child_of(dial)
    # the session is ended with DELETE, as it is where a URL alone is given
    return mcp.StreamableHTTPClientParams(url=dial.url, headers=dial.headers, terminate_on_close=True)


def verbs_of(toolkit: Any) -> dict[str, Any]:
    """How a toolkit is listed, called and closed."""

    def functions() -> Any:
        return toolkit.get_async_functions() if HAS_ASYNC else toolkit.functions

    async def list_tools() -> Any:
        shown = functions().values()
        return [Tool(each.name, each.description, each.parameters, handle=each) for each in shown]

    async def call_tool(tool: Any, sent: Any) -> Any:
        function = functions()[tool] if isinstance(tool, str) else tool
        agent = {} if HAS_FORCE else {"agent": None}  # it is asked for, and used for pictures alone
        result = await function.entrypoint(**agent, **sent)
        content = getattr(result, "content", result)  # a text of its own until 2.0
        structured = (getattr(result, "metadata", None) or {}).get("structured_content")
        return {"content": content, "structuredContent": structured, "isError": content.startswith(FAILED)}

    return {"list_tools": list_tools, "call_tool": call_tool, "close": toolkit.close}


@asynccontextmanager
async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
    """One toolkit of several servers, connected and closed by hand."""
    toolkit: Any = vars(mcp)["MultiMCPTools"](
        server_params_list=[params_of(dial) for dial in dials], timeout_seconds=30
    )
    await toolkit.connect()
    yield Wrapper(**verbs_of(toolkit))
    await toolkit.close()
