"""The proxy of fastmcp as `create_proxy` makes it: a session with the server behind for each request."""

from importlib.metadata import version

import fastmcp.server
from fastmcp import FastMCP

from pytest_mcp_conformance.adapters._fastmcp import MODERN, transport_of
from pytest_mcp_conformance.adapters._fastmcp_proxy import ALOUD, META, user_of
from pytest_mcp_conformance.contract import WAYS, Claims, adapter

CREATE = getattr(fastmcp.server, "create_proxy", None) or getattr(FastMCP, "as_proxy", None)  # before 3


@adapter(
    "fastmcp-proxy",
    version=version("fastmcp"),
    claims=Claims(  # by the docstrings of `create_proxy` and `ProxyClient`
        proxies=True,
        isolates_principals=True,  # "fresh sessions per request"
        call_meta=META,
        progress=True,  # "Supports forwarding [...] logging, progress"
        callbacks=True,
        answers_input=MODERN,  # "a guard tool's `InputRequiredResult` (SEP-2322) round-trips"
        clock=True,
        dials_per_operation=True,
        eras=("handshake", "modern") if MODERN else ("handshake",),
        transports=WAYS,
    ),
)
async def adapter_(dial):
    """Made of a transport; what is spoken behind is what its user speaks, unless it is told otherwise."""
    transport = transport_of(dial)
    told = {"mode": "auto"} if MODERN and dial.era != "handshake" else {}
    async with user_of(CREATE(transport, **told, **ALOUD), dial.era) as wrapper:
        yield wrapper
    await transport.close()  # a StdioTransport keeps its child beyond each session, until this
