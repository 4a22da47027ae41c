from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import multiprocessing
import os
import random
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import anyio.to_thread
import pytest

from pytest_mcp_conformance import clock, quiet
from pytest_mcp_conformance.clock import (
    EPOCH,
    Clock,
    NeverQuiet,
    Stuck,
    VirtualLoop,
    describe_tasks,
    parties,
    run,
    settle,
)


def now() -> float:
    return asyncio.get_running_loop().time()


def this_loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


async def spin() -> None:
    while True:  # noqa: ASYNC110
        await asyncio.sleep(0)


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true within a time that only a broken machine needs."""
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    loop = VirtualLoop()
    yield loop
    loop.close()


@pytest.fixture
def thread() -> Iterator[Callable[[Callable[[], object]], threading.Thread]]:
    started: list[threading.Thread] = []

    def start(target: Callable[[], object]) -> threading.Thread:
        started.append(threading.Thread(target=target, daemon=True))
        started[-1].start()
        return started[-1]

    yield start
    for each in started:
        each.join(30)
        assert not each.is_alive()


# Virtual time


def test_timers_fire_in_order_at_exact_virtual_times() -> None:
    delays = [3600.0, 0.1, 86_400.5, 0.3, 7.7, 0.2, 1e-9, 59.999]

    async def main() -> list[tuple[float, float]]:
        fired: list[tuple[float, float]] = []
        for delay in delays:
            asyncio.get_running_loop().call_later(delay, lambda delay=delay: fired.append((delay, now())))
        await asyncio.sleep(100_000)
        return fired

    assert run(main) == [(delay, delay) for delay in sorted(delays)]


def test_timers_of_one_instant_fire_in_the_order_in_which_they_were_set() -> None:
    async def main() -> list[int]:
        woken: list[int] = []

        async def sleeper(number: int) -> None:
            await asyncio.sleep(5)
            woken.append(number)

        await asyncio.gather(*(sleeper(number) for number in range(100)))
        return woken

    assert run(main) == list(range(100))


def test_an_hour_passes_at_once() -> None:
    async def main() -> float:
        await asyncio.sleep(3600)
        return now()

    assert run(main) == 3600.0


def test_a_timer_a_century_away_fires_and_so_do_the_short_ones_after_it() -> None:
    async def main() -> float:
        await asyncio.sleep(3.2e9)
        await asyncio.sleep(0.5)
        return now()

    assert run(main) == 3.2e9 + 0.5


def test_a_cancelled_timer_does_not_move_time() -> None:
    async def main() -> float:
        asyncio.get_running_loop().call_later(5, print).cancel()
        await asyncio.wait_for(asyncio.sleep(1), 30)
        return now()

    assert run(main) == 1.0


def test_wait_for_follows_virtual_time() -> None:
    async def main() -> float:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 30)
        return now()

    assert run(main) == 30.0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout came with Python 3.11")
def test_asyncio_timeout_follows_virtual_time() -> None:
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(30):
                await asyncio.Event().wait()
        return now()

    assert run(main) == 30.0


def test_anyio_follows_virtual_time() -> None:
    async def main() -> list[float]:
        times = [anyio.current_time()]
        await anyio.sleep(10)
        times.append(anyio.current_time())
        with pytest.raises(TimeoutError):
            with anyio.fail_after(20):
                await anyio.sleep_forever()
        times.append(anyio.current_time())
        with anyio.move_on_after(30) as scope:
            await anyio.Event().wait()
        assert scope.cancelled_caught
        return [*times, anyio.current_time()]

    assert run(main) == [0.0, 10.0, 30.0, 60.0]


def test_the_loop_serves_anyio_run() -> None:
    async def main() -> float:
        await anyio.to_thread.run_sync(time.sleep, 0.01)
        await anyio.sleep(3600)
        return anyio.current_time()

    assert anyio.run(main, backend_options={"loop_factory": VirtualLoop}) == 3600.0


def test_a_busy_task_does_not_stop_time() -> None:
    async def main() -> float:
        done = asyncio.Event()
        asyncio.get_running_loop().call_later(5, done.set)
        while not done.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0)
        return now()

    assert run(main) == 5.0


def test_a_loop_that_never_rests_and_has_no_timer_is_ended() -> None:
    with pytest.raises(NeverQuiet, match=r"task 'scenario' .* called from spin \(test_clock\.py:\d+\)"):
        run(spin)


# What is outside the loop


def test_a_short_job_in_a_thread_does_not_time_out() -> None:
    async def main() -> float:
        await asyncio.wait_for(asyncio.to_thread(time.sleep, 0.05), 1.0)
        return now()

    assert run(main) == 0.0


def test_a_job_for_an_idle_worker_never_times_out() -> None:
    async def main() -> float:
        for number in range(500):
            assert await asyncio.wait_for(asyncio.to_thread(lambda number=number: number), 1e-6) == number
        return now()

    assert run(main) == 0.0


def test_a_job_for_an_idle_anyio_worker_never_times_out() -> None:
    async def main() -> float:
        for number in range(500):
            with anyio.fail_after(1e-6):
                assert await anyio.to_thread.run_sync(lambda number=number: number) == number
        return now()

    assert run(main) == 0.0


def test_a_job_in_a_pool_older_than_the_loop_does_not_time_out() -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0).result()

        async def main() -> float:
            loop = asyncio.get_running_loop()
            for _ in range(3):
                await asyncio.wait_for(loop.run_in_executor(pool, time.sleep, 0.02), 1.0)
            return now()

        assert run(main) == 0.0


def test_a_job_submitted_past_the_loop_does_not_time_out() -> None:
    async def main() -> float:
        with ThreadPoolExecutor(1) as pool:
            for _ in range(100):
                await asyncio.wait_for(asyncio.wrap_future(pool.submit(time.sleep, 0)), 1e-6)
        return now()

    assert run(main) == 0.0


def test_a_job_in_another_process_does_not_time_out() -> None:
    context = multiprocessing.get_context("spawn")

    async def main() -> int:
        loop = asyncio.get_running_loop()
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return await asyncio.wait_for(loop.run_in_executor(pool, abs, -7), 0.01)

    assert run(main, grace=30) == 7


def test_name_resolution_does_not_time_out() -> None:
    async def main() -> Any:
        loop = asyncio.get_running_loop()
        return await asyncio.wait_for(loop.getaddrinfo("localhost", 80), 0.001)

    assert run(main)


def test_a_file_read_by_anyio_does_not_time_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")

    async def main() -> str:
        with anyio.fail_after(0.001):
            return await anyio.Path(tmp_path / "file").read_text()

    assert run(main) == "text"


def test_a_child_with_pipes_does_not_time_out() -> None:
    async def main() -> tuple[bytes, float]:
        program = "import sys; print(sys.stdin.read().upper())"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(child.communicate(b"word"), 1.0)
        return out.strip(), now()

    assert run(main, grace=30) == (b"WORD", 0.0)


def test_a_child_without_pipes_does_not_time_out() -> None:
    async def main() -> tuple[int, float]:
        program = "import time; time.sleep(0.1); raise SystemExit(3)"
        child = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
        return await asyncio.wait_for(child.wait(), 0.01), now()

    assert run(main, grace=30) == (3, 0.0)


def test_an_answer_over_a_real_socket_does_not_time_out(
    thread: Callable[[Callable[[], object]], object],
) -> None:
    near, far = socket.socketpair()

    def answer() -> None:
        with far:
            question = far.recv(100)
            time.sleep(0.05)
            far.sendall(question.upper())

    async def main() -> tuple[bytes, float]:
        thread(answer)
        reader, writer = await asyncio.open_connection(sock=near)
        writer.write(b"word")
        answered = await asyncio.wait_for(reader.read(), 0.01)
        writer.close()
        await writer.wait_closed()
        return answered, now()

    assert run(main) == (b"WORD", 0.0)


def test_an_answer_from_another_process_over_a_real_socket_does_not_time_out() -> None:
    near, far = socket.socketpair()
    program = f"import os, time; time.sleep(0.05); os.write({far.fileno()}, b'word')"

    async def main() -> tuple[bytes, float]:
        reader, writer = await asyncio.open_connection(sock=near)
        answered = await asyncio.wait_for(reader.read(), 0.01)
        writer.close()
        await writer.wait_closed()
        return answered, now()

    with far, subprocess.Popen([sys.executable, "-c", program], pass_fds=[far.fileno()]):
        far.close()
        assert run(main, grace=30) == (b"word", 0.0)


def test_a_silent_socket_holds_up_time_for_the_grace_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)  # as freezegun does
    near, far = socket.socketpair()

    async def main() -> float:
        reader, writer = await asyncio.open_connection(sock=near)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(reader.read(), 10)
        writer.close()
        await writer.wait_closed()
        return now()

    with far:
        assert run(main, grace=0.02) == 10.0


def test_a_thread_that_never_ends_holds_up_time_for_the_grace_only(
    thread: Callable[[Callable[[], object]], object],
) -> None:
    lock = threading.Lock()
    lock.acquire()

    async def main() -> float:
        thread(lock.acquire)
        await asyncio.sleep(10)
        return now()

    assert run(main, grace=0.02) == 10.0
    lock.release()


def test_a_thread_that_calls_in_after_a_timed_wait_is_waited_for() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        called = asyncio.Event()
        timer = threading.Timer(0.05, loop.call_soon_threadsafe, (called.set,))
        timer.start()
        await asyncio.wait_for(called.wait(), 0.01)
        timer.join()
        return now()

    assert run(main) == 0.0


def test_threads_older_than_the_loop_are_not_waited_for(
    thread: Callable[[Callable[[], object]], object],
) -> None:
    lock = threading.Lock()
    lock.acquire()
    thread(lock.acquire)
    loop = VirtualLoop()
    assert not loop.outside()
    loop.close()
    lock.release()


def test_an_event_loop_older_than_the_loop_is_waited_for_while_it_is_awake(
    thread: Callable[[Callable[[], object]], object],
) -> None:
    kept = asyncio.new_event_loop()  # as a library keeps one for the whole program
    thread(kept.run_forever)

    async def work() -> int:
        time.sleep(0.02)  # noqa: ASYNC251  # nobody else is in that loop
        await asyncio.sleep(0.02)
        return 1

    async def main() -> float:
        for _ in range(5):
            given = asyncio.run_coroutine_threadsafe(work(), kept)
            assert await asyncio.wait_for(asyncio.wrap_future(given), 1.0) == 1
        return now()

    assert run(main) == 0.0
    asleep = VirtualLoop()
    assert eventually(lambda: not asleep.outside())
    asleep.close()
    kept.call_soon_threadsafe(kept.stop)
    assert eventually(lambda: not kept.is_running())
    kept.close()


def test_a_thread_that_waits_for_others_is_parked_and_once_notified_it_is_not(
    loop: VirtualLoop, thread: Callable[[Callable[[], object]], object]
) -> None:
    condition = threading.Condition()

    def wait_once() -> None:
        with condition:
            condition.wait()

    thread(wait_once)
    assert eventually(lambda: not loop.outside())
    with condition:
        condition.notify()
        assert loop.outside()  # it cannot return before we leave the condition
        time.sleep(0.01)  # and by now it has closed its own lock again
        assert loop.outside()
    assert eventually(lambda: not loop.outside())


def test_an_idle_pool_worker_is_parked(loop: VirtualLoop) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0).result()
        assert eventually(lambda: not loop.outside())


def test_an_event_loop_in_a_thread_is_parked_when_it_has_nothing_to_do(
    loop: VirtualLoop, thread: Callable[[Callable[[], object]], object]
) -> None:
    other = asyncio.new_event_loop()
    thread(other.run_forever)
    assert eventually(lambda: not loop.outside())

    async def main() -> float:
        for _ in range(20):
            future = asyncio.run_coroutine_threadsafe(asyncio.sleep(0.001), other)
            await asyncio.wait_for(asyncio.to_thread(future.result), 1e-6)
            await asyncio.wait_for(asyncio.wrap_future(future), 1e-6)
        await loop.shutdown_default_executor()
        return now()

    assert loop.run_until_complete(main()) == 0.0
    other.call_soon_threadsafe(other.stop)
    assert eventually(lambda: not other.is_running())
    other.close()


def test_an_event_loop_in_a_thread_is_not_parked_once_it_has_been_called(
    loop: VirtualLoop, thread: Callable[[Callable[[], object]], object]
) -> None:
    other = asyncio.new_event_loop()
    thread(other.run_forever)
    for _ in range(200):
        assert eventually(lambda: not loop.outside())
        seen = threading.Event()

        def look(seen: threading.Event = seen) -> None:
            while not seen.is_set():
                pass

        other.call_soon_threadsafe(look)
        assert loop.outside()
        seen.set()
    other.call_soon_threadsafe(other.stop)
    assert eventually(lambda: not other.is_running())
    other.close()


# Parties: who is outside and can be asked


class Somebody:
    """A party that answers for what it is told, and is idle when it is told so."""

    def __init__(self, *idle: Callable[[], bool]) -> None:
        self.threads: list[threading.Thread] = []
        self.children: set[int] = set()
        self.addresses: list[tuple[str, int]] = []
        self.asked = 0
        self._idle = list(idle)

    def idle(self) -> bool:
        self.asked += 1
        return not self._idle or self._idle.pop(0)()


def run_with(party: Somebody | None, main: Callable[[], Any]) -> bool:
    """Runs `main` with this party, if any; gives whether a whole grace was waited for in vain."""

    async def with_party() -> bool:
        if party is not None:
            parties(this_loop()).add(party)
        await main()
        return this_loop().waited_in_vain

    return run(with_party, grace=0.05)


@contextlib.asynccontextmanager
async def silent_child() -> AsyncIterator[asyncio.subprocess.Process]:
    """A child that says nothing and ends with its stdin."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield child
    finally:
        assert child.stdin is not None
        child.stdin.close()
        this_loop().grace = 30
        await child.wait()


