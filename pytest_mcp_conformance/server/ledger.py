"""The ledger: every frame that crossed the wire, and waiting for one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import EllipsisType
from typing import Any

import anyio

from pytest_mcp_conformance.clock import VirtualLoop
from pytest_mcp_conformance.contract import ConformanceError
from pytest_mcp_conformance.history import Event, Recorder, telling

__all__ = ["DEADLINE", "Ledger", "NotReached"]

DEADLINE = 600.0
"""Seconds of virtual time for what must happen in a scenario: a wait in vain costs no real time."""

PATIENCE = 5.0
"""Seconds for the same in a loop that lives in real time, as in a suite of the user's own."""


def _deadline() -> float:
    try:
        return DEADLINE if isinstance(asyncio.get_running_loop(), VirtualLoop) else PATIENCE
    except RuntimeError:  # another backend of anyio
        return PATIENCE


class NotReached(ConformanceError):
    """Something that a scenario needs did not happen; what it would have judged is not testable."""


class Ledger:
    """What one server saw and said, read from the history that it writes.

    Args:
        history: The scenario's history, which several servers may share.
        owns: True for the numbers of the server's own connections.
        is_idle: True for those of which the client holds nothing open now.
    """

    def __init__(
        self,
        history: Recorder,
        owns: Callable[[int], bool] = lambda number: True,
        is_idle: Callable[[int], bool] = lambda number: False,
    ) -> None:
        self.history = history
        self._owns = owns
        self._is_idle = is_idle

    def __iter__(self) -> Iterator[Event]:
        return (event for event in self.history if event.kind in _WIRE and self._owns(event.connection))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def mark(self) -> int:
        """A place in the history, for `since=`."""
        return len(self.history)

    def frames(
        self,
        method: str | None = None,
        *,
        kind: str | tuple[str, ...] = ("asked", "told"),
        since: int = 0,
        connection: int | None = None,
        principal: str | EllipsisType | None = ...,
        where: Callable[[Event], bool] | None = None,
    ) -> list[Event]:
        """The frames of `kind` (by default the client's) that match.

        Args:
            method: Only this method.
            kind: One event kind or several.
            since: Only after this mark.
            connection: Only on this connection.
            principal: Only of this principal.
            where: Only where this is true.
        """
        kinds = (kind,) if isinstance(kind, str) else kind
        return [
            event
            for event in self.history.since(since)
            if event.kind in kinds
            and self._owns(event.connection)
            and (method is None or event.method == method)
            and (connection is None or event.connection == connection)
            and (principal is ... or event.principal == principal)
            and (where is None or where(event))
        ]

    def calls(self, nonce: Any = None, *, since: int = 0) -> list[Event]:
        """The `tools/call` frames, of one nonce where it is given."""
        return self.frames(
            "tools/call", since=since, where=lambda e: nonce is None or e.arguments.get("nonce") == nonce
        )

    def listings(self, *, since: int = 0) -> list[Event]:
        """The `tools/list` frames."""
        return self.frames("tools/list", since=since)

    def open_connections(self) -> list[int]:
        """The numbers of the connections of which the client holds something open now."""
        live: list[int] = []
        for event in self:
            if event.kind == "opened":
                live.append(event.connection)
            elif event.kind == "closed" and event.connection in live:
                live.remove(event.connection)
        return [number for number in live if not self._is_idle(number)]

    async def until(self, condition: Callable[[], bool], what: str, deadline: float | None = None) -> None:
        """Wait until `condition` holds; it is tried after every event.

        Args:
            condition: What must become true.
            what: Its name, for the error.
            deadline: Seconds on the loop's clock; by default 600 in virtual time, and 5 in real time.

        Raises:
            NotReached: The deadline passed.
        """
        deadline = _deadline() if deadline is None else deadline
        while not condition():
            changed = anyio.Event()
            unwatch = self.history.watch(changed.set)
            try:
                with anyio.move_on_after(deadline) as scope:
                    await changed.wait()
            finally:
                unwatch()
            if scope.cancelled_caught and not condition():
                raise NotReached(f"{what}: not seen within {deadline:g} s; " + _last(self.history))


_WIRE = frozenset(
    {"opened", "closed", "asked", "told", "replied", "garbled", "answered", "failed", "noticed", "requested"}
)


def _last(history: Recorder) -> str:
    lines = telling(history, most=4)
    return "the wire showed " + (" | ".join(lines) if lines else "nothing at all")
