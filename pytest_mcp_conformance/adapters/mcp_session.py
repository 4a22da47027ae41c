"""The SDK's `ClientSession`, 1.x or 2.x: what a user gets who wraps nothing around it."""

from datetime import timedelta
from importlib.metadata import version

from mcp import ClientSession

from pytest_mcp_conformance.adapters._calls import hears_progress, name_of
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS, Claims, Wrapper, adapter

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
async def adapter_(dial):
    """A session over memory; each verb is the session's own method."""
    limit = LIMIT if MODERN else timedelta(seconds=LIMIT)
    async with (
        streams_of(dial) as (read, write),
        ClientSession(read, write, read_timeout_seconds=limit) as session,
    ):
        await (session.discover() if dial.era == "modern" else session.initialize())

        async def list_tools():
            return (await session.list_tools()).tools

        async def call_within(tool, arguments, seconds, **how):
            how["read_timeout_seconds"] = seconds if MODERN else timedelta(seconds=seconds)
            return await session.call_tool(name_of(tool), arguments, **how)

        async def call_tool(tool, arguments, **how):
            return await call_within(tool, arguments, LIMIT, **how)

        async def call_with(tool, arguments, meta, on_progress):
            how = {"meta": meta, "progress_callback": hears_progress(on_progress)}
            return await call_tool(tool, arguments, **how)

        async def list_page(cursor):
            page = await session.list_tools(params=page_params(cursor))
            return page.tools, getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)

        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            call_with=call_with,
            call_within=call_within,
            refresh=list_tools,
            list_page=list_page,
        )


def page_params(cursor):
    """The SDK's page parameters."""
    from mcp.types import PaginatedRequestParams  # the name of the module differs by what is installed

    return None if cursor is None else PaginatedRequestParams(cursor=cursor)
