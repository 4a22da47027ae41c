"""Many jobs over a few places: each job goes to a place that is free, and what is done is kept at once."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.matrix.places import Place, PlaceLost

__all__ = ["run_all"]

_LOOK = 0.2
_PATIENCE = 30.0

Said = Mapping[str, Any]


def run_all(
    jobs: Sequence[dict[str, Any]],
    places: Sequence[Place],
    *,
    tell: Callable[[str, str], object],
    keep: Callable[[str, Said], object],
) -> bool:
    """Do all jobs.

    Args:
        jobs: Each with a `key` that tells it from the others.
        places: Who does them.
        tell: Told the key of a job and what is done for it, in any thread.
        keep: Given the key and the result of a job that is done, in any thread, one after the other.

    Returns:
        False when it was interrupted: whatever was under way has been ended, and is not kept.
    """
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    left, stop, lock = _Left(len(jobs)), threading.Event(), threading.Lock()

    def finish(key: str, said: Said) -> None:
        with lock:
            keep(key, said)
        left.one_less()

    def work(place: Place) -> None:
        while not stop.is_set() and left.any():
            try:
                job = waiting.get(timeout=_LOOK)
            except queue.Empty:
                continue
            try:
                said = place.do(job, lambda what, key=job["key"]: tell(key, what), stop)  # type: ignore[misc]
            except PlaceLost as lost:
                tell(job["key"], str(lost))
                waiting.put(job)
                return
            except Exception as error:
                said = {"state": "not-run", "why": f"a fault of the kit: {describe(error)}"}
            if not stop.is_set():
                finish(job["key"], said)

    threads = [threading.Thread(target=work, args=(place,), daemon=True) for place in places]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(_LOOK)
    except KeyboardInterrupt:
        stop.set()
        for thread in threads:
            thread.join(_PATIENCE)
        return False
    while not waiting.empty():
        finish(waiting.get()["key"], {"state": "not-run", "why": "every gateway was lost"})
    return True


class _Left:
    """How many jobs are not done."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._lock = threading.Lock()

    def one_less(self) -> None:
        with self._lock:
            self._number -= 1

    def any(self) -> bool:
        return self._number > 0