@pytest.mark.parametrize("known", [True, False])
def test_the_children_of_an_idle_party_hold_up_no_time(known: bool) -> None:
    party = Somebody()

    async def main() -> None:
        async with silent_child() as child:
            if known:
                party.children.add(child.pid)
            for _ in range(3):
                await asyncio.sleep(3600)
            party.children.clear()

    assert run_with(party, main) is not known
    assert party.asked


@pytest.mark.parametrize("known", [True, False])
def test_the_peers_of_an_idle_party_hold_up_no_time(known: bool) -> None:
    party = Somebody()

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            if known:
                party.addresses.append(listening.getsockname())
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(reader.read(), 3600)
            party.addresses.clear()
            writer.close()
            await writer.wait_closed()

    assert run_with(party, main) is not known


@pytest.mark.parametrize("known", [True, False])
def test_the_threads_of_an_idle_party_hold_up_no_time(
    known: bool, thread: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    party = Somebody()
    lock = threading.Lock()
    lock.acquire()

    async def main() -> None:
        ours = thread(lock.acquire)
        if known:
            party.threads.append(ours)
        await asyncio.sleep(3600)

    assert run_with(party, main) is not known
    lock.release()


def test_a_party_that_is_not_idle_is_waited_for() -> None:
    said: list[str] = []
    party = Somebody()

    def hands_over() -> bool:
        asyncio.get_running_loop().call_soon_threadsafe(said.append, "word")
        return True

    party._idle = [lambda: False, lambda: False, lambda: False, hands_over]

    async def main() -> None:
        await asyncio.sleep(1e-9)
        assert (said, party.asked) == (["word"], 5)

    assert not run_with(party, main)


def test_a_party_that_is_never_idle_holds_up_time_for_the_grace_only() -> None:
    party = Somebody(*[lambda: False] * 1000)

    async def main() -> None:
        await asyncio.sleep(3600)

    assert run_with(party, main)


def test_a_party_that_is_gone_is_not_asked() -> None:
    party = Somebody()

    async def main() -> None:
        parties(this_loop()).discard(party)
        await asyncio.sleep(3600)

    run_with(party, main)
    assert party.asked == 0


def test_an_event_loop_in_a_thread_that_waits_for_the_child_of_an_idle_party_is_parked(
    thread: Callable[[Callable[[], object]], object],
) -> None:
    loop, party = VirtualLoop(), Somebody()
    started: list[int] = []
    done = threading.Event()

    async def lives_with_a_child() -> None:
        program = "import sys; sys.stdin.read()"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-c", program, stdin=asyncio.subprocess.PIPE
        )
        started.append(child.pid)
        await asyncio.get_running_loop().run_in_executor(None, done.wait)
        await child.communicate(b"")

    thread(lambda: asyncio.run(lives_with_a_child()))
    assert eventually(lambda: bool(started))
    assert loop.outside()
    parties(loop).add(party)
    party.children.update(started)
    assert eventually(lambda: not loop.outside())
    party.children.clear()
    assert loop.outside()
    done.set()
    loop.close()


