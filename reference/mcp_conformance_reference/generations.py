"""Which `tools/list` answer an SDK holds its per-tool checks for, as far as one connection can tell.

An SDK session keeps its own output checks by the listing it received last, one that failed perhaps included,
and it replaces them before its user sees the answer. So the requests are counted: each is out from the moment
it is sent until it settles, and each that settles, answered or failed, starts a new generation. The checks of
one listing are the SDK's while its generation is the latest and no request is out.

One request is one page: a walk through three pages starts three generations. What the count cannot see is
said by `ListingGenerations.unseen`.

Source: the seed listingGenerations.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import ref

__all__ = ["ListingGenerations", "SettledListing", "listings_of"]

T = TypeVar("T")


@dataclass(frozen=True)
class SettledListing(Generic[T]):
    """The answer of one `tools/list` request, and the generation it settled at."""

    answer: T
    generation: int


class ListingGenerations:
    """The `tools/list` requests that one connection has out, and the generations they settled at.

    Attributes:
        unseen: The limit of this count in words: what it does not see, and never claims to have seen.
    """

    unseen = (
        "list requests that are not sent through ask() are not counted: those of the host on the same "
        "session, an SDK's refresh of its own, and the listing that an SDK hides inside a call"
    )

    def __init__(self) -> None:
        self._settled = 0
        self._out = 0

    async def ask(self, send: Callable[[], Awaitable[T]]) -> SettledListing[T]:
        """Send one request, counted as out until it settles.

        Args:
            send: Sends the request; it may raise before anything is sent.

        Returns:
            The answer, with the generation that this very request started.

        Raises:
            BaseException: Whatever `send` raised, as it raised it.
        """
        self._out += 1
        try:
            answer = await send()
        finally:
            generation = self._settle()
        return SettledListing(answer, generation)

    def is_latest(self, generation: int) -> bool:
        """Whether a generation is the latest settled one and no request is out."""
        return self._out == 0 and generation == self._settled and generation > 0

    def dropped(self) -> None:
        """The SDK dropped its checks without a request: on a notice, a close, or an answer from its cache.

        It counts as a listing that settled: no earlier generation is the latest any more.
        """
        self._settled += 1

    def _settle(self) -> int:
        self._out -= 1
        self._settled += 1
        return self._settled


_counts: dict[int, tuple[ref[object], ListingGenerations]] = {}


def listings_of(connection: object) -> ListingGenerations:
    """The count of one connection: one for all wrappers over it, because its SDK keeps one set of checks.

    Args:
        connection: The SDK's session or client. Compared by identity, and not kept alive by the count.

    Raises:
        TypeError: The object cannot be referred to weakly.
    """
    key = id(connection)
    held = _counts.get(key)
    if held is not None and held[0]() is connection:
        return held[1]

    def gone(_: ref[object]) -> None:
        _counts.pop(key, None)

    count = ListingGenerations()
    _counts[key] = (ref(connection, gone), count)
    return count
