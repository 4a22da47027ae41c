"""The proxy of fastmcp over the way in of this run, and the fastmcp `Client` of a user in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from importlib.metadata import version
from inspect import signature
from typing import Any

import fastmcp.server
from fastmcp import Client, FastMCP

from pytest_mcp_conformance.adapters._calls import hears_progress, name_of
from pytest_mcp_conformance.adapters._fastmcp import MODERN, hears_text, transport_of
from pytest_mcp_conformance.contract import WAYS, Claims, Dial, Wrapper, adapter

CREATE: Any = getattr(fastmcp.server, "create_proxy", None) or getattr(FastMCP, "as_proxy", None)  # before 3
META = "meta" in signature(Client.call_tool).parameters  # since 2.13


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
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """A proxy that is made of a transport, and served in this process."""
    heard: list[str] = []
    transport, old = transport_of(dial), not MODERN or dial.era == "handshake"
    proxy = CREATE(transport, **({} if old else {"mode": "auto"}))  # else what is spoken in front
    era: Any = {"mode": "legacy"} if MODERN and old else {}
    user: Any = Client(proxy, log_handler=hears_text(heard), **era)

    async def call(tool: Any, arguments: Any, meta: Any = None, on_progress: Any = None) -> Any:
        how = {"progress_handler": hears_progress(on_progress), **({"meta": meta} if META else {})}
        return await user.call_tool(name_of(tool), arguments, **how)

    async with user:
        yield Wrapper(
            list_tools=user.list_tools,
            call_tool=call,
            call_with=call,
            refresh=user.list_tools,
            received=lambda: heard,
            front=partial(proxy.http_app, path="/mcp"),
        )
    await transport.close()  # a StdioTransport keeps its child beyond each session, until this
