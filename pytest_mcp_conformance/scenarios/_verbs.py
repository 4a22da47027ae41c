"""Running a verb: in a task of its own, in a thread where it is a plain function, and never for ever."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Generic, TypeVar

from pytest_mcp_conformance.clock import Hand, VirtualLoop, describe_tasks
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.scenarios._judge import NotClaimed, VerbFailed
from pytest_mcp_conformance.server import DEADLINE

__all__ = ["Pending", "end_verbs", "is_async", "perform", "under_way"]

T = TypeVar("T")

under_way: ContextVar[set[asyncio.Task[Any]]] = ContextVar("under_way")
"""The verbs of one scenario that have not ended: they are the kit's, and no leak of the wrapper's."""


async def perform(verb: Callable[..., Any], *arguments: Any, reaches_out: bool = True) -> Any:
    """Run one verb to its end: a coroutine function here, a plain function in a thread.

    Args:
        verb: The function.
        arguments: Its arguments.
        reaches_out: Whether a plain one may wait for a server: then it does so in real time.
    """
    if is_async(verb):
        returned = verb(*arguments)
    else:
        loop = asyncio.get_running_loop()
        if reaches_out and isinstance(loop, VirtualLoop):
            loop.alone = False
        returned = await _in_a_thread(verb, *arguments)
    return await returned if inspect.isawaitable(returned) else returned


def is_async(verb: Callable[..., Any]) -> bool:
    """True for a coroutine function, wrapped in a partial or an object's `__call__` or not."""
    while isinstance(verb, partial):
        verb = verb.func
    return inspect.iscoroutinefunction(verb) or inspect.iscoroutinefunction(getattr(verb, "__call__", None))  # noqa: B004


async def _in_a_thread(verb: Callable[..., Any], *arguments: Any) -> Any:
    """Run a plain function in a daemon thread of its own: one that never ends holds up nobody's exit."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()
    context = copy_context()

    def tell(report: Callable[[Any], None], what: Any) -> None:
        if not outcome.done():
            report(what)

    def work() -> None:
        try:
            returned = context.run(verb, *arguments)
        except BaseException as raised:
            error = (
                RuntimeError(f"{type(raised).__name__} out of a verb")
                if isinstance(raised, StopIteration)
                else raised
            )
            _call_soon(loop, tell, outcome.set_exception, error)
        else:
            _call_soon(loop, tell, outcome.set_result, returned)

    Hand(target=work, name="verb", daemon=True).start()
    return await outcome


def _call_soon(loop: asyncio.AbstractEventLoop, *what: Any) -> None:
    with suppress(RuntimeError):  # the scenario is over, and its loop closed
        loop.call_soon_threadsafe(*what)


class Pending(Generic[T]):
    """One verb that is under way.

    Args:
        running: What it does.
        step: Its name, for errors: `list_tools`.
    """

    def __init__(self, running: Coroutine[Any, Any, T], step: str) -> None:
        self.step = step
        self._task: asyncio.Task[T] = asyncio.get_running_loop().create_task(running, name=step)
        running_verbs = under_way.get()
        running_verbs.add(self._task)
        self._task.add_done_callback(running_verbs.discard)
        self._task.add_done_callback(_retrieve)

    def __repr__(self) -> str:
        return f"<{self.step}>"

    @property
    def done(self) -> bool:
        """True once it has ended."""
        return self._task.done()

    @property
    def error(self) -> BaseException | None:
        """What it raised, once it has ended."""
        if not self._task.done():
            return None
        return asyncio.CancelledError() if self._task.cancelled() else self._task.exception()

    async def ended(self, within: float = DEADLINE) -> bool:
        """Wait for its end, however it ends. False when `within` seconds of loop time were not enough."""
        await asyncio.wait({self._task}, timeout=within)
        return self._task.done()

    async def result(self, within: float = DEADLINE) -> T:
        """Its result.

        Raises:
            VerbFailed: It raised, or did not end `within` seconds of the loop's time; then it is cancelled.
        """
        if not await self.ended(within):
            where = "; ".join(describe_tasks([self._task]))
            await self.cancel()
            raise VerbFailed(f"{self.step} did not end within {within:g} s: {where}")
        if self._task.cancelled():
            raise VerbFailed(f"{self.step} was cancelled, though nobody cancelled it")
        error = self._task.exception()
        if error is not None:
            if isinstance(error, VerbFailed | NotClaimed | AssertionError) or not isinstance(
                error, Exception
            ):
                raise error
            raise VerbFailed(f"{self.step} raised {describe(error)}") from error
        return self._task.result()

    async def cancel(self) -> None:
        """Cancel it, as a user does who gives up, and wait for its end for a while."""
        self._task.cancel()
        await self.ended(60.0)


async def end_verbs() -> None:
    """Cancel the verbs that nobody has ended, as a program does that ends."""
    left = set(under_way.get())
    for verb in left:
        verb.cancel()
    if left:
        await asyncio.wait(left, timeout=60.0)


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Look at the exception, so that a verb that nobody waits for is not reported by the loop."""
    if not task.cancelled():
        task.exception()
