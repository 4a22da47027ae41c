"""Who waits for what in one asyncio loop and beside it, and the moment when all of them wait.

Errors::

    RuntimeError
    ├── Stuck        nothing inside or outside the loop can wake it any more
    └── NeverQuiet   some task or callback is ready to run again and again
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
import gc
import os
import selectors
import sys
import threading
import types
from collections.abc import Awaitable, Collection, Container, Generator, Iterable
from typing import Any, ClassVar
from weakref import WeakKeyDictionary, WeakSet

from pytest_mcp_conformance.outside import Party, expected, parties

__all__ = ["Hand", "NeverQuiet", "Stuck", "describe_tasks", "settle"]

_NAMED_PASSES = 10  # a busy pair of tasks takes turns: one pass alone would name only one of the two
_IDLE_PASSES = 2  # what ran before us in the first may have set a timer for this very moment
_BLIND_PASSES = 20  # without the ready queue an idle pass proves little; 20 were right in 600 of 600 trials
_LONGEST_CHAIN = 1_000  # awaitables of C or of users may point at each other in a ring

_CONDITION_WAIT = threading.Condition.wait.__code__
_POOL_WORKER = concurrent.futures.thread._worker.__code__
_RUN_ONCE = asyncio.BaseEventLoop._run_once.__code__  # type: ignore[attr-defined]  # private, 3.10 to 3.13
_SELECT = selectors.DefaultSelector.select.__code__

_settling: WeakKeyDictionary[asyncio.AbstractEventLoop, set[object]] = WeakKeyDictionary()


class Stuck(RuntimeError):
    """Nothing is ready, no timer is pending, and nothing outside the loop may still answer."""


class NeverQuiet(RuntimeError):
    """Some task or callback was ready to run in every pass of the loop."""


def describe_tasks(tasks: asyncio.AbstractEventLoop | Iterable[asyncio.Task[Any]]) -> list[str]:
    """Says for each pending task where it waits, the innermost await first.

    Args:
        tasks: The tasks, or the loop whose tasks are meant.

    Returns:
        One line for each pending task, sorted, such as "task 'scenario' waits in Event.wait (locks.py:213)
        called from overtaken_listing (caching.py:40)". Files are named without their folders.
    """
    if isinstance(tasks, asyncio.AbstractEventLoop):
        tasks = asyncio.all_tasks(tasks)
    return sorted(_describe(task, "waits") for task in tasks if not task.done())


async def settle(max_passes: int = 10_000) -> None:
    """Returns when every other task of the running loop waits for something that is not ready.

    Then the ready queue is empty, the selector has no event and no timer is due; virtual time has not moved.
    On a `VirtualLoop` threads, children and sockets are waited for as well, for at most `grace` real seconds
    of silence. On a loop of another make they are not seen, but for its parties (see `outside`), and one
    that hides its ready queue (uvloop) is taken to be quiet after some idle passes. Several tasks may settle
    at once.

    Args:
        max_passes: After how many passes of the loop to give up.

    Raises:
        NeverQuiet: Something was still ready to run after `max_passes`; the message names it.
    """
    loop = asyncio.get_running_loop()
    listen = getattr(loop, "listen", None)
    needed = _IDLE_PASSES if hasattr(loop, "_ready") else _BLIND_PASSES
    me, ours, idle = asyncio.current_task(), settlers(loop), 0
    busy: set[str] = set()
    ours.add(me)
    try:
        for left in reversed(range(max_passes)):
            await one_pass()
            runnable = [thing for thing in _runnable(loop) if not any(thing is settler for settler in ours)]
            idle = 0 if runnable else idle + 1
            if listen is not None:
                if idle >= needed and not listen():
                    return
            elif idle == needed and not all(party.idle() for party in parties(loop)):
                idle = 0
            elif idle == 2 * needed:  # what the parties had let through would have shown by now
                return
            if left < _NAMED_PASSES:
                busy.update(_name(thing) for thing in runnable)
    finally:
        ours.discard(me)
    raise never_quiet(max_passes, sorted(busy) or ["something outside the loop that answers again and again"])


def never_quiet(passes: int, lines: Iterable[str]) -> NeverQuiet:
    """The error that names what kept the loop busy for that many passes."""
    return NeverQuiet(
        f"Still busy after {passes} passes of the loop:\n  "
        + "\n  ".join(lines)
        + "\nLook for a loop that never really waits, or a task that swallows its cancellation."
    )


def settlers(loop: asyncio.AbstractEventLoop) -> set[object]:
    """The tasks of this loop that are inside `settle()` now."""
    return _settling.setdefault(loop, set())


@types.coroutine
def one_pass() -> Generator[None, None, None]:
    """Lets everything run that is ready now; unlike asyncio.sleep(0), nobody replaces it in a test."""
    yield


def _runnable(loop: asyncio.AbstractEventLoop) -> list[object]:
    """The tasks and plain callbacks that would run in the next pass.

    Seen from a task that has just been resumed this is exact: what the selector reported and the timers that
    were due have been queued behind that task in this very pass.
    """
    ready = getattr(loop, "_ready", None)
    if ready is None:
        waiters = {task: getattr(task, "_fut_waiter", None) for task in asyncio.all_tasks(loop)}
        return [task for task, waiter in waiters.items() if waiter is None or waiter.done()]
    # A copy, since threads may append at any time.
    callbacks = [handle._callback for handle in list(ready) if not handle.cancelled()]
    owners = [getattr(callback, "__self__", None) for callback in callbacks]
    return [o if isinstance(o, asyncio.Task) else c for o, c in zip(owners, callbacks, strict=True)]


def _name(thing: object) -> str:
    if isinstance(thing, asyncio.Task):
        return _describe(thing, "runs")
    return f"callback {getattr(thing, '__qualname__', type(thing).__name__)}"


def _describe(task: asyncio.Task[Any], verb: str) -> str:
    places = []
    thing: object = task.get_coro()
    for _ in range(_LONGEST_CHAIN):
        if thing is None or isinstance(thing, asyncio.Future):
            break
        places.append(_place(thing))
        thing = _awaited(thing)
    target = f" for task {thing.get_name()!r}" if isinstance(thing, asyncio.Task) else ""
    path = " called from ".join(place for place in reversed(places) if place) or "code without a Python frame"
    return f"task {task.get_name()!r} {verb}{target} in {path}"


def _place(thing: object) -> str:
    for attribute in ("cr_frame", "gi_frame", "ag_frame"):
        frame = getattr(thing, attribute, None)
        if isinstance(frame, types.FrameType):
            name = str(getattr(thing, "__qualname__", frame.f_code.co_name)).rpartition("<locals>.")[2]
            return f"{name} ({os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno})"
    return ""


def _awaited(thing: object) -> object:
    """What a coroutine, a generator or an awaitable written in C waits for, or None."""
    for attribute in ("cr_await", "gi_yieldfrom", "ag_await"):
        if hasattr(thing, attribute):
            return getattr(thing, attribute)
    # `async for`, anext(), aclose() and coro.__await__() put objects of C in between, which tell nobody but
    # the garbage collector what they hold.
    inner = (Awaitable, types.GeneratorType, types.AsyncGeneratorType)
    return next((held for held in gc.get_referents(thing) if isinstance(held, inner)), None)


class Hand(threading.Thread):
    """A thread in which the loop has a function run, and waits for its end. Its starter says if it is met."""

    numbers: ClassVar[set[int]] = set()
    """Of all of them: one that has ended may have a frame for a moment, and is listed no more."""

    def run(self) -> None:
        """See `threading.Thread`."""
        self.numbers.add(threading.get_ident())
        super().run()


class Threads:
    """The threads that were started since this was made, and event loops in older ones.

    Threads of xdist, of pytest-timeout and of earlier tests have nothing to say to a loop made later. But a
    library may keep one event loop for the whole program: that counts while it is awake.

    Attributes:
        pools: Those whose jobs the loop counts itself.
        met: Whether one of them that is no `Hand` was ever there, at work or not, when somebody looked.
    """

    def __init__(self) -> None:
        self.pools: WeakSet[object] = WeakSet()
        self.met = False
        self._strangers: dict[int, threading.Thread | None] = dict.fromkeys(sys._current_frames())
        self._strangers.update((thread.ident or 0, thread) for thread in threading.enumerate())

    def hire(self) -> None:
        """Counts the calling thread from now on, even if its pool is older than this."""
        self._strangers.pop(threading.get_ident(), None)

    def working(self, within: float, known: Collection[Party] = ()) -> bool:
        """Whether one of them runs, or will wake up by itself within that many real seconds.

        Args:
            within: See above.
            known: Parties, without their threads; whether they are not idle is asked too.
        """
        # One thread may wake another between our looks at the two. Two equal rounds prove a moment in which
        # all of them were parked, because each wait has a lock or a frame of its own. So nothing was said to
        # the parties between the rounds, and what they are found to have let through shows from now on.
        waits = self._parked(within, known)
        return (
            waits is None or not all(party.idle() for party in known) or waits != self._parked(within, known)
        )

    def _parked(self, within: float, known: Collection[Party]) -> list[object] | None:
        """What each of them waits on, or None if one of them runs."""
        threads = {thread.ident: thread for thread in threading.enumerate()}
        if None in threads:  # it is being started, and has no frame yet
            self._meet(threads[None], None)
            return None
        frames = sys._current_frames()
        for ident in (threading.get_ident(), *(thread.ident for party in known for thread in party.threads)):
            frames.pop(ident or 0, None)
        waits = []
        looked_at = {}
        for ident, frame in frames.items():
            # A new thread may get the number of a dead one. Those of execnet have a number and no Thread.
            if ident in self._strangers and self._strangers[ident] in (None, threads.get(ident)):
                if not _runs_a_loop(frame):
                    continue
                wait = _asleep(frame, within)  # kept by a library for all, it may be given work at any time
            else:
                self._meet(threads.get(ident), ident)
                wait = _parked_on(frame, within, self.pools, known)
            if wait is None:
                return None
            waits.append(wait)
            looked_at[ident] = frame
        # One that woke up meanwhile may have taken already what it was woken by: then nothing shows of it
        # but that it has left the frame in which it was found.
        now = sys._current_frames()
        return waits if all(now.get(ident) is frame for ident, frame in looked_at.items()) else None

    def _meet(self, thread: threading.Thread | None, ident: int | None) -> None:
        a_hand = isinstance(thread, Hand) or (thread is None and ident in Hand.numbers)
        self.met = self.met or not a_hand


def _runs_a_loop(frame: types.FrameType | None) -> bool:
    while frame is not None and frame.f_code is not _RUN_ONCE:
        frame = frame.f_back
    return frame is not None


def _asleep(frame: types.FrameType, within: float) -> object:
    """The frame in which an event loop waits, whatever its files are, or None if it is awake."""
    if frame.f_code is not _SELECT:
        return None
    selector, timeout = frame.f_locals["self"], frame.f_locals["timeout"]
    waits = timeout is None or timeout < 0 or timeout > within
    try:
        return frame if waits and not selectors.DefaultSelector.select(selector, 0) else None
    except (OSError, ValueError):  # that loop has gone on, and is being closed
        return None


def _parked_on(
    frame: types.FrameType, within: float, pools: Container[object], known: Collection[Party]
) -> object:
    """The lock, the queue or the frame in which this thread waits for others, or None if it runs."""
    if frame.f_code is _CONDITION_WAIT:
        waiter, timeout = frame.f_locals.get("waiter"), frame.f_locals["timeout"]
        # notify() opens the lock and takes it out of the list. The lock alone would not do: the woken thread
        # closes it again well before it runs any Python.
        waits = waiter is not None and waiter in frame.f_locals["self"]._waiters and waiter.locked()
        return waiter if waits and (timeout is None or timeout > within) else None
    if frame.f_code is _POOL_WORKER:
        queue, pool = frame.f_locals["work_queue"], frame.f_locals["executor_reference"]()
        waits = queue.empty() and not frame.f_locals.get("work_item")
        if sys.version_info >= (3, 13) and waits and pool is not None and pool not in pools:
            # put() gives the item to the thread past the queue. The count of idle threads shows that; it may
            # come out too low, so it is asked only about pools whose jobs nobody counts.
            waits = pool._idle_semaphore._value >= len(pool._threads)
        return queue if waits else None
    if frame.f_code is _SELECT:  # an event loop of its own, idle as long as nobody rings its bell
        files = list(frame.f_locals["self"]._fd_to_key.values())  # a copy at one blow: the thread may wake up
        return _asleep(frame, within) if all(expected(key, known) for key in files) else None
    if frame.f_code.co_name == "_do_waitpid":  # how asyncio waits for a child up to Python 3.11
        child = frame.f_locals.get("expected_pid")
        return frame if any(child in party.children for party in known) else None
    return None
