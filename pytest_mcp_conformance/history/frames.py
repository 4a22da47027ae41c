"""What a JSON-RPC frame is, and which kind of event each direction makes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["frame_of", "is_frame", "kind_from_client", "kind_from_server"]


def frame_of(line: bytes) -> dict[str, Any] | None:
    """The frame that a line holds, or None where it holds no JSON-RPC."""
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return frame if is_frame(frame) else None


def is_frame(value: Any) -> bool:
    """Whether JSON data may be a frame, by its method and its id."""
    if not isinstance(value, dict):
        return False
    return isinstance(value.get("method", ""), str) and isinstance(value.get("id", 0), str | int)


def kind_from_client(frame: Mapping[str, Any]) -> str:
    """The kind of a client's frame: `asked`, `told` or `replied`."""
    if not frame.get("method"):
        return "replied"
    return "asked" if "id" in frame else "told"


def kind_from_server(frame: Mapping[str, Any]) -> str:
    """The kind of a server's frame: `requested`, `noticed`, `failed` or `answered`."""
    if "method" in frame:
        return "requested" if "id" in frame else "noticed"
    return "failed" if "error" in frame else "answered"
