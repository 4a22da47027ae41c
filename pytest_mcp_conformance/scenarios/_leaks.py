"""What a play leaves behind: what is there afterwards, and once more after one more play.

A library may open something once and keep it, so one play shows nothing. What grows from play to play is a
leak.
"""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from pytest_mcp_conformance.contract import Adapter, Judgement, Verdict
from pytest_mcp_conformance.contract.connections import CLOSE_ENDS_EVERYTHING_IT_OPENED
from pytest_mcp_conformance.history import Recorder, telling
from pytest_mcp_conformance.scenarios._census import Census, Thing

__all__ = ["watched", "with_what_was_left"]

PATIENCE = 1.0
"""Real seconds for what is about to end: a thread that was told, a child that was killed."""

SHORT_PATIENCE = 0.1
"""The same, for a wrapper that has left something behind before."""

_STEP = 0.005

_leaking: set[Adapter] = set()


class Run(Protocol):
    """What a play gives.

    Attributes:
        failed: Why it did not come to its end; empty where it did.
    """

    failed: str


R = TypeVar("R", bound=Run)


def watched(adapter: Adapter, once: Callable[[], R], once_more: Callable[[], R]) -> tuple[R, list[str]]:
    """Play, and say what is left afterwards of threads, files, sockets and children.

    Where a play did not come to its end, or one of its verbs has not, nothing is said: what is left may be
    in use.

    Args:
        adapter: Whom it is played against.
        once: Plays.
        once_more: Plays a second time. Called where something seems to be left.

    Returns:
        The first play, and one line for each thing.
    """
    before = Census()
    run = once()
    seen = _left(before, adapter) if not run.failed else []
    if not seen:
        return run, []
    before = Census()
    again = once_more()
    kinds = {thing.kind for thing in seen}
    left = [each for each in _left(before, adapter) if each.kind in kinds] if not again.failed else []
    if left:
        _leaking.add(adapter)
    return run, [thing.text for thing in left]


def with_what_was_left(
    judgements: tuple[Judgement, ...], left: Iterable[str], history: Recorder
) -> tuple[Judgement, ...]:
    """Whatever the scenario is about, what is left after close breaks the rule on closing."""
    rest = "; ".join(left)
    if not rest:
        return judgements
    leak = Judgement(
        CLOSE_ENDS_EVERYTHING_IT_OPENED.id,
        Verdict.BROKEN,
        f"left after close: {rest}",
        telling(history),
        hard=True,
    )
    return (*(each for each in judgements if each.rule != leak.rule), leak)


def _looks(adapter: Adapter) -> int:
    """How many steps to wait: counted, because a test may have frozen the clocks of the time module."""
    return math.ceil((SHORT_PATIENCE if adapter in _leaking else PATIENCE) / _STEP)


def _left(before: Census, adapter: Adapter) -> list[Thing]:
    """What is there and was not before, once the garbage is collected and what ends has ended."""
    now = Census()
    if not now.since(before):
        return []
    gc.collect()
    pause = threading.Event()
    for _ in range(_looks(adapter)):
        now = Census()
        if not now.since(before):
            return []
        pause.wait(_STEP)
    gc.collect()  # of what the threads have held that ended meanwhile
    now = Census()
    return [] if now.verbs - before.verbs else now.since(before)