@pytest.mark.parametrize("make", [VirtualLoop, asyncio.SelectorEventLoop])
def test_settle_waits_for_what_a_party_hands_over(make: Callable[[], asyncio.AbstractEventLoop]) -> None:
    said: list[str] = []

    def hands_over(word: str, idle: bool) -> bool:
        asyncio.get_running_loop().call_soon_threadsafe(said.append, word)
        return idle

    party = Somebody(
        lambda: False, lambda: hands_over("first", False), lambda: hands_over("second", True), lambda: True
    )

    async def main() -> None:
        parties(asyncio.get_running_loop()).add(party)
        await settle()
        assert said == ["first", "second"]

    loop = make()
    loop.run_until_complete(main())
    loop.close()


def test_a_thread_that_did_something_between_the_looks_at_it_is_not_parked(
    loop: VirtualLoop, thread: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    other = asyncio.new_event_loop()
    theirs = thread(other.run_forever)

    def parked() -> bool:
        return sys._current_frames()[theirs.ident or 0].f_code is selectors.DefaultSelector.select.__code__

    def acts_meanwhile() -> bool:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), other).result()
        return eventually(parked)

    party = Somebody(acts_meanwhile)
    assert eventually(lambda: not loop.outside())
    parties(loop).add(party)
    assert loop.outside()
    assert not loop.outside()
    other.call_soon_threadsafe(other.stop)
    assert eventually(lambda: not other.is_running())
    other.close()


