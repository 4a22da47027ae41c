"""One request on the wire: a task of its own, the id it got, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from mcp_conformance_reference.sdk import Frame, SdkSession
from mcp_conformance_reference.tasks import Moment, Shared

__all__ = ["Request"]

_current: ContextVar[Request | None] = ContextVar("mcp_conformance_reference_request", default=None)


class Request(Shared[dict[str, Any]]):
    """One JSON-RPC request, sent in a task of its own.

    So a caller that is cancelled never tears a half-written message, and a cancellation that is born in a
    transport ends this task and not the caller's.

    Args:
        session: The SDK session to send on.
        method: The method.
        params: The params.
        on_given_up: Called when the request was given up while the server still works on it.
        on_finished: Called when the task has ended.

    Attributes:
        id: The id that the SDK gave it, None before it leaves.
        answered: Whether its answer has been heard.
        gone: Set once it has left, or never will.
    """

    def __init__(
        self,
        session: SdkSession,
        method: str,
        params: dict[str, Any],
        on_given_up: Callable[[Request], None],
        on_finished: Callable[[Request], None],
    ) -> None:
        super().__init__(partial(session.ask, method, params), f"mcp {method}")
        self.method = method
        self.id: str | int | None = None
        self.answered = False
        self.gone = Moment()
        self._writing = False
        self._given_up = False
        self._on_given_up = on_given_up
        self._on_finished = on_finished

    @staticmethod
    def current() -> Request | None:
        """The request that the running task sends, if it sends one."""
        return _current.get()

    @staticmethod
    def forget() -> None:
        """Let the running task send no request: it was started from one that did."""
        _current.set(None)

    def leaving(self, request_id: str | int) -> None:
        """The SDK is about to write it."""
        self.id = request_id
        self._writing = True

    def departed(self) -> None:
        """It is written."""
        self._writing = False
        self.gone.set()
        if self._given_up:
            self.abandon()

    def answer_heard(self, frame: Frame) -> None:
        """Its answer, or what ends it without one, was read."""
        self.answered = True

    @property
    def open(self) -> bool:
        """Whether the server has it and has not answered it."""
        return self.gone.is_set() and self.id is not None and not self.answered

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        self._given_up = True
        if self._writing or self.settled:
            return  # a write is not torn in two: `departed` comes back here
        was_open = self.open
        super().abandon()
        if was_open:
            self._on_given_up(self)

    async def _run(self) -> None:
        _current.set(self)
        try:
            await super()._run()
        finally:
            self.gone.set()
            self._on_finished(self)
