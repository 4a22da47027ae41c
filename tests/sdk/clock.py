"""A loop whose time passes only while nothing else is left to do: a limit of a minute costs no time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("everything waits, and for nothing that has a limit")
        self.now += max(timeout, 0.0)
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


def run(scene: Callable[..., Awaitable[T]], *args: Any, **kwargs: Any) -> T:
    """Play `scene` to its end, in fake time."""
    return anyio.run(
        partial(scene, *args, **kwargs), backend="asyncio", backend_options={"loop_factory": _Loop}
    )


async def quiet() -> None:
    """Wait until every task waits for something: only then does time pass."""
    await anyio.sleep(0.001)
