"""What a script answers to a request when nothing else is planned for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.server import eras
from pytest_mcp_conformance.server.calls import Answer, result_of
from pytest_mcp_conformance.server.catalogue import Catalogue
from pytest_mcp_conformance.server.connection import Message
from pytest_mcp_conformance.server.tools import ABSENT, tool

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["Refused", "result_for"]


class Refused(Exception):
    """A JSON-RPC error: code, message, data."""


def result_for(
    request: Event, server: ScriptedServer, catalogue: Catalogue, answers: Mapping[str, Answer]
) -> Message:
    """The result of one request, as the script stands now.

    Args:
        request: What is asked.
        server: Its settings.
        catalogue: What it lists.
        answers: What its tools answer, by their names.

    Raises:
        Refused: It is answered with an error.
    """
    method = request.method
    if method == "initialize":
        if server.era == "modern":
            supported = {
                "supported": [eras.MODERN_VERSION],
                "requested": request.params.get("protocolVersion"),
            }
            raise Refused(eras.UNSUPPORTED_VERSION, "Unsupported protocol version", supported)
        return eras.initialized(request.params, server.versions, server.capabilities)
    if method == "ping":
        return {}
    if method == "tools/list":
        return _listing(request, server, catalogue)
    if method == "tools/call":
        return _call(request, server, answers)
    if method == "server/discover" and server.era == "modern":
        return eras.discovery(server.capabilities)
    if method == "logging/setLevel" and server.era == "handshake":
        return {}
    raise Refused(-32601, f"Method not found: {method}", None)


def _listing(request: Event, server: ScriptedServer, catalogue: Catalogue) -> Message:
    cursor = request.params.get("cursor")
    place = ABSENT if cursor is None else cursor
    page = catalogue.page(place, request.principal)
    if page is None:
        raise Refused(-32602, f"Invalid cursor: {cursor!r}", None)
    tools, following = page
    result: Message = {"tools": tools}
    if following is not ABSENT:
        result["nextCursor"] = following
    lifetime = server.ttl_ms(place) if callable(server.ttl_ms) else server.ttl_ms
    return eras.stamped(result, server.era, ttlMs=lifetime, cacheScope=server.cache_scope)


def _call(request: Event, server: ScriptedServer, answers: Mapping[str, Answer]) -> Message:
    name = request.params.get("name")
    entry = server.definition(str(name), request.principal)
    if entry is None and name in answers:
        entry = tool(str(name), "integer")
    if entry is None:
        raise Refused(-32602, f"Unknown tool: {name}", None)
    result = result_of(entry, request.arguments, answers.get(str(name), Answer()))
    return eras.stamped(result, server.era)