def test_a_thread_that_wakes_up_while_it_is_looked_at_is_not_parked(
    loop: VirtualLoop,
    thread: Callable[[Callable[[], object]], threading.Thread],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = asyncio.new_event_loop()
    theirs = thread(other.run_forever)
    assert eventually(lambda: not loop.outside())
    works, released = threading.Event(), threading.Event()
    looks = iter([False, True])
    parked_on = quiet._parked_on

    def work() -> None:
        works.set()
        released.wait()

    def looks_late(frame: FrameType, *how: Any) -> object:
        if sys._current_frames()[theirs.ident or 0] is frame and next(looks, False):
            other.call_soon_threadsafe(other.call_soon, work)  # by then the call itself is read and gone
            works.wait()
        return parked_on(frame, *how)

    monkeypatch.setattr(quiet, "_parked_on", looks_late)
    outside = loop.outside()
    released.set()
    other.call_soon_threadsafe(other.stop)
    assert eventually(lambda: not other.is_running())
    other.close()
    assert outside


def test_an_event_loop_that_is_closed_while_it_is_looked_at_is_not_parked(
    loop: VirtualLoop,
    thread: Callable[[Callable[[], object]], threading.Thread],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = asyncio.new_event_loop()

    def live() -> None:
        other.run_forever()
        other.close()

    theirs = thread(live)
    assert eventually(lambda: not loop.outside())
    parked_on = quiet._parked_on

    def looks_late(frame: FrameType, *how: Any) -> object:
        if sys._current_frames().get(theirs.ident or 0) is frame:
            other.call_soon_threadsafe(other.stop)
            theirs.join()
        return parked_on(frame, *how)

    monkeypatch.setattr(quiet, "_parked_on", looks_late)
    assert loop.outside()
    assert not loop.outside()


# Stuck, and who waits for what


async def inner(event: asyncio.Event) -> None:
    await event.wait()


async def stream(event: asyncio.Event) -> AsyncIterator[int]:
    await inner(event)
    yield 1


def test_stuck_names_the_task_and_the_place() -> None:
    async def main() -> None:
        await inner(asyncio.Event())

    with pytest.raises(Stuck) as caught:
        run(main)
    line = inner.__code__.co_firstlineno + 1
    there = main.__code__.co_firstlineno + 1
    assert "task 'scenario' waits in Event.wait (locks.py:" in str(caught.value)
    assert f"called from inner (test_clock.py:{line}) called from main (test_clock.py:{there})" in str(
        caught.value
    )


def test_stuck_says_what_to_do_and_names_no_folder() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match="give the wait a timeout") as caught:
        run(main)
    assert os.sep not in str(caught.value)


def test_waiting_for_ever_is_stuck_not_a_timer() -> None:
    with pytest.raises(Stuck, match="task 'scenario'"):
        run(anyio.sleep_forever)


def test_the_description_follows_async_generators() -> None:
    async def loops() -> None:
        async for _ in stream(asyncio.Event()):
            pass

    async def steps() -> None:
        await anext(stream(asyncio.Event()), None)

    async def closes() -> None:
        async def generator() -> AsyncIterator[int]:
            try:
                yield 1
            finally:
                await inner(asyncio.Event())

        generated = generator()
        await anext(generated)
        await generated.aclose()  # type: ignore[attr-defined]

    async def main() -> list[str]:
        tasks = [asyncio.create_task(each(), name=each.__name__) for each in (loops, steps, closes)]
        await settle()
        return describe_tasks(tasks)

    closing, looping, stepping = run(main)
    for line, outer in ((closing, "generator"), (looping, "stream"), (stepping, "stream")):
        assert "in Event.wait (locks.py:" in line
        assert f"called from {outer} (test_clock.py:" in line
    assert "called from closes (test_clock.py:" in closing
    assert "called from loops (test_clock.py:" in looping
    assert "called from steps (test_clock.py:" in stepping


def test_the_description_follows_awaitable_objects() -> None:
    class Reply:
        def __await__(self) -> Any:
            return inner(asyncio.Event()).__await__()

    async def asks() -> None:
        await Reply()

    async def main() -> list[str]:
        task = asyncio.create_task(asks(), name="asks")
        await settle()
        return describe_tasks([task])

    assert "called from inner (test_clock.py:" in run(main)[0]


def test_the_description_names_the_task_that_is_waited_for() -> None:
    async def main() -> list[str]:
        first = asyncio.create_task(inner(asyncio.Event()), name="first")

        async def waits() -> None:
            await first

        asyncio.create_task(waits(), name="second")  # noqa: RUF006
        await settle()
        return describe_tasks(asyncio.get_running_loop())

    first, main_line, second = sorted(run(main))
    assert first.startswith("task 'first' waits in Event.wait")
    assert main_line.startswith("task 'scenario'")
    assert second.startswith("task 'second' waits for task 'first' in waits (test_clock.py:")


def test_finished_tasks_are_not_described() -> None:
    async def main() -> list[str]:
        task = asyncio.create_task(asyncio.sleep(0))
        await task
        return describe_tasks([task])

    assert run(main) == []


def test_a_hook_may_help_a_stuck_loop() -> None:
    async def main() -> str:
        event = asyncio.Event()
        this_loop().on_stuck = event.set
        await event.wait()
        return "helped"

    assert run(main) == "helped"


def test_a_stuck_scenario_is_unwound() -> None:
    unwound: list[str] = []

    async def main() -> None:
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(unwound.append, "main")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child)
                await asyncio.Event().wait()

    async def child() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(3)
            unwound.append("child")

    with pytest.raises(Stuck):
        run(main)
    assert unwound == ["child", "main"]


