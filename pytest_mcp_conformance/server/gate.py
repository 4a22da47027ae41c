"""Answers built on arrival, held on the wire, and let go in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.history import Event, copied
from pytest_mcp_conformance.server.ledger import Ledger, NotReached

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.connection import Connection

__all__ = ["Gate", "Held"]

Message = dict[str, Any]


class Held:
    """One request whose answer is ready and kept back. Its body was frozen when the request arrived."""

    def __init__(self, connection: Connection, request: Event, answer: Callable[[], None]) -> None:
        self.connection = connection
        self.request = request
        self._answer: Callable[[], None] | None = answer

    @property
    def waiting(self) -> bool:
        """True until it is released, failed or dropped."""
        return self._answer is not None

    def release(self) -> None:
        """Send the answer as it was when the request arrived. A second time is nothing."""
        answer, self._answer = self._answer, None
        if answer is not None:
            answer()

    def fail(self, code: int = -32603, message: str = "scripted failure") -> None:
        """Answer with a JSON-RPC error instead."""
        if self.waiting:
            self._answer = None
            self.connection.fail(self.request, code, message)

    def answer(self, result: Message) -> None:
        """Answer with `result` instead."""
        if self.waiting:
            self._answer = None
            self.connection.answer(self.request, copied(result))

    def drop(self) -> None:
        """Never answer."""
        self._answer = None


class Gate:
    """Holds the answers to one method while it stands in a `with` block; on exit what is left is released."""

    def __init__(
        self, ledger: Ledger, method: str, when: Callable[[Event], bool] | None, leave: Callable[[Gate], None]
    ) -> None:
        self._ledger = ledger
        self.method = method
        self._when = when
        self._leave = leave
        self.held: list[Held] = []
        self._closed = True

    def __enter__(self) -> Gate:
        self._closed = False
        return self

    def __exit__(self, *exc: object) -> None:
        self.open()
        for held in self.held:
            held.release()

    def open(self) -> None:
        """Hold no later request; what is held stays held until it is released."""
        if not self._closed:
            self._closed = True
            self._leave(self)

    def takes(self, request: Event) -> bool:
        """True when the answer to `request` is to be held."""
        return (
            not self._closed and request.method == self.method and (self._when is None or self._when(request))
        )

    async def arrived(self, nth: int = 1, *, deadline: float | None = None) -> Held:
        """Wait for the nth request that is held (from 1).

        Raises:
            NotReached: The deadline passed.
        """
        what = f"request {nth} of {self.method} at the server" if nth > 1 else f"{self.method} at the server"
        await self._ledger.until(lambda: len(self.held) >= nth, what, deadline)
        return self.held[nth - 1]

    def call(self, nonce: str) -> Held:
        """The held call that has this nonce: calls of several threads arrive in any order.

        Raises:
            NotReached: There is none.
        """
        for held in self.held:
            if held.request.arguments.get("nonce") == nonce:
                return held
        raise NotReached(f"not exercised: the call {nonce} did not arrive")

    def release_all(self, order: Iterable[int] | None = None) -> None:
        """Release what is held, in arrival order or in the order of these places (from 1)."""
        for place in order or range(1, len(self.held) + 1):
            self.held[place - 1].release()
