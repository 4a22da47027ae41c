"""The reference as wrong wrappers see it."""

from __future__ import annotations

from typing import Any

from mcp_conformance_reference import ReferenceClient

__all__ = ["Client"]


class Client(ReferenceClient):
    """A `ReferenceClient` that a wrong wrapper is made from; by itself it breaks nothing."""

    dial: Any
    shared: Any
    heard: list[str]
    open_streams: Any
    white_box: Any = None
    """A `WhiteBox` with a part replaced, where the wrong wrapper is about a part beside the client."""

    def enter(self) -> None:
        """Called once, before anything is dialled."""

    def verbs(self) -> dict[str, Any]:
        """The verbs that it gives beside those of the reference."""
        return {}