def test_a_stuck_scenario_that_fails_in_its_clean_up_is_stuck(quiet_end: None) -> None:
    async def main() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("cannot clean up")

    with pytest.raises(Stuck):
        run(main)


# settle


def test_after_settle_nothing_changes_any_more() -> None:
    """Random chains of tasks over memory streams, queues, events and timers of no delay."""

    async def a_round(seed: int) -> None:
        chance = random.Random(seed)
        size = chance.randint(2, 6)
        under_way = 0
        streams = [anyio.create_memory_object_stream[int](1000) for _ in range(size)]
        queue: asyncio.Queue[int] = asyncio.Queue()

        async def linger() -> None:
            match chance.randrange(5):
                case 0:
                    await anyio.lowlevel.checkpoint()
                case 1:
                    await asyncio.sleep(0)
                case 2:
                    event = anyio.Event()
                    asyncio.get_running_loop().call_soon(event.set)
                    await event.wait()
                case 3:
                    event = anyio.Event()
                    asyncio.get_running_loop().call_later(0, event.set)
                    await event.wait()
                case _:
                    await asyncio.gather(asyncio.sleep(0), anyio.lowlevel.cancel_shielded_checkpoint())

        async def pass_on(hops: int) -> None:
            nonlocal under_way
            await linger()
            for _ in range(chance.randint(0, 2) if hops else 0):
                under_way += 1
                if chance.random() < 0.2:
                    queue.put_nowait(hops - 1)
                else:
                    await streams[chance.randrange(size)][0].send(hops - 1)
            under_way -= 1

        async def node(number: int) -> None:
            async for hops in streams[number][1]:
                await pass_on(hops)

        async def drain() -> None:
            while True:
                await pass_on(await queue.get())

        async with anyio.create_task_group() as tasks:
            for number in range(size):
                tasks.start_soon(node, number)
            tasks.start_soon(drain)
            for _ in range(3):
                under_way += 1
                streams[chance.randrange(size)][0].send_nowait(chance.randint(1, 6))
                await settle()
                assert under_way == 0, f"seed {seed}"
            tasks.cancel_scope.cancel()
        for sender, receiver in streams:
            sender.close()
            receiver.close()

    async def main() -> float:
        for seed in range(400):
            await a_round(seed)
        return now()

    assert run(main) == 0.0


def test_settle_does_not_move_time() -> None:
    async def main() -> float:
        async def heartbeat() -> None:
            while True:  # noqa: ASYNC110
                await asyncio.sleep(1e-6)

        task = asyncio.create_task(heartbeat())
        for _ in range(50):
            await settle()
        task.cancel()
        return now()

    assert run(main) == 0.0


def test_settle_does_not_move_time_however_long_the_loop_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "_BUSY_PASSES", 50)

    async def main() -> float:
        task = asyncio.create_task(spin())
        asyncio.get_running_loop().call_later(1, print)
        with pytest.raises(NeverQuiet):
            await settle(max_passes=200)
        task.cancel()
        return now()

    assert run(main) == 0.0


def test_settle_runs_the_timers_that_are_due_now() -> None:
    async def main() -> bool:
        event = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.call_at(loop.time(), lambda: loop.call_later(0, event.set))
        await settle()
        return event.is_set()

    assert run(main)


