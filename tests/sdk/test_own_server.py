"""A result that is lost between the SDK's client and the SDK's own server, with no scripted peer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import types
from mcp.server.lowlevel import Server

from tests.sdk.clock import run
from tests.sdk.users import GONE, SECOND, Outcome, outcome, second_only

TOOL = types.Tool.model_validate({"name": "a", "inputSchema": {"type": "object"}})
TEXT = types.TextContent(type="text", text="done")


@pytest.mark.parametrize("mode", ["legacy", pytest.param("auto", marks=second_only)])
def test_a_server_that_answers_calls_and_no_listings_has_its_results_lost(mode: str) -> None:
    assert run(call, mode, lists=True) == (1, True)
    assert run(call, mode, lists=False) == (1, False), GONE


async def call(mode: str, *, lists: bool) -> tuple[int, bool]:
    """Call a tool that was never listed; gives how often it ran, and whether its result came."""
    ran: list[str] = []
    async with connect_second(mode, ran, lists) if SECOND else connect_first(ran, lists) as client:
        called: Outcome = await outcome(client.call_tool("a", {}))
    if not called.accepted:
        assert "Method not found" in str(called.error)
    return len(ran), called.accepted


@asynccontextmanager
async def connect_first(ran: list[str], lists: bool) -> AsyncIterator[Any]:
    from mcp.shared.memory import create_connected_server_and_client_session

    server: Any = Server("own")

    @server.call_tool(validate_input=False)
    async def _(name: str, arguments: dict[str, Any]) -> Any:
        ran.append(name)
        return [TEXT]

    if lists:

        @server.list_tools()
        async def _() -> Any:
            return [TOOL]

    async with create_connected_server_and_client_session(server) as session:
        yield session


@asynccontextmanager
async def connect_second(mode: str, ran: list[str], lists: bool) -> AsyncIterator[Any]:
    from mcp import Client

    async def on_call(_: Any, params: Any) -> Any:
        ran.append(params.name)
        return types.CallToolResult(content=[TEXT])

    async def on_list(_: Any, __: Any) -> Any:
        return types.ListToolsResult(tools=[TOOL])

    handlers = {"on_call_tool": on_call, **({"on_list_tools": on_list} if lists else {})}
    async with Client(Server("own", **handlers), mode=mode) as client:
        yield client
