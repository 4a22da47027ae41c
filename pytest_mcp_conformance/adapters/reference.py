"""The reference implementation: it keeps every rule, and every scenario runs against it first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from mcp import ClientSession
from mcp_conformance_reference import ReferenceClient
from mcp_conformance_reference.overhttp import Credentials, http_streams, sse_streams

from pytest_mcp_conformance.adapters._reference import LIMIT, Login, wrapper_of
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS, Claims, Dial, Wrapper, adapter

CLAIMS = Claims(
    caches_listings=True,
    reacts_to_list_changed=0.0,
    snapshot_lists=True,
    single_flight=True,
    redials=True,
    isolates_principals=True,
    own_timeout=LIMIT,
    binds_tools=True,
    refuses_stale_bindings=True,
    call_meta=True,
    progress=True,
    callbacks=True,
    clock=True,
    eras=("handshake", "modern") if hasattr(ClientSession, "discover") else ("handshake",),
    transports=WAYS,
)


@adapter("reference", version=version("pytest-mcp-conformance"), claims=CLAIMS)
async def adapter_(dial: Dial) -> AsyncIterator[Wrapper]:
    """One `ReferenceClient`, over the SDK's own transports."""
    heard: list[str] = []
    era: Any = dial.era
    credentials = Credentials(dial.headers)
    client = ReferenceClient(
        lambda: streams_of(
            dial,
            lambda url, headers: http_streams(url, credentials),
            lambda url, headers: sse_streams(url, credentials),
        ),
        era=era,
        timeout=LIMIT,
        clock=dial.clock,
        on_log=lambda message: heard.append(str(message.data)),
    )
    async with client:
        verbs = wrapper_of(client, heard)
        yield replace(verbs, set_principal=Login(client, dial.principal, credentials).set_principal)