def test_settle_waits_for_threads() -> None:
    async def main() -> list[str]:
        done: list[str] = []

        async def in_a_thread() -> None:
            await asyncio.to_thread(time.sleep, 0.05)
            done.append("asyncio")

        async def in_another() -> None:
            await anyio.to_thread.run_sync(time.sleep, 0.1)
            done.append("anyio")

        tasks = [asyncio.create_task(in_a_thread()), asyncio.create_task(in_another())]
        await settle()
        assert all(task.done() for task in tasks)
        return done

    assert run(main) == ["asyncio", "anyio"]


def test_settle_waits_for_the_thread_of_a_cancelled_task() -> None:
    async def main() -> list[str]:
        done: list[str] = []

        def job() -> None:
            time.sleep(0.05)
            done.append("job")

        task = asyncio.create_task(asyncio.to_thread(job))
        await asyncio.sleep(0)
        task.cancel()
        await settle()
        return done

    assert run(main) in (["job"], [])  # a job that no worker had taken up yet is cancelled with its task


def test_settle_sees_what_a_thread_sends_on_to_another_thread() -> None:
    async def main() -> int:
        received: list[int] = []
        loop = asyncio.get_running_loop()
        first, second = ThreadPoolExecutor(1), ThreadPoolExecutor(1)

        def report(number: int) -> None:
            loop.call_soon_threadsafe(received.append, number)

        for number in range(200):
            first.submit(second.submit, report, number)
            await settle()
            assert received[-1] == number
        first.shutdown()
        second.shutdown()
        return len(received)

    assert run(main) == 200


def test_a_busy_task_is_never_quiet_and_named() -> None:
    async def main() -> str:
        task = asyncio.create_task(spin(), name="spinner")
        with pytest.raises(NeverQuiet) as caught:
            await settle(max_passes=100)
        task.cancel()
        return str(caught.value)

    message = run(main)
    assert "after 100 passes" in message
    assert "task 'spinner' runs in" in message
    assert "called from spin (test_clock.py:" in message
    assert "scenario" not in message


def test_two_tasks_that_keep_each_other_busy_are_both_named() -> None:
    async def main() -> str:
        async def volley(hits: asyncio.Queue[int], returns: asyncio.Queue[int]) -> None:
            while True:
                returns.put_nowait(await hits.get())

        ping: asyncio.Queue[int] = asyncio.Queue()
        pong: asyncio.Queue[int] = asyncio.Queue()
        tasks = [
            asyncio.create_task(volley(ping, pong), name="left"),
            asyncio.create_task(volley(pong, ping), name="right"),
        ]
        ping.put_nowait(1)
        with pytest.raises(NeverQuiet) as caught:
            await settle(max_passes=100)
        for task in tasks:
            task.cancel()
        return str(caught.value)

    message = run(main)
    assert "task 'left'" in message
    assert "task 'right'" in message


def test_a_cancellation_that_is_delivered_again_and_again_is_never_quiet() -> None:
    async def main() -> str:
        release = asyncio.Event()

        async def stubborn() -> None:
            while not release.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await release.wait()

        async def scope() -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(stubborn, name="stubborn")
                await asyncio.sleep(0)
                tasks.cancel_scope.cancel()

        task = asyncio.create_task(scope(), name="scope")
        with pytest.raises(NeverQuiet) as caught:
            await settle(max_passes=200)
        release.set()
        await task
        return str(caught.value)

    message = run(main)
    assert "task 'stubborn'" in message
    assert "callback CancelScope._deliver_cancellation" in message


def test_a_shielded_task_in_a_cancelled_scope_is_quiet_while_it_waits() -> None:
    async def main() -> float:
        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope(shield=True):
                tasks.cancel_scope.cancel()
                await settle()
                await anyio.sleep(5)
                await settle()
        return now()

    assert run(main) == 5.0


def test_several_tasks_may_settle_at_once() -> None:
    async def main() -> list[bool]:
        async def settled(after: int) -> bool:
            for _ in range(after):
                await asyncio.sleep(0)
            await settle(max_passes=200)
            return True

        return await asyncio.gather(*(settled(after) for after in range(5)))

    assert run(main) == [True] * 5


def test_settle_can_be_cancelled() -> None:
    async def main() -> None:
        spinner, settler = asyncio.create_task(spin()), asyncio.create_task(settle())
        await asyncio.sleep(0)
        settler.cancel()
        with pytest.raises(asyncio.CancelledError):
            await settler
        spinner.cancel()
        await settle(max_passes=100)

    run(main)


def test_settle_serves_a_plain_loop() -> None:
    async def main() -> list[int]:
        sender, receiver = anyio.create_memory_object_stream[int](10)
        received: list[int] = []

        async def receive() -> None:
            async with receiver:
                async for number in receiver:
                    await anyio.lowlevel.checkpoint()
                    received.append(number)

        task = asyncio.create_task(receive())
        async with sender:
            for number in range(5):
                sender.send_nowait(number)
            await settle()
        await task
        return received

    assert asyncio.run(main()) == list(range(5))


def test_settle_serves_a_loop_that_hides_its_ready_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hidden(asyncio.SelectorEventLoop):
        def __getattribute__(self, name: str) -> Any:
            if name == "_ready" and sys._getframe(1).f_code.co_filename == quiet.__file__:
                raise AttributeError(name)
            return super().__getattribute__(name)

    calls: list[int] = []

    async def main() -> tuple[list[int], str]:
        steps: list[int] = []

        async def walk() -> None:
            for step in range(100):
                await asyncio.sleep(0)
                steps.append(step)
            await asyncio.Event().wait()

        def call(times: int) -> None:
            calls.append(times)
            if times:
                asyncio.get_running_loop().call_soon(call, times - 1)

        walker = asyncio.create_task(walk())
        await settle()
        call(10)
        await settle()
        assert calls == list(reversed(range(11)))
        spinner = asyncio.create_task(spin(), name="spinner")
        with pytest.raises(NeverQuiet) as caught:
            await settle(max_passes=200)
        for task in (walker, spinner):
            task.cancel()
        await asyncio.gather(walker, spinner, return_exceptions=True)
        return steps, str(caught.value)

    loop = Hidden()
    steps, message = loop.run_until_complete(main())
    loop.close()
    assert steps == list(range(100))
    assert "task 'spinner'" in message
    assert "Task-" not in message


