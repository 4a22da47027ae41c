"""The servers of openai-agents, and an agent that has those of a manager."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerManager, MCPServerStdio, MCPServerStreamableHttp
from agents.tool_context import ToolContext

from pytest_mcp_conformance.contract import Dial, Tool, Wrapper

__all__ = ["LIMIT", "server_of", "together"]

LIMIT = 30.0


def server_of(dial: Dial, **how: Any) -> Any:
    """One server."""
    how |= {"client_session_timeout_seconds": LIMIT}
    kind: Any = MCPServerStdio if dial.transport == "stdio" else MCPServerStreamableHttp
    return kind(dial.settings(), **how)


@asynccontextmanager
async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
    """A manager, which has a task for each server, and the tools of an agent with its active servers."""
    manager = MCPServerManager([server_of(dial) for dial in dials], connect_in_parallel=True)

    async def list_tools() -> list[Tool]:
        config: Any = {"failure_error_function": None}  # a call that fails raises
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
