"""A loop whose time jumps to the next timer whenever nothing else can happen, and a look at what is quiet."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    loop: Loop

    def select(self, timeout: float | None = None) -> Any:
        events = super().select(0)
        if not events and timeout is None:
            raise RuntimeError("stuck: nothing can happen any more")
        if not events and timeout:
            self.loop.now += timeout
        return events


class Loop(asyncio.SelectorEventLoop):
    """An event loop in virtual time."""

    def __init__(self) -> None:
        self.now = 0.0
        selector = _Selector()
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return self.now


def play(script: Callable[[], Awaitable[T]]) -> T:
    """Run one test in virtual time; a task that is left over fails it."""
    loop = Loop()

    async def main() -> T:
        result = await script()
        await settle()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left, f"tasks left over: {left}"
        return result

    try:
        return loop.run_until_complete(main())
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def settle() -> None:
    """Come back when every task waits for something that only a timer or this test can bring."""
    loop = asyncio.get_running_loop()
    quiet = 0
    while quiet < 3:
        await asyncio.sleep(0)
        quiet = quiet + 1 if not loop._ready else 0  # type: ignore[attr-defined]


async def passes(seconds: float) -> None:
    """Let virtual time pass, timers on the way included."""
    await asyncio.sleep(seconds)
    await settle()


async def until(condition: Callable[[], object]) -> None:
    """Come back in the very turn in which something has come true."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came true")
