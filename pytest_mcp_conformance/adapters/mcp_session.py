"""The SDK's `ClientSession`, 1.x or 2.x: what a user gets who wraps nothing around it."""

from datetime import timedelta
from importlib.metadata import version

from mcp import ClientSession

from pytest_mcp_conformance.adapters._calls import hears_progress, name_of, page_params
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
    async with (
        streams_of(dial) as (read, write),
        ClientSession(read, write, read_timeout_seconds=limit_of(LIMIT)) as session,
    ):
        await (session.discover() if dial.era == "modern" else session.initialize())

        async def list_tools():
            return (await session.list_tools()).tools

        async def call_tool(tool, arguments, **how):
            return await session.call_tool(name_of(tool), arguments, **how)

        async def call_with(tool, arguments, meta, on_progress):
            how = {"meta": meta, "progress_callback": hears_progress(on_progress)}
            return await call_tool(tool, arguments, **how)

        async def call_within(tool, arguments, seconds):
            return await call_tool(tool, arguments, read_timeout_seconds=limit_of(seconds))

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


def limit_of(seconds):
    """A limit of time, as this SDK takes it."""
    return seconds if MODERN else timedelta(seconds=seconds)
