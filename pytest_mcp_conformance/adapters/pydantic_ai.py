"""pydantic-ai's `MCPToolset`, which stands on fastmcp, with its cache of tools; before 2.0 its servers."""

from contextlib import AsyncExitStack
from importlib.metadata import version

from pytest_mcp_conformance.adapters import _pydantic_ai as ours
from pytest_mcp_conformance.adapters import sdk_major
from pytest_mcp_conformance.adapters._calls import hears_log, name_of
from pytest_mcp_conformance.adapters._pydantic_ai_agent import run_of
from pytest_mcp_conformance.contract import WAYS, Claims, Wrapper, adapter

CLAIMS = Claims(  # the docstrings of `MCPToolset` or `MCPServer`: the parameters that are named
    caches_listings=ours.CACHES,  # cache_tools
    lifetimes=not ours.CACHES,  # cache_tools: "fetched once and cached until" a notice or the last exit
    reacts_to_list_changed=0.0 if ours.CACHES else None,  # cache_tools
    own_timeout=ours.LIMIT if ours.LIMITED else None,  # read_timeout, init_timeout or timeout
    limits_verbs=False,  # read_timeout: "to wait for new messages"
    call_meta=True,  # direct_call_tool(metadata)
    callbacks=ours.LOGS,  # log_handler
    isolates_principals=True,
    clock=True,
    http_client=True,
    checks_output="refuses" if ours.NOW else "none",
    eras=("handshake", "modern") if sdk_major() > 1 else ("handshake",),
    transports=WAYS if ours.NOW else ("http", "stdio", "loopback"),
)
BEFORE = Claims(eras=("handshake",), transports=("stdio",), same_task_close=True)  # 0.2


@adapter("pydantic-ai", version=version("pydantic-ai-slim"), claims=CLAIMS if ours.OVER_HTTP else BEFORE)
async def adapter_(dial):
    """One toolset, entered once; to close it is to leave it."""
    heard = []
    toolset = ours.toolset_of(dial, **({"log_handler": hears_log(heard)} if ours.LOGS else {}))

    async def call_with(tool, arguments, meta=None, on_progress=None):
        call = toolset.direct_call_tool if ours.DIRECT else toolset.call_tool
        return await call(name_of(tool), arguments, **({"metadata": meta} if ours.OVER_HTTP else {}))

    async with AsyncExitStack() as entered:
        await entered.enter_async_context(toolset)
        yield Wrapper(
            list_tools=toolset.list_tools,
            call_tool=call_with,
            call_with=call_with if ours.OVER_HTTP else None,
            close=entered.aclose,
            read_resource=getattr(toolset, "read_resource", None),
            received=lambda: heard,
            together=ours.together,
            run=run_of(toolset) if ours.TOOLSETS else None,
        )
