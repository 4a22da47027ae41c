"""The servers of openai-agents, and an agent that has those of a manager."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from inspect import Parameter, signature
from typing import Any

from agents import Agent, RunContextWrapper, mcp

from pytest_mcp_conformance.contract import Dial, Tool, Wrapper

__all__ = ["HAS_HTTP", "HAS_MANAGER", "HAS_META", "LIMIT", "lister_of", "server_of", "together"]

HAS_HTTP = hasattr(mcp, "MCPServerStreamableHttp")  # since 0.0.15
HAS_MANAGER = hasattr(mcp, "MCPServerManager")  # since 0.8
HAS_META = "meta" in signature(mcp.MCPServer.call_tool).parameters  # since 0.8
_TAKES = signature(mcp.MCPServerStdio).parameters
LIMIT = 30.0 if "client_session_timeout_seconds" in _TAKES else None  # since 0.0.13
_LIMITS = {"client_session_timeout_seconds": LIMIT, "max_list_pages": 1000}  # there is none without them
_KINDS = {"stdio": "MCPServerStdio", "sse": "MCPServerSse"}


def server_of(dial: Dial, **how: Any) -> Any:
    """One server."""
    how |= {name: limit for name, limit in _LIMITS.items() if name in _TAKES}
    kind = _KINDS.get(dial.transport, "MCPServerStreamableHttp")
    return getattr(mcp, kind)(dial.settings(), **how)


def lister_of(server: Any) -> Callable[[], Any]:
    """How a server is listed: 0.1.0 alone must be told for whom."""
    asked = signature(server.list_tools).parameters.values()
    if any(each.default is Parameter.empty for each in asked):
        return partial(server.list_tools, RunContextWrapper(None), Agent("agent"))
    list_tools: Callable[[], Any] = server.list_tools
    return list_tools


@asynccontextmanager
async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
    """A manager, which has a task for each server, and the tools of an agent with its active servers."""
    from agents.tool_context import ToolContext  # since 0.1

    servers = [server_of(dial, name=f"server{number}") for number, dial in enumerate(dials)]
    manager = vars(mcp)["MCPServerManager"](servers, connect_in_parallel=True)

    async def list_tools() -> list[Tool]:
        # a call that fails raises; tools of one name are told apart, since 0.16
        config: Any = {"failure_error_function": None, "include_server_in_tool_names": True}
        agent: Any = Agent("agent", mcp_servers=manager.active_servers, mcp_config=config)
        shown = await agent.get_mcp_tools(RunContextWrapper(None))
        return [Tool(each.name, each.description, each.params_json_schema, handle=each) for each in shown]

    async def call_tool(tool: Any, arguments: dict[str, Any]) -> Any:
        sent = json.dumps(arguments)
        context = ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=sent)
        return await tool.on_invoke_tool(context, sent)

    async with manager:
        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            reconnect=partial(manager.reconnect, failed_only=False),
            close=manager.cleanup_all,
            connected_servers=lambda: manager.active_servers,
        )