def test_settle_serves_uvloop() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> list[int]:
        steps: list[int] = []

        async def walk() -> None:
            for step in range(100):
                await asyncio.sleep(0)
                steps.append(step)

        task = asyncio.create_task(walk())
        await settle()
        assert task.done()
        return steps

    loop = uvloop.new_event_loop()
    assert loop.run_until_complete(main()) == list(range(100))
    loop.close()


# Clock


def test_the_clock_starts_at_its_epoch_and_follows_the_loop(loop: VirtualLoop) -> None:
    clock = Clock(loop)
    assert (clock.time(), clock.monotonic()) == (EPOCH, 0.0)
    loop.run_until_complete(asyncio.sleep(90))
    assert (clock.time(), clock.monotonic()) == (EPOCH + 90, 90.0)


def test_the_clock_takes_another_epoch(loop: VirtualLoop) -> None:
    assert Clock(loop, epoch=1000.0).time() == 1000.0


def test_advancing_the_clock_lets_what_is_due_happen() -> None:
    async def main() -> tuple[list[float], float]:
        clock = Clock(asyncio.get_running_loop())
        beats: list[float] = []

        async def heartbeat() -> None:
            while True:
                await asyncio.sleep(1)
                beats.append(clock.monotonic())

        task = asyncio.create_task(heartbeat())
        await clock.advance(3.5)
        await clock.advance(0)
        task.cancel()
        return beats, clock.monotonic()

    assert run(main) == ([1.0, 2.0, 3.0], 3.5)


@pytest.mark.parametrize("seconds", [-1, -1e-9, float("nan"), float("inf")])
def test_the_clock_refuses_to_advance_by_no_number_of_seconds(seconds: float) -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="finite number from 0 on"):
            await Clock(asyncio.get_running_loop()).advance(seconds)

    run(main)


def test_the_clock_of_another_loop_does_not_advance(loop: VirtualLoop) -> None:
    async def main() -> None:
        with pytest.raises(RuntimeError, match="another loop"):
            await Clock(loop).advance(1)

    run(main)


# run


def test_run_returns_what_the_coroutine_returns() -> None:
    async def main() -> str | None:
        task = asyncio.current_task()
        return task.get_name() if task else None

    assert run(main) == "scenario"
    assert run(main, name="other") == "other"


@pytest.mark.parametrize(
    "kind", [ValueError, KeyboardInterrupt, SystemExit, asyncio.CancelledError, pytest.fail.Exception]
)
def test_run_raises_what_the_coroutine_raises(kind: type[BaseException], quiet_end: None) -> None:
    error = kind("message")

    async def main() -> None:
        await asyncio.sleep(1)
        raise error

    with pytest.raises(kind) as caught:
        run(main)
    if kind is not asyncio.CancelledError:  # asyncio makes a new one
        assert caught.value is error


