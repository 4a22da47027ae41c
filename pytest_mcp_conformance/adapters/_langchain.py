"""What both adapters of langchain-mcp-adapters share: settings, one call's headers, and LangChain's tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import timedelta
from inspect import isawaitable, signature
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from mcp.types import Tool as Named

from pytest_mcp_conformance.contract import Dial, Tool, Wrapper

__all__ = [
    "HAS_HANDLERS",
    "LIMIT",
    "common_settings",
    "connection_to",
    "handlers",
    "together_of",
    "tool_verbs",
]

LIMIT = 30.0
HAS_HANDLERS = "tool_interceptors" in signature(MultiServerMCPClient).parameters
_HEADERS: ContextVar[dict[str, str] | None] = ContextVar("headers of one call", default=None)


@asynccontextmanager
async def common_settings() -> AsyncIterator[dict[str, Any]]:
    """The `session_kwargs` that an application has once, for all of its users."""
    yield {"read_timeout_seconds": timedelta(seconds=LIMIT)}


def connection_to(dial: Dial, session_kwargs: dict[str, Any]) -> Any:
    """The settings of one server."""
    transport = dial.transport if dial.transport in ("stdio", "sse") else "streamable_http"
    return dial.settings(transport=transport, session_kwargs=session_kwargs)


def handlers(hears: Any) -> dict[str, Any]:
    """A handler for log messages and an interceptor for headers, where the release takes them."""
    if not HAS_HANDLERS:
        return {}
    from langchain_mcp_adapters.callbacks import Callbacks

    return {"callbacks": Callbacks(on_logging_message=hears), "tool_interceptors": [_add_headers]}


async def _add_headers(request: Any, handler: Any) -> Any:
    """An interceptor that gives a call the headers that it was made with."""
    return await handler(request.override(headers=_HEADERS.get()))


def tool_verbs(load: Callable[[], Any], session: Any, **how: Any) -> dict[str, Any]:
    """The verbs on LangChain's tools, which `load` gives; `how` makes one of a tool that was never listed."""

    async def loaded() -> Any:
        tools = load()
        return await tools if isawaitable(tools) else tools  # a plain function before 0.1

    async def list_tools() -> list[Tool]:
        return [Tool(each.name, each.description, each.args_schema, handle=each) for each in await loaded()]

    async def call_tool(tool: Any, arguments: dict[str, Any], headers: Any = None) -> dict[str, Any]:
        if isinstance(tool, str):
            tool = convert_mcp_tool_to_langchain_tool(
                session, Named.model_validate({"name": tool, "inputSchema": {}}), **how
            )
        _HEADERS.set(headers)
        message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
        artifact = message.artifact if isinstance(message.artifact, dict) else {}
        said = {"content": message.content, "isError": message.status == "error"}
        if "structured_content" in artifact:
            said["structuredContent"] = artifact["structured_content"]
        return said

    async def bind(name: str) -> Any:
        return next(tool for tool in await loaded() if tool.name == name)

    return {
        "list_tools": list_tools,
        "call_tool": call_tool,
        "call_with_headers": call_tool if HAS_HANDLERS else None,
        "bind": bind,
    }


def together_of(session_kwargs: dict[str, Any]) -> Any:
    """The verb `together`: one client of several servers."""

    @asynccontextmanager
    async def together(dials: Sequence[Dial]) -> AsyncIterator[Wrapper]:
        connections = {f"server{n}": connection_to(dial, session_kwargs) for n, dial in enumerate(dials)}
        yield Wrapper(**tool_verbs(MultiServerMCPClient(connections).get_tools, None))

    return together
