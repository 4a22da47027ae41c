"""pydantic-ai's `MCPToolset`, which stands on fastmcp, with its cache of tools; in 1.x its `MCPServer`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Any

from pydantic_ai import mcp

from pytest_mcp_conformance.adapters import sdk_major
from pytest_mcp_conformance.adapters._calls import hears_log, name_of
from pytest_mcp_conformance.contract import WAYS, Claims, Dial, Wrapper, adapter

LIMIT = 30.0
NEW = hasattr(mcp, "MCPToolset")
CACHES = NEW or "cache_tools" in mcp.MCPServer.__annotations__  # since 1.27
CLAIMS = Claims(  # the docstrings of `MCPToolset` or `MCPServer`: the parameters that are named
    caches_listings=CACHES,  # cache_tools
    reacts_to_list_changed=0.0 if CACHES else None,  # cache_tools
    own_timeout=LIMIT,  # read_timeout, init_timeout or timeout
    call_meta=True,  # direct_call_tool(metadata)
    callbacks=True,  # log_handler
    isolates_principals=True,
    clock=True,
    http_client=True,
    checks_output="refuses" if NEW else "none",
    eras=("handshake", "modern") if sdk_major() > 1 else ("handshake",),
    transports=WAYS if NEW else ("http", "stdio", "loopback"),
)


@adapter("pydantic-ai", version=version("pydantic-ai-slim"), claims=CLAIMS)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """One toolset, entered once; to close it is to leave it."""
    heard: list[str] = []
    toolset = _toolset(dial, {"read_timeout": LIMIT, "log_handler": hears_log(heard)})

    async def call_with(tool: Any, arguments: Any, meta: Any = None, on_progress: Any = None) -> Any:
        return await toolset.direct_call_tool(name_of(tool), arguments, metadata=meta)

    async with AsyncExitStack() as entered:
        await entered.enter_async_context(toolset)
        more: Any = {"call_with": call_with, "close": entered.aclose, "read_resource": toolset.read_resource}
        yield Wrapper(list_tools=toolset.list_tools, call_tool=call_with, received=lambda: heard, **more)


def _toolset(dial: Dial, how: dict[str, Any]) -> Any:
    if dial.http_client is not None:
        over_http = mcp.MCPToolset if NEW else mcp.MCPServerStreamableHTTP
        return over_http(dial.url, http_client=dial.http_client, **how)
    if not NEW:
        kind = mcp.MCPServerStdio if dial.transport == "stdio" else mcp.MCPServerStreamableHTTP
        return kind(**dial.settings(), timeout=LIMIT, **how)
    from pytest_mcp_conformance.adapters._fastmcp import transport_of

    return mcp.MCPToolset(transport_of(dial, keep_alive=False), init_timeout=LIMIT, **how)
