"""JSON text, one frame a line."""

from __future__ import annotations

import json
from typing import Any

from pytest_mcp_conformance.history import frame_of

__all__ = ["frame_of", "line_of"]


def line_of(frame: dict[str, Any]) -> bytes:
    """A frame as a line of ASCII."""
    return json.dumps(frame).encode() + b"\n"
