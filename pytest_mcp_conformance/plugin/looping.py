"""Virtual time for tests of the user's own: the kit's loop, and the clock that is its."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from pytest_mcp_conformance.clock import Clock, run

__all__ = ["MARKER", "LoopClock", "clock_of", "in_virtual_time", "is_virtual"]

T = TypeVar("T")
MARKER = "mcp_loop"


class LoopClock(Clock):
    """The virtual time of one test; it stands at 0 until something runs in the kit's loop."""

    def __init__(self) -> None:
        self.last = 0.0
        super().__init__(_Standing(self))  # type: ignore[arg-type]  # of a loop a clock asks the time alone

    def run(self, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `main()` to its end in a new loop of the kit's, as `asyncio.run` does in a loop of its own.

        Raises:
            Stuck: Nothing could wake it any more.
            RuntimeError: Called inside a running event loop.
        """

        async def begun() -> T:
            self._loop = asyncio.get_running_loop()
            return await main()

        return run(begun, name="test")


class _Standing:
    """What a clock reads where no loop of this test has run."""

    def __init__(self, clock: LoopClock) -> None:
        self._clock = clock

    def time(self) -> float:
        return self._clock.last


_CLOCK = pytest.StashKey[LoopClock]()


def clock_of(item: pytest.Item) -> LoopClock:
    """The clock of a test, the same each time."""
    return item.stash.setdefault(_CLOCK, LoopClock())


def is_virtual(item: pytest.Item) -> bool:
    """Whether a test asks for the kit's loop."""
    return item.get_closest_marker(MARKER) is not None


@contextmanager
def in_virtual_time(item: pytest.Function) -> Iterator[None]:
    """Have an `async def` test run in the kit's loop, whichever plugin would run it else."""
    test = _coroutine_function(item.obj)
    if test is None:  # a plain test has its clock run what it likes
        yield
        return
    clock = clock_of(item)

    @functools.wraps(test)
    def played(**arguments: Any) -> None:
        __tracebackhide__ = True
        clock.run(functools.partial(test, **arguments))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item, "obj", played)
        yield


def _coroutine_function(given: Any) -> Callable[..., Coroutine[Any, Any, Any]] | None:
    """The test itself; pytest-asyncio has put a plain function around it by now."""
    for each in (given, getattr(given, "__wrapped__", None)):
        if inspect.iscoroutinefunction(each):
            return each
    return None
