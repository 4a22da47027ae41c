"""Agno's `MCPTools`: a toolkit whose functions are one server's tools."""

from functools import partial

from agno.tools.mcp import MCPTools

from pytest_mcp_conformance.adapters._agno import (
    HAS_FORCE,
    HAS_MODES,
    HAS_MULTI,
    params_of,
    together,
    verbs_of,
)
from pytest_mcp_conformance.adapters._agno_agent import run_of
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter


@adapter(
    "agno",
    claims=Claims(  # by the docstring of agno.tools.mcp.MCPTools
        caches_listings=True,  # refresh_connection: only "if True, [...] tools will be refreshed on each run"
        lifetimes=False,  # the same: else they stay
        isolates_principals=True,  # headers: "when establishing the MCP session"
        own_timeout=30.0,  # timeout_seconds: "Read timeout in seconds for the MCP client"
        clock=True,
        eras=("handshake", "modern") if HAS_MODES else ("handshake",),  # protocol_mode: "legacy" and "auto"
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial):
    """A toolkit that is connected and closed by hand, as an agent does."""
    if dial.transport == "stdio" or not HAS_MODES:
        how = {"server_params": params_of(dial)}
        how["transport"] = "stdio" if dial.transport == "stdio" else "streamable-http"
    else:
        how = {"url": dial.url, "headers": dial.headers}
    if HAS_MODES:
        how["protocol_mode"] = "legacy" if dial.era == "handshake" else "auto"
    toolkit = MCPTools(**how, timeout_seconds=30)
    await toolkit.connect()
    yield Wrapper(
        **verbs_of(toolkit),
        refresh=toolkit.build_tools if HAS_FORCE else None,
        reconnect=partial(toolkit.connect, force=True) if HAS_FORCE else None,
        together=together if HAS_MULTI else None,
        run=run_of(toolkit),
    )
    await toolkit.close()
