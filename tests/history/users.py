"""One user in a schedule."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._verbs import Pending
from tests.history.truth import Truth

__all__ = ["User"]


class User:
    """One holder in a schedule, and what is known of it."""

    def __init__(self, holder: Holder, principal: str | None) -> None:
        self.holder = holder
        self.principal = principal
        self.truth = Truth()
        self.under_way: list[Pending[Any]] = []
