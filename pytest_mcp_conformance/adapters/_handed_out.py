"""A list of tools that a wrapper handed out, read for the kit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_mcp_conformance.contract import Tool

__all__ = ["HandedOut"]


class HandedOut(list[Tool]):
    """What the kit reads in place of a wrapper's own list: who empties it empties that one.

    Args:
        own: The wrapper's list.
        read: Reads one of its tools.
    """

    def __init__(self, own: Any, read: Callable[[Any], Tool]) -> None:
        super().__init__(map(read, own))
        self._own = own

    def clear(self) -> None:
        """Empty both."""
        super().clear()
        self._own.clear()
