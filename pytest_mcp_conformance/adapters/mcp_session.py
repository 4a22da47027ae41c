"""The SDK's `ClientSession`, 1.x or 2.x: what a user gets who wraps nothing around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from mcp import ClientSession

from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS, Claims, Dial, Wrapper, adapter

MODERN = hasattr(ClientSession, "discover")
LIMIT = 30.0


@adapter(
    "mcp-session",
    version=version("mcp"),
    claims=Claims(
        follows_pages=False,
        isolates_principals=True,
        own_timeout=LIMIT,
        call_meta=True,
        progress=True,
        clock=True,
        one_shot=True,
        same_task_close=True,
        eras=("handshake", "modern") if MODERN else ("handshake",),
        transports=WAYS,
    ),
)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """A session over memory; each verb is the session's own method."""
    limit: Any = LIMIT if MODERN else timedelta(seconds=LIMIT)
    async with (
        streams_of(dial) as (read, write),
        ClientSession(read, write, read_timeout_seconds=limit) as session,
    ):
        await (session.discover() if dial.era == "modern" else session.initialize())

        async def list_tools() -> Any:
            return (await session.list_tools()).tools

        async def call_tool(tool: Any, arguments: dict[str, Any]) -> Any:
            name = tool if isinstance(tool, str) else tool.name
            return await session.call_tool(name, arguments, read_timeout_seconds=limit)

        async def call_with(tool: Any, arguments: dict[str, Any], meta: Any, on_progress: Any) -> Any:
            async def hears(progress: float, total: float | None, message: str | None) -> None:
                on_progress(progress)

            return await session.call_tool(
                tool if isinstance(tool, str) else tool.name,
                arguments,
                read_timeout_seconds=limit,
                progress_callback=None if on_progress is None else hears,
                meta=meta,
            )

        async def list_page(cursor: str | None) -> Any:
            page = await session.list_tools(params=page_params(cursor))
            return page.tools, getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)

        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            call_with=call_with,
            refresh=list_tools,
            list_page=list_page,
        )


def page_params(cursor: str | None) -> Any:
    """The SDK's page parameters."""
    from mcp.types import PaginatedRequestParams  # the name of the module differs by what is installed

    return None if cursor is None else PaginatedRequestParams(cursor=cursor)
