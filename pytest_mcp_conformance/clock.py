"""Virtual time for one asyncio loop: an hour is over as soon as nobody has anything left to do.

The loop never hurries past work that it cannot see the end of: while a thread works, a child lives or a
socket is open it waits really, within bounds. What it knows of tasks and threads is in `quiet`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import selectors
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import Context
from typing import Any, TypeVar

from pytest_mcp_conformance.outside import Party, expected, parties
from pytest_mcp_conformance.quiet import (
    Hand,
    NeverQuiet,
    Stuck,
    Threads,
    describe_tasks,
    never_quiet,
    one_pass,
    settle,
    settlers,
)

__all__ = [
    "EPOCH",
    "Clock",
    "Hand",
    "NeverQuiet",
    "Party",
    "Stuck",
    "VirtualLoop",
    "describe_tasks",
    "parties",
    "run",
    "settle",
]

T = TypeVar("T")
Events = list[tuple[selectors.SelectorKey, int]]

EPOCH = 1_767_225_600.0  # 2026-01-01T00:00:00Z, in seconds since the epoch

_STEP = 0.002  # real seconds between two looks at threads, which may go idle without telling the loop
_BUSY_PASSES = 100_000  # far above any burst of honest work, and still less than a second of it
_CANCELS = 3  # asyncio.run() cancels once; honest code may swallow a cancellation or two
_PATIENCE = 60.0  # virtual seconds for the clean-up that follows each cancellation


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time starts at 0.0 and jumps to the next timer when nothing is ready.

    As long as something outside may still answer it waits really instead, for at most `grace` seconds of
    silence. A loop that is kept busy does not hold up time for ever: after 100,000 passes without a rest the
    next timer is due.

    Attributes:
        grace: In real seconds; may be changed at any time.
        waited_in_vain: Whether a whole `grace` has passed without a word from outside.
        alone: Whether nothing was ever seen outside it that could speak to it: then `grace` played no part.
            Whoever starts a `Hand` says of what it runs whether that counts.
        on_stuck: Called when nothing can wake the loop any more. It raises `Stuck` out of
            `run_until_complete()` or `run_forever()`. A replacement that does not raise has to make something
            ready.
    """

    # Private to asyncio, the same from 3.10 to 3.13, and missing from its type stubs.
    _scheduled: list[asyncio.TimerHandle]
    _default_executor: ThreadPoolExecutor | None
    _clock_resolution: float

    def __init__(self, *, grace: float = 5.0) -> None:
        self.grace = grace
        self.on_stuck: Callable[[], None] = self._raise_stuck
        self._now = 0.0
        self._turns = itertools.count()
        self._passes = 0
        self.waited_in_vain = False
        self.alone = True
        self._threads = Threads()
        self._handed_out: list[tuple[threading.Event, asyncio.Future[Any]]] = []
        self._gate = _Gate(self._nothing_heard)
        super().__init__(self._gate)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._now

    # The stubs give the arguments a TypeVarTuple, which Python 3.10 lacks.
    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """As of any loop; timers of the same instant run in the order in which they were set."""
        return super().call_at(_Instant(when, next(self._turns)), callback, *args, context=context)

    def outside(self) -> bool:
        """Whether something outside may still answer: an open file, a child, a thread that is not parked.

        The loop's parties are asked instead, for whatever they answer for.
        """
        known = parties(self)
        self._handed_out = [(go, job) for go, job in self._handed_out if not (go.is_set() or job.done())]
        working = bool(self._handed_out) or self._threads.working(self.grace, known)
        # Sockets, pipes, and children through their pidfd. They come last, since a child may have ended while
        # the parties were asked.
        listening = not working and not all(expected(key, known) for key in self._gate.get_map().values())
        if listening or known or self._threads.met:
            self.alone = False
        return working or listening

    def listen(self) -> Events:
        """Waits really, up to `grace` seconds, while something outside may answer; returns what was heard.

        To be called only when nothing is ready. With an empty list, nothing is to be heard any more.
        """
        self._passes = 0
        # Steps are counted because a test may have frozen the clocks of the time module.
        for _ in range(math.ceil(self.grace / _STEP)):
            if not self.outside():
                break
            if events := self._gate.wait(_STEP):
                return events
        else:
            self.waited_in_vain, self.alone = True, False
        return self._gate.wait(0)  # what was said after the last step and before the last look

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """As of any loop; the thread counts as working from this call on, not only from when it wakes up."""
        self.alone = False
        if not isinstance(executor, ThreadPoolExecutor | None):
            return super().run_in_executor(executor, func, *args)
        go = threading.Event()

        def begin() -> T:
            self._threads.hire()
            go.set()
            return func(*args)

        job = super().run_in_executor(executor, begin)
        self._handed_out.append((go, job))
        self._threads.pools.add(executor or self._default_executor)
        return job

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Lets the threads of the default executor end, for at most `grace` real seconds.

        Args:
            timeout: Not used: asyncio measures it on the loop's clock, which would jump to its end.
        """
        if self._default_executor is None:
            return
        closing = threading.Thread(target=self._default_executor.shutdown, daemon=True)
        closing.start()
        for _ in range(math.ceil(self.grace / _STEP)):
            closing.join(_STEP)
            if not closing.is_alive():
                return
            await one_pass()
        message = "A thread of the default executor still works after {} seconds; end it before the loop."
        self.call_exception_handler({"message": message.format(self.grace)})

    def _nothing_heard(self, timeout: float | None) -> Events:
        busy = timeout == 0
        self._passes += 1
        if busy and (self._passes < _BUSY_PASSES or settlers(self)):
            return []
        if events := self.listen():
            return events
        when = float(self._scheduled[0].when()) if self._scheduled else math.inf
        if when < math.inf:
            self._now = max(self._now, when)
            # After 97 days a nanosecond is lost in rounding, and a due timer would never be found to be due.
            self._clock_resolution = max(self._clock_resolution, math.ulp(self._now))
        elif busy:
            raise never_quiet(_BUSY_PASSES, describe_tasks(self) or ["callbacks without a task"])
        else:
            self.on_stuck()
        return []

    def _raise_stuck(self) -> None:
        lines = "\n  ".join(describe_tasks(self) or ["there is no task"])
        raise Stuck(
            f"Nothing is ready, no timer is pending, and nothing outside the loop may answer:\n  {lines}\n"
            "Answer what they wait for, or give the wait a timeout."
        )


class _Gate(selectors.DefaultSelector):
    """A selector that only looks, and leaves the waiting to the loop."""

    def __init__(self, nothing_heard: Callable[[float | None], Events]) -> None:
        super().__init__()
        self._nothing_heard = nothing_heard

    def select(self, timeout: float | None = None) -> Events:
        return self.wait(0) or self._nothing_heard(timeout)

    def wait(self, seconds: float) -> Events:
        return super().select(seconds)


class _Instant(float):
    """A time that comes before the same time asked for later.

    On a real clock hardly two timers are set for one instant, on a virtual one most are; and asyncio's heap
    of timers does not keep the order of equals.
    """

    turn: int

    def __new__(cls, when: float, turn: int) -> _Instant:
        self = super().__new__(cls, when)
        self.turn = turn
        return self

    def __lt__(self, other: float) -> bool:
        if isinstance(other, _Instant) and self == other:
            return self.turn < other.turn
        return super().__lt__(other)


class Clock:
    """The time of one loop, for wrappers that accept a clock.

    Args:
        loop: The loop; it need not run yet.
        epoch: What `time()` says at the loop's second 0.0, in seconds since the epoch.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, epoch: float = EPOCH) -> None:
        self._loop = loop
        self._epoch = epoch

    def time(self) -> float:
        """Seconds since the epoch."""
        return self._epoch + self._loop.time()

    def monotonic(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._loop.time()

    async def advance(self, seconds: float) -> None:
        """Lets this much time pass, and what is due in it happen.

        Args:
            seconds: Virtual seconds, from 0 on.

        Raises:
            ValueError: `seconds` is negative or not finite.
            RuntimeError: Called from a task of another loop.
        """
        if not 0 <= seconds < math.inf:
            raise ValueError(f"Time cannot advance by {seconds!r} seconds; give a finite number from 0 on.")
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("This clock belongs to another loop; advance it from a task of that loop.")
        await asyncio.sleep(seconds)


def run(
    main: Callable[[], Coroutine[Any, Any, T]],
    *,
    grace: float = 5.0,
    name: str = "scenario",
    leftovers: list[str] | None = None,
    patience: float = 0.0,
) -> T:
    """Runs `main()` to its end in a `VirtualLoop` of its own, which is then emptied and closed.

    Nothing bounds `main` itself while others let time pass, as a heartbeat does: give it a timeout, which
    costs no real time.

    Args:
        main: Makes the coroutine.
        grace: Of the loop, in real seconds.
        name: Of the task that runs the coroutine.
        leftovers: Gets one line for each task that was still pending when the coroutine had ended and the
            loop had settled, and one more for each task that then refused to be cancelled.
        patience: Virtual seconds for such tasks to end by themselves. They get none where `grace` has passed
            in vain: each timer of theirs might cost as much again.

    Returns:
        What the coroutine returns. What it raises is raised unchanged.

    Raises:
        Stuck: Nothing could wake the loop any more.
        NeverQuiet: The loop never came to rest, and no timer was left to end that.
        RuntimeError: Called inside a running event loop.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("run() needs a thread where no event loop runs; call it from a plain function.")
    # The thread's current event loop stays what it is, for the sake of pytest-asyncio: inside a task
    # asyncio.get_event_loop() gives the running loop anyway. asyncio.Runner(loop_factory=...) does the same.
    loop = VirtualLoop(grace=grace)
    lines: list[str] = [] if leftovers is None else leftovers
    try:
        task = loop.create_task(main(), name=name)
        try:
            return loop.run_until_complete(task)
        finally:
            for stubborn in loop.run_until_complete(_empty(loop, task, lines, patience)):
                _abandon(stubborn)
    finally:
        loop.close()


async def _empty(
    loop: VirtualLoop, main: asyncio.Task[Any], lines: list[str], patience: float
) -> set[asyncio.Task[Any]]:
    """Ends everything in the loop and returns the tasks that would not end."""
    if main.done():
        with contextlib.suppress(NeverQuiet):
            await settle()
            if patience and (others := _others(set())) and not loop.waited_in_vain:
                await asyncio.wait(others, timeout=patience)
                await settle()
        lines += describe_tasks(_others(set()))
    stubborn = await _cancel_others(loop, main, spare=set())
    await asyncio.wait({asyncio.create_task(loop.shutdown_asyncgens())}, timeout=_PATIENCE)
    stubborn |= await _cancel_others(loop, main, spare=stubborn)
    for line in describe_tasks(stubborn):
        lines.append(f"{line}, and refused {_CANCELS} cancellations")
        loop.call_exception_handler({"message": lines[-1]})
    await loop.shutdown_default_executor()
    return stubborn


async def _cancel_others(
    loop: VirtualLoop, main: asyncio.Task[Any], spare: set[asyncio.Task[Any]]
) -> set[asyncio.Task[Any]]:
    for _ in range(_CANCELS):
        tasks = _others(spare)
        if not tasks:
            break
        for task in tasks:
            task.cancel()
        done, _ = await asyncio.wait(tasks, timeout=_PATIENCE)
        for task in done:
            error = None if task.cancelled() else task.exception()
            if error is not None and task is not main:
                message = f"Task {task.get_name()!r} failed when it was cancelled at the end of run()."
                loop.call_exception_handler({"message": message, "exception": error, "task": task})
    return _others(spare)


def _others(spare: set[asyncio.Task[Any]]) -> set[asyncio.Task[Any]]:
    return {task for task in asyncio.all_tasks() - spare if task is not asyncio.current_task()}


def _abandon(task: asyncio.Task[Any]) -> None:
    """Destroys a task that would not end, before the garbage collector does so in some later test."""
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    coroutine = task.get_coro()
    if coroutine is not None:
        with contextlib.suppress(Exception, asyncio.CancelledError):
            coroutine.close()
