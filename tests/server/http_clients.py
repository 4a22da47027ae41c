"""The SDK's own clients at an HTTP address, and the HTTP libraries under them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

MODERN = hasattr(ClientSession, "discover")
LIBRARY = "httpx2" if MODERN else "httpx"
"""The HTTP library that the installed SDK stands on."""

ERAS = ("handshake", "modern") if MODERN else ("handshake",)

every_era = pytest.mark.parametrize("era", ERAS)
every_library = pytest.mark.parametrize(
    "library",
    [
        "httpx",
        pytest.param(
            "httpx2", marks=pytest.mark.skipif(find_spec("httpx2") is None, reason="comes with mcp 2.x")
        ),
    ],
)


@asynccontextmanager
async def session(
    url: str, era: str = "handshake", headers: dict[str, str] | None = None, heard: list[str] | None = None
) -> AsyncIterator[Any]:
    """A session past its handshake; the methods of what it hears go into `heard`."""

    async def on_message(message: Any) -> None:
        if heard is not None:
            heard.append(getattr(getattr(message, "root", message), "method", repr(message)))

    async with (
        import_module(LIBRARY).AsyncClient(headers=headers, timeout=300.0) as client,
        streamable_http_client(url, http_client=client) as streams,
        ClientSession(*streams[:2], message_handler=on_message) as opened,
    ):
        await (opened.discover() if era == "modern" else opened.initialize())
        yield opened


@asynccontextmanager
async def listening(session: Any, era: str) -> AsyncIterator[Any]:
    """Hear of changed tools: the subscription of the modern era; before it a session hears by itself."""
    if era == "handshake":
        yield None
        return
    from mcp.client.subscriptions import listen

    async with listen(session, tools_list_changed=True) as subscription:
        yield subscription


async def names(session: Any) -> list[str]:
    """The names of the tools of one listing."""
    return [tool.name for tool in (await session.list_tools()).tools]