@pytest.fixture
def quiet_end(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test that leaves a word behind, at once or when its garbage is collected."""
    with caplog.at_level(logging.WARNING):
        yield
        gc.collect()
    said = caplog.get_records("call") + caplog.get_records("teardown")
    assert [record.getMessage() for record in said] == []


@pytest.mark.asyncio
async def test_run_refuses_to_run_inside_a_running_loop() -> None:
    async def main() -> None: ...

    with pytest.raises(RuntimeError, match="where no event loop runs"):
        run(main)


def test_run_leaves_the_current_event_loop_of_the_thread_as_it_is() -> None:
    ours = asyncio.new_event_loop()

    def before_and_after() -> None:
        with pytest.raises(RuntimeError):
            asyncio.get_event_loop_policy().get_event_loop()
        run(anyio.lowlevel.checkpoint)
        with pytest.raises(RuntimeError):
            asyncio.get_event_loop_policy().get_event_loop()
        asyncio.set_event_loop(ours)
        run(anyio.lowlevel.checkpoint)
        assert asyncio.get_event_loop_policy().get_event_loop() is ours

    with ThreadPoolExecutor(1) as pool:  # a thread other than the main one has no current loop to begin with
        pool.submit(before_and_after).result()
    ours.close()


def test_inside_run_the_current_event_loop_is_the_virtual_one() -> None:
    async def main() -> None:
        assert asyncio.get_event_loop() is asyncio.get_running_loop() is this_loop()

    run(main)


def test_run_hands_on_an_error_in_making_the_coroutine(quiet_end: None) -> None:
    def main() -> Any:
        raise LookupError("no coroutine")

    with pytest.raises(LookupError, match="no coroutine"):
        run(main)


def test_tasks_left_over_are_reported_and_cancelled(quiet_end: None) -> None:
    leftovers: list[str] = []
    cancelled: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append("waits")
            raise

    async def finishes() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        await asyncio.to_thread(time.sleep, 0.01)

    async def main() -> str:
        main.tasks = [  # type: ignore[attr-defined]
            asyncio.create_task(waits(), name="waits"),
            asyncio.create_task(finishes(), name="finishes"),
        ]
        return "result"

    assert run(main, leftovers=leftovers) == "result"
    (line,) = leftovers
    assert line.startswith("task 'waits' waits in sleep (tasks.py:")
    assert "called from waits (test_clock.py:" in line
    assert cancelled == ["waits"]


def test_tasks_left_over_by_a_failing_coroutine_are_reported_too(quiet_end: None) -> None:
    leftovers: list[str] = []

    async def main() -> None:
        main.task = asyncio.create_task(asyncio.sleep(30), name="left")  # type: ignore[attr-defined]
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        run(main, leftovers=leftovers)
    assert [line.split("'")[1] for line in leftovers] == ["left"]


def test_nothing_left_over_gives_no_line() -> None:
    leftovers: list[str] = []
    run(anyio.lowlevel.checkpoint, leftovers=leftovers)
    assert leftovers == []


async def waits_on() -> None:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def sleeps_on() -> None:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(1)


async def spins_on() -> None:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


async def waits_on_and_cleans_up() -> None:
    try:
        await waits_on()
    finally:
        await asyncio.sleep(1)


@pytest.mark.parametrize("stubborn", [waits_on, sleeps_on, spins_on, waits_on_and_cleans_up])
def test_a_task_that_refuses_to_be_cancelled_is_reported_and_does_not_hang_the_run(
    stubborn: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    leftovers: list[str] = []

    async def main() -> str:
        main.task = asyncio.create_task(stubborn(), name="stubborn")  # type: ignore[attr-defined]
        return "result"

    assert run(main, leftovers=leftovers) == "result"
    assert leftovers[0].startswith("task 'stubborn' waits in")
    assert leftovers[1].endswith("and refused 3 cancellations")
    del main.task  # type: ignore[attr-defined]
    gc.collect()
    (message,) = caplog.messages
    assert message.startswith(leftovers[1])


def test_a_stuck_scenario_that_refuses_to_be_cancelled_does_not_hang_the_run() -> None:
    leftovers: list[str] = []
    with pytest.raises(Stuck):
        run(waits_on, leftovers=leftovers)
    (line,) = leftovers
    assert line.startswith("task 'scenario'")
    assert line.endswith("and refused 3 cancellations")


def test_a_clean_up_that_takes_time_is_let_finish(quiet_end: None) -> None:
    cleaned: list[float] = []

    async def child() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(2)
            await asyncio.to_thread(time.sleep, 0.01)
            cleaned.append(now())

    async def main() -> None:
        main.task = asyncio.create_task(child())  # type: ignore[attr-defined]
        await asyncio.sleep(1)

    run(main)
    assert cleaned == [3.0]


def test_a_clean_up_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def child() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            raise ValueError("cannot clean up")

    async def main() -> None:
        main.task = asyncio.create_task(child(), name="child")  # type: ignore[attr-defined]

    run(main)
    del main.task  # type: ignore[attr-defined]
    gc.collect()
    (record,) = caplog.records
    assert "Task 'child' failed when it was cancelled" in record.getMessage()


def test_async_generators_are_closed_at_the_end(quiet_end: None) -> None:
    closed: list[str] = []

    async def numbers(name: str) -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            await asyncio.sleep(0)
            closed.append(name)

    async def main() -> None:
        main.kept = numbers("kept")  # type: ignore[attr-defined]
        await anext(main.kept)  # type: ignore[attr-defined]
        await anext(numbers("dropped"))

    run(main)
    assert sorted(closed) == ["dropped", "kept"]


def test_an_async_generator_that_does_not_close_does_not_hang_the_run() -> None:
    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
        finally:
            await asyncio.Event().wait()

    async def main() -> None:
        main.kept = numbers()  # type: ignore[attr-defined]
        await anext(main.kept)  # type: ignore[attr-defined]

    run(main)


def test_closing_does_not_move_time(quiet_end: None) -> None:
    async def main() -> VirtualLoop:
        await asyncio.to_thread(time.sleep, 0.01)
        await anyio.to_thread.run_sync(time.sleep, 0.01)
        await asyncio.sleep(7)
        return this_loop()

    loop = run(main)
    assert loop.is_closed()
    assert loop.time() == 7.0


def test_no_thread_of_the_executor_outlives_the_run() -> None:
    before = set(threading.enumerate())

    async def main() -> None:
        await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.01) for _ in range(5)))
        await anyio.to_thread.run_sync(time.sleep, 0.01)

    run(main)
    assert eventually(lambda: set(threading.enumerate()) <= before)


def test_a_job_that_never_ends_does_not_hang_the_run(caplog: pytest.LogCaptureFixture) -> None:
    lock = threading.Lock()
    lock.acquire()
    leftovers: list[str] = []

    async def main() -> str:
        main.task = asyncio.create_task(asyncio.to_thread(lock.acquire), name="job")  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        return "result"

    assert run(main, grace=0.05, leftovers=leftovers) == "result"
    lock.release()
    assert [line.split("'")[1] for line in leftovers] == ["job"]
    assert any("default executor still works after 0.05 seconds" in message for message in caplog.messages)


def test_runner_and_asyncio_run_close_the_loop_without_a_jump() -> None:
    runner = getattr(asyncio, "Runner", None)
    if runner is None:
        pytest.skip("asyncio.Runner came with Python 3.11")

    async def main() -> VirtualLoop:
        await asyncio.to_thread(time.sleep, 0.01)
        return this_loop()

    with runner(loop_factory=VirtualLoop) as running:
        loop = running.run(main())
    assert loop.time() == 0.0
