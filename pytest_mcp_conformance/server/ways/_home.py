"""The scenario's loop, where scripts run, reached from other loops and threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from pytest_mcp_conformance.contract import ConformanceError

__all__ = ["VISIT", "Home"]

T = TypeVar("T")


VISIT = "visit of the scripted server"
"""The name of a task that serves another loop or thread. It is the kit's, and nothing of the wrapper's."""


class Home:
    """The running loop and its thread, at the time when this is made.

    Raises:
        RuntimeError: No loop runs.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    async def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine there, and wait for it in whichever loop runs here. A cancellation reaches it.

        Raises:
            ConnectionRefusedError: The loop is closed.
        """
        if asyncio.get_running_loop() is self._loop:
            return await make()
        return await asyncio.wrap_future(self._hand_over(make))

    def wait(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine there, and block this thread until it ends.

        Raises:
            ConformanceError: This is the thread of that loop, which would wait for itself.
            ConnectionRefusedError: The loop is closed.
        """
        if threading.get_ident() == self._thread:
            raise ConformanceError(
                "a blocking HTTP call in the thread of the event loop: it would wait for itself; "
                "call from another thread, as by asyncio.to_thread, or use an asynchronous client"
            )
        return self._hand_over(make).result()

    def call(self, function: Callable[[], None]) -> None:
        """Call a function there, soon, or now if this is that thread. On a closed loop it is nothing."""
        if threading.get_ident() == self._thread:
            function()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function)

    def _hand_over(self, make: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        if self._loop.is_closed():
            raise ConnectionRefusedError("the scripted server is no longer there")
        return asyncio.run_coroutine_threadsafe(_named(make), self._loop)


async def _named(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    task = asyncio.current_task()
    if task is not None:
        task.set_name(VISIT)
    return await make()
