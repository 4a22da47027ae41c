"""Tasks of the client's own, and work that several tasks wait for while none of them owns it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar, cast

import anyio
import anyio.lowlevel

__all__ = ["Asides", "Moment", "Shared", "spawn"]

T = TypeVar("T")

_running: set[asyncio.Task[None]] = set()  # the loop itself holds its tasks by weak references only


def spawn(body: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
    """Run `body` in a task that belongs to no caller, so that no caller's cancellation reaches it.

    Args:
        body: Runs to its end; must not raise an ordinary exception.
        name: The task's name, for whoever looks at a list of tasks.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        import trio  # type: ignore[import-not-found, unused-ignore]  # only ever reached on its loop

        trio.lowlevel.spawn_system_task(body, name=name)
        return
    task = loop.create_task(body(), name=name)
    _running.add(task)
    task.add_done_callback(_running.discard)


class Moment:
    """Something that happens once: an event that is only made where somebody waits for it.

    Most moments of a call are waited for by nobody, or have passed by then.
    """

    def __init__(self) -> None:
        self._passed = False
        self._event: anyio.Event | None = None

    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._passed

    def set(self) -> None:
        """It happens now."""
        self._passed = True
        if self._event is not None:
            self._event.set()

    async def wait(self) -> None:
        """Wait for it."""
        if self._passed:
            await anyio.lowlevel.checkpoint()
            return
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()


class Shared(Generic[T]):
    """One piece of work in a task of its own; any number of tasks wait for its one outcome.

    A waiter that is cancelled leaves alone. When the last one has left, nobody wants the outcome any
    more and the work is abandoned.

    Attributes:
        finished: Set once the task itself has ended, which may be later than its outcome.
    """

    def __init__(self, work: Callable[[], Awaitable[T]], name: str) -> None:
        self._work = work
        self._name = name
        self._scope = anyio.CancelScope()
        self._settled = Moment()
        self._waiting = 0
        self._value: T | None = None
        self._error: BaseException | None = None
        self.finished = Moment()

    @property
    def settled(self) -> bool:
        """Whether the outcome is known."""
        return self._settled.is_set()

    def start(self) -> None:
        """Start the work."""
        spawn(self._run, self._name)

    async def wait(self) -> T:
        """Wait for the outcome.

        Returns:
            What the work returned.

        Raises:
            BaseException: What the work raised, the same for every waiter.
        """
        self._waiting += 1
        try:
            await self._settled.wait()
        finally:
            self._waiting -= 1
            if not self._waiting and not self.settled:
                self.abandon()
        if self._error is not None:
            raise self._error
        return cast(T, self._value)

    def abandon(self) -> None:
        """Nobody waits any more: stop the work."""
        self.fail(RuntimeError(f"{self._name} was given up: nobody waited for it any more"))

    def fail(self, error: BaseException) -> None:
        """End the work now, with this error for whoever waits. Without effect once it is settled."""
        if not self.settled:
            self._settle(error=error)
            self._scope.cancel()

    def _settle(self, *, value: T | None = None, error: BaseException | None = None) -> None:
        if not self.settled:
            self._value, self._error = value, error
            self._settled.set()

    async def _run(self) -> None:
        try:
            with self._scope:
                if not self.settled:
                    self._settle(value=await self._work())
        except Exception as error:
            self._settle(error=error)
        except BaseException as error:
            # Born below us (a transport that raises a cancellation of its own), or the loop shuts down:
            # whoever waits gets an ordinary error, for it is not the waiter who was cancelled.
            self._settle(error=RuntimeError(f"{self._name} was cut short from outside: {error!r}"))
            raise
        finally:
            self._settle(error=RuntimeError(f"{self._name} ended without an outcome"))
            self.finished.set()


class Asides:
    """What is done beside the verbs: each in a task of its own, until it is done or everything ends."""

    def __init__(self) -> None:
        self._running: set[Shared[None]] = set()

    def start(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        """Do something that nobody waits for; what it raises is nobody's."""

        async def run() -> None:
            try:
                await work()
            finally:
                self._running.discard(aside)

        aside: Shared[None] = Shared(run, name)
        self._running.add(aside)
        aside.start()

    def fail(self, error: BaseException) -> None:
        """End all of it."""
        for aside in list(self._running):
            aside.fail(error)
