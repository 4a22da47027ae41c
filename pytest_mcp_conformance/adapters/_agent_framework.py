"""What differs by the release of Microsoft Agent Framework, whose betas are served too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from inspect import signature
from typing import Any

from agent_framework import MCPStdioTool, MCPStreamableHTTPTool

from pytest_mcp_conformance.contract import Dial

__all__ = ["RECONNECTS", "TAKES_META", "arguments_for", "tool_at"]

RECONNECTS = "reset" in signature(MCPStdioTool.connect).parameters
"""Since 1.0.0b260114."""

TAKES_META = "_meta" in (MCPStdioTool.call_tool.__doc__ or "")
"""Since 1.10; before, it would be one more argument of the tool."""

_ALIKE: dict[str, Any] = {"request_timeout": 30, "load_prompts": False}  # old ones ask for them unoffered
_TAKEN = signature(MCPStreamableHTTPTool).parameters


@asynccontextmanager
async def tool_at(dial: Dial) -> AsyncIterator[Any]:
    """A tool that has not connected yet, with the principal's headers over HTTP."""
    tool: Any = MCPStreamableHTTPTool
    if dial.transport == "stdio":
        yield MCPStdioTool("kit", **dial.settings(), **_ALIKE)
    elif "static_headers" in _TAKEN:
        yield tool("kit", dial.url, static_headers=dial.headers, **_ALIKE)
    elif "header_provider" in _TAKEN:
        yield tool("kit", dial.url, header_provider=lambda _: dial.headers, **_ALIKE)
    elif "headers" in _TAKEN:
        yield tool("kit", dial.url, headers=dial.headers, **_ALIKE)
    else:  # a client of the user's alone
        from mcp.shared._httpx_utils import create_mcp_http_client

        async with create_mcp_http_client(headers=dial.headers) as client:
            yield tool("kit", dial.url, http_client=client, **_ALIKE)


def arguments_for(function: Any, sent: dict[str, Any]) -> Any:
    """What `invoke` takes: the betas' functions have a model for it."""
    model = getattr(function, "input_model", None)
    return sent if model is None else model.model_validate(sent)
