"""The MCP servers of openai-agents, with their cache of the list of tools."""

from pytest_mcp_conformance.adapters import sdk_major
from pytest_mcp_conformance.adapters._calls import name_of
from pytest_mcp_conformance.adapters._openai_agents import (
    HAS_HTTP,
    HAS_MANAGER,
    HAS_META,
    LIMIT,
    lister_of,
    server_of,
    together,
)
from pytest_mcp_conformance.adapters._openai_agents_agent import run_of
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter


@adapter(
    "openai-agents",
    claims=Claims(  # the docstrings of `MCPServerStreamableHttp`: the parameters that are named
        caches_listings=True,  # cache_tools_list; a notice of change is not promised to be heard
        lifetimes=False,  # cache_tools_list: "only be fetched from the server once", until it is invalidated
        own_timeout=LIMIT,  # client_session_timeout_seconds
        limits_verbs=False,  # the same: "the MCP ClientSession read timeout"
        call_meta=HAS_META,  # call_tool(meta)
        isolates_principals=True,
        clock=True,
        same_task_close=sdk_major() < 2,  # its manager has a task for that
        eras=("handshake", "modern") if sdk_major() > 1 else ("handshake",),
        transports=("http", "stdio", "loopback", "sse") if HAS_HTTP else ("stdio", "sse"),
    ),
)
async def adapter_(dial):
    """One server object, connected once; each verb is a method of its own."""
    server = server_of(dial, cache_tools_list=True)

    async def call_tool(tool, arguments, *meta_and_progress):
        return await server.call_tool(name_of(tool), arguments, *meta_and_progress[:1])

    def accessors():
        return {"cached_tools": lambda: server.cached_tools or []}

    async with server:
        yield Wrapper(
            list_tools=lister_of(server),
            call_tool=call_tool,
            call_with=call_tool if HAS_META else None,
            invalidate=server.invalidate_tools_cache,
            reconnect=server.connect,
            close=server.cleanup,
            accessors=accessors if hasattr(server, "cached_tools") else None,
            read_resource=getattr(server, "read_resource", None),
            together=together if HAS_MANAGER else None,
            run=run_of(server),
        )
