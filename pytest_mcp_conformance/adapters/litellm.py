"""litellm's `MCPClient`, with which its proxy calls other servers."""

import os
from functools import partial

from pytest_mcp_conformance.adapters._calls import hears_log, name_of
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # its import asks another host else

from litellm.mcp_client.client import MCPClient
from mcp.types import CallToolRequestParams

LIMIT = 30.0


@adapter(
    "litellm",
    claims=Claims(  # the docstrings of `MCPClient`
        own_timeout=LIMIT,  # timeout
        callbacks=True,  # logging_callback
        isolates_principals=True,
        clock=True,
        eras=("handshake", "modern"),  # protocol_version
        transports=("http", "stdio", "loopback"),
        redials=True,  # run_with_session
        lazy_connect=True,
        dials_per_operation=True,  # run_with_session
    ),
)
async def adapter_(dial):
    """One client, with a session for each verb: there is nothing to close."""
    heard = []
    spoken = "2026-07-28" if dial.era == "modern" else "auto"
    how = {"timeout": LIMIT, "logging_callback": hears_log(heard), "protocol_version": spoken}
    client = MCPClient(**how, **_where(dial))

    async def call_tool(tool, arguments):
        return await client.call_tool(CallToolRequestParams(name=name_of(tool), arguments=arguments))

    list_tools = partial(client.list_tools, raise_on_error=True)  # by default a failed list is an empty one
    yield Wrapper(list_tools=list_tools, call_tool=call_tool, received=lambda: heard)


def _where(dial):
    if dial.transport == "stdio":
        return {"transport_type": "stdio", "stdio_config": dial.settings()}
    return {"server_url": dial.url, "extra_headers": dial.headers}
