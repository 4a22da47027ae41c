"""The address of the server that is recorded over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pytest_mcp_conformance.contract import UsageError

__all__ = ["Upstream", "upstream_of"]

_NEAR = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Upstream:
    """The server that is recorded.

    Attributes:
        origin: Scheme, credentials and host.
        path: Where it speaks MCP.
        query: What its address has after `?`.
        host: The host alone, in which there is no secret.
        site: Scheme and host, as a browser names an origin.
        is_far: False for a server on this machine.
    """

    origin: str
    path: str
    query: str
    host: str
    site: str
    is_far: bool


def upstream_of(url: str) -> Upstream:
    """Read the address of a server.

    Raises:
        UsageError: It is none of HTTP.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError("--url: no address of HTTP; write it as https://example.com/mcp")
    named = f"[{host}]" if ":" in host else host
    shown = f"{named}:{port}" if port else named
    origin, site = f"{parts.scheme}://{parts.netloc}", f"{parts.scheme}://{shown}"
    return Upstream(origin, parts.path or "/", parts.query, shown, site, host not in _NEAR)
