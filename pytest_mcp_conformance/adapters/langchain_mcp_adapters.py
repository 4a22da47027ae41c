"""The `MultiServerMCPClient` of langchain-mcp-adapters by default: a session for each list and call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Any

from langchain_mcp_adapters.client import MultiServerMCPClient

from pytest_mcp_conformance.adapters import _langchain as ours
from pytest_mcp_conformance.contract import Claims, Dial, Wrapper, adapter

CLAIMS = Claims(  # the sections are those of https://docs.langchain.com/oss/python/langchain/mcp
    redials=True,  # "Quickstart": stateless by default, a fresh session for each tool invocation
    isolates_principals=True,  # "Tool interceptors": the credentials of the user of a run
    own_timeout=ours.LIMIT,  # `session_kwargs`
    progress=ours.HAS_HANDLERS,  # "Progress notifications"
    binds_tools=True,
    callbacks=ours.HAS_HANDLERS,  # "Logging"
    clock=True,
    eras=("handshake",),
    transports=("http", "stdio", "loopback"),
    lazy_connect=True,
    dials_per_operation=True,
)


@adapter(
    "langchain-mcp-adapters",
    version=version("langchain-mcp-adapters"),
    claims=CLAIMS,
    shared=ours.common_settings,
)
async def adapter_(dial: Dial, settings: dict[str, Any]) -> AsyncIterator[Wrapper]:
    """A client of one server; its tools are called as LangChain tools."""
    logged: list[str] = []

    async def hears(params: Any, context: Any) -> None:
        logged.append(str(params.data))

    connection = ours.connection_to(dial, settings)
    how: Any = ours.handlers(hears)
    client = MultiServerMCPClient({"server": connection}, **how)

    async def set_principal(renewed: Dial) -> None:
        client.connections["server"]["headers"] = renewed.headers

    yield Wrapper(
        **ours.tool_verbs(client.get_tools, None, connection=connection, **how),
        set_principal=None if dial.transport == "stdio" else set_principal,  # headers are of HTTP
        received=lambda: logged,
        together=ours.together_of(settings),
    )
