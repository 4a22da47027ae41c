"""What both adapters of langchain-mcp-adapters share: settings, one call's headers, and LangChain's tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool
from mcp.types import Tool as Named

from pytest_mcp_conformance.adapters._settings import settings_of
from pytest_mcp_conformance.contract import Dial, Tool

__all__ = ["LIMIT", "add_headers", "common_settings", "connection_to", "tool_verbs"]

LIMIT = 30.0
_HEADERS: ContextVar[dict[str, str] | None] = ContextVar("headers of one call", default=None)


@asynccontextmanager
async def common_settings() -> AsyncIterator[dict[str, Any]]:
    """The `session_kwargs` that an application has once, for all of its users."""
    yield {"read_timeout_seconds": timedelta(seconds=LIMIT)}


def connection_to(dial: Dial, session_kwargs: dict[str, Any]) -> Any:
    """The settings of one server."""
    transport = "stdio" if dial.transport == "stdio" else "streamable_http"
    return {"transport": transport, **settings_of(dial), "session_kwargs": session_kwargs}


async def add_headers(request: Any, handler: Any) -> Any:
    """An interceptor that gives a call the headers that it was made with."""
    return await handler(request.override(headers=_HEADERS.get()))


def tool_verbs(load: Callable[[], Awaitable[Any]], session: Any, **how: Any) -> dict[str, Any]:
    """The verbs on LangChain's tools, which `load` gives; `how` makes one of a tool that was never listed."""

    async def list_tools() -> list[Tool]:
        return [Tool(each.name, each.description, each.args_schema, handle=each) for each in await load()]

    async def call_tool(tool: Any, arguments: dict[str, Any], headers: Any = None) -> dict[str, Any]:
        if isinstance(tool, str):
            tool = convert_mcp_tool_to_langchain_tool(
                session, Named.model_validate({"name": tool, "inputSchema": {}}), **how
            )
        _HEADERS.set(headers)
        message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
        structured = (message.artifact or {}).get("structured_content")
        said = {} if structured is None else {"structuredContent": structured}
        return {"content": message.content, "isError": message.status == "error", **said}

    async def bind(name: str) -> Any:
        return next(tool for tool in await load() if tool.name == name)

    return {
        "list_tools": list_tools,
        "call_tool": call_tool,
        "call_with_headers": call_tool,
        "bind": bind,
    }
