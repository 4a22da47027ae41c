"""JSON text, one frame a line, and what a client may write instead."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["frame_of", "line_of"]


def line_of(frame: dict[str, Any]) -> bytes:
    """A frame as a line of ASCII."""
    return json.dumps(frame).encode() + b"\n"


def frame_of(line: bytes) -> dict[str, Any] | None:
    """The frame that a line holds, or None where it holds no JSON-RPC."""
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(frame, dict):
        return None
    method, number = frame.get("method", ""), frame.get("id", 0)
    return frame if isinstance(method, str) and isinstance(number, str | int) else None
