"""Who may come in at an HTTP address on this machine: whoever was sent to it, and no page of another site.

The MCP specification asks this of local servers: without it a page in a browser could reach them, by DNS
rebinding.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HOST", "turned_away"]

HOST = "127.0.0.1"
"""Where everything of the kit listens."""


def turned_away(headers: Mapping[str, str], port: int, who: str) -> tuple[int, str] | None:
    """Why a request is refused that was not meant for this address, or comes from another one.

    Args:
        headers: Of the request, their names in lower case.
        port: The address is this port of `HOST`, which may also be called localhost.
        who: What listens, for people: `server`.

    Returns:
        A status and a text; None for a request that may come in.
    """
    ours = {f"{name}:{port}" for name in (HOST, "localhost")}
    if headers.get("host") not in ours:
        return 421, f"Misdirected Request: {headers.get('host')!r} is not this {who}"
    origin = headers.get("origin")
    if origin is not None and origin not in {f"http://{each}" for each in ours}:
        return 403, f"Forbidden: the origin {origin!r} is not this {who}"
    return None
