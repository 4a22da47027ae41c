"""The fastmcp `Client` of a user in front of a proxy of fastmcp, which is served in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from inspect import signature
from typing import Any

import fastmcp.server
from fastmcp import Client

from pytest_mcp_conformance.adapters._calls import hears_progress, name_of
from pytest_mcp_conformance.adapters._fastmcp import MODERN, RAW, TAKES
from pytest_mcp_conformance.contract import Wrapper

__all__ = ["ALOUD", "META", "MODULE", "user_of"]

_PLACE = "providers.proxy" if hasattr(fastmcp.server, "create_proxy") else "proxy"  # since 3.0
MODULE = import_module(f"fastmcp.server.{_PLACE}")
"""Where this release has its proxies."""

_STRATEGY = "provider_error_strategy"
ALOUD = {_STRATEGY: "raise"} if _STRATEGY in signature(MODULE.FastMCPProxy.__init__).parameters else {}
"""What has a proxy "surface upstream failures": without it they are logged, and nothing is listed."""

META = "meta" in TAKES
"""Whether a user can give a call its `_meta`: since 2.13."""


@asynccontextmanager
async def user_of(proxy: Any, era: str, **verbs: Any) -> AsyncIterator[Wrapper]:
    """A user who comes in at the front.

    Args:
        proxy: The server that a proxy is.
        era: What is spoken behind; the user speaks the same.
        verbs: Further verbs.
    """
    heard: list[str] = []

    async def hears(message: Any) -> None:  # a server of fastmcp has the text under a key, since 2.11
        heard.append(message.data["msg"] if isinstance(message.data, dict) else str(message.data))

    told: Any = {"mode": "legacy"} if MODERN and era == "handshake" else {}
    user: Any = Client(proxy, log_handler=hears, **told)

    async def call(tool: Any, arguments: Any, meta: Any = None, on_progress: Any = None) -> Any:
        how = {"progress_handler": hears_progress(on_progress), **RAW, **({"meta": meta} if META else {})}
        return await user.call_tool(name_of(tool), arguments, **how)

    async with user:
        yield Wrapper(
            list_tools=user.list_tools,
            call_tool=call,
            call_with=call,
            refresh=user.list_tools,
            received=lambda: heard,
            front=partial(proxy.http_app, path="/mcp"),
            **verbs,
        )
