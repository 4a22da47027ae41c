"""The reference implementation: it keeps every rule, and every scenario runs against it first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.metadata import version

from mcp import ClientSession
from mcp_conformance_reference import ReferenceClient

from pytest_mcp_conformance.contract import Claims, Dial, Wrapper, adapter

__all__ = ["CLAIMS", "LIMIT", "adapter_", "wrapper_of"]

LIMIT = 30.0

CLAIMS = Claims(
    caches_listings=True,
    reacts_to_list_changed=0.0,
    single_flight=True,
    redials=True,
    isolates_principals=True,
    own_timeout=LIMIT,
    binds_tools=True,
    refuses_stale_bindings=True,
    callbacks=True,
    clock=True,
    eras=("handshake", "modern") if hasattr(ClientSession, "discover") else ("handshake",),
    transports=("memory",),
)


@adapter("reference", version=version("pytest-mcp-conformance"), claims=CLAIMS)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """One `ReferenceClient` over memory."""
    heard: list[str] = []
    client = ReferenceClient(
        dial.streams,
        era="modern" if dial.era == "modern" else "handshake",
        timeout=LIMIT,
        clock=dial.clock,
        on_log=lambda message: heard.append(str(message.data)),
    )
    async with client:
        yield wrapper_of(client, heard)


def wrapper_of(client: ReferenceClient, heard: list[str]) -> Wrapper:
    """The verbs of a client, with the log messages that it has heard."""
    return Wrapper(
        list_tools=client.list_tools,
        call_tool=client.call_tool,
        refresh=client.refresh,
        invalidate=client.invalidate,
        permissions_changed=client.permissions_changed,
        bind=client.bind,
        reconnect=client.reconnect,
        accessors=client.accessors,
        received=lambda: list(heard),
    )
