"""The toolsets of pydantic-ai, and an agent that has several, with a model that says what it is told to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

from pydantic_ai import Agent, mcp
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from pytest_mcp_conformance.contract import Dial, Outcome, Tool, Wrapper

__all__ = [
    "CACHES",
    "DIRECT",
    "LIMIT",
    "LIMITED",
    "LOGS",
    "NOW",
    "OVER_HTTP",
    "TOOLSETS",
    "together",
    "toolset_of",
]

LIMIT = 30.0
NOW = hasattr(mcp, "MCPToolset")  # since 1.97
TOOLSETS = "toolsets" in signature(Agent.__init__).parameters
OVER_HTTP = NOW or hasattr(mcp, "MCPServerStreamableHTTP")  # since 0.2.20; asked of 2.0 it raises
DIRECT = NOW or hasattr(mcp.MCPServer, "direct_call_tool")  # since 0.4.4
_FIELDS = () if NOW else getattr(mcp.MCPServer, "__annotations__", {})
CACHES = NOW or "cache_tools" in _FIELDS  # since 1.27
LOGS = NOW or "log_handler" in _FIELDS  # since 0.3.2
LIMITED = NOW or "read_timeout" in _FIELDS  # since 0.4.7, for every request
PREFIX = "tool_prefix" in _FIELDS  # from 0.2.7 until 2.0


def toolset_of(dial: Dial, **how: Any) -> Any:
    """The toolset of one server, in a release before 2.0 its server."""
    names: Any = mcp
    how = {**({"read_timeout": LIMIT} if LIMITED else {}), **how}
    if dial.http_client is not None:
        over_http = names.MCPToolset if NOW else names.MCPServerStreamableHTTP
        return over_http(dial.url, http_client=dial.http_client, **how)
    if NOW:
        from pytest_mcp_conformance.adapters._fastmcp import transport_of

        return names.MCPToolset(transport_of(dial, keep_alive=False), init_timeout=LIMIT, **how)
    kind = names.MCPServerStdio if dial.transport == "stdio" else names.MCPServerStreamableHTTP
    return kind(**dial.settings(), **({"timeout": LIMIT, **how} if OVER_HTTP else {}))


def one_of_several(dial: Dial, number: int) -> Any:
    """The toolset of one server of several, with a prefix to its names where the release has that."""
    prefix = f"server{number}"
    if NOW:
        return toolset_of(dial).prefixed(prefix)
    return toolset_of(dial, **({"tool_prefix": prefix} if PREFIX else {}))


@asynccontextmanager
async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
    """The verb: one agent that has them all."""
    said: list[Any] = [None]  # what the model is to say
    seen: list[Any] = []  # what it was shown

    def model(messages: list[Any], info: Any) -> ModelResponse:
        seen[:] = [info.function_tools, messages[-1].parts]
        part, said[0] = said[0], None
        return ModelResponse(parts=[part or TextPart("done")])

    toolsets = [one_of_several(dial, number) for number, dial in enumerate(dials)]
    how: Any = {"toolsets" if TOOLSETS else "mcp_servers": toolsets}
    agent: Any = Agent(FunctionModel(model), **how)

    async def list_tools() -> list[Tool]:
        await agent.run("list")
        return [Tool(each.name, each.description, each.parameters_json_schema) for each in seen[0]]

    async def call_tool(tool: str, arguments: dict[str, Any]) -> Any:
        said[0] = ToolCallPart(tool, arguments, "1")
        await agent.run("call")
        part = next(each for each in seen[1] if hasattr(each, "tool_call_id"))
        refused = part.part_kind == "retry-prompt"
        return Outcome(kind="tool_error", text=part.model_response()) if refused else part.content

    async with agent if TOOLSETS else agent.run_mcp_servers():
        yield Wrapper(list_tools=list_tools, call_tool=call_tool)
