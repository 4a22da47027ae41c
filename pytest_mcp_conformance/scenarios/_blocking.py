"""A plain generator as an asynchronous one: each of its steps in a thread."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from pytest_mcp_conformance.scenarios._verbs import perform

__all__ = ["InThreads"]

_ENDED = object()


class InThreads:
    """What an adapter that blocks is entered and left by.

    A step that is cancelled goes on in its thread, and nobody waits for it.

    Args:
        generator: What is stepped through.
    """

    def __init__(self, generator: Generator[Any, None, Any]) -> None:
        self._generator = generator

    async def __anext__(self) -> Any:
        """Go on to the next yield.

        Raises:
            StopAsyncIteration: There is none.
        """
        return _yielded(await perform(next, self._generator, _ENDED))

    async def athrow(self, error: BaseException) -> Any:
        """Raise `error` where it stands, and go on from there.

        Raises:
            StopAsyncIteration: It ends, or ended before.
        """
        return _yielded(await perform(self._throw, error))

    async def aclose(self) -> None:
        """End it where it stands."""
        await perform(self._generator.close)

    def _throw(self, error: BaseException) -> Any:
        try:
            return self._generator.throw(error)
        except StopIteration:
            return _ENDED


def _yielded(what: Any) -> Any:
    if what is _ENDED:
        raise StopAsyncIteration
    return what
