"""No thread, socket, file or process is left after a scenario; and what merely stays is no leak."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.clock import Hand
from pytest_mcp_conformance.contract import WAYS, Claims, Verdict, Wrapper, adapter
from pytest_mcp_conformance.history import HistoryWriter
from pytest_mcp_conformance.scenarios import CATALOGUE, _leaks, _run
from pytest_mcp_conformance.scenarios._census import Census
from pytest_mcp_conformance.scenarios._player import play
from tests.leaky import INNOCENT, LEAKS, Keeper, leaky
from tests.ways.facade import SyncClient, facade

SCENARIO = next(scenario for scenario in CATALOGUE if scenario.name == "answer_of_the_wrong_type")
OVER_ALL = next(scenario for scenario in CATALOGUE if scenario.name == "overtaken_listing")


def played(subject, scenario=SCENARIO, way="memory", variant=""):
    variant = variant or scenario.variants[0]
    return play(scenario, subject, era="handshake", way=way, variant=variant, compare=False)


def closing(subject, **given):
    """What is said of CONN-9; None where nothing is."""
    return next((j for j in played(subject, **given).judgements if j.rule == "CONN-9"), None)


@pytest.fixture
def keeper():
    with Keeper() as keeper:
        yield keeper


@pytest.mark.parametrize("kind", LEAKS)
def test_what_is_left_is_named(keeper, kind):
    leak, said = LEAKS[kind]
    found = closing(leaky(leak, keeper))
    assert found.verdict is Verdict.BROKEN
    assert found.hard
    assert found.detail.startswith("left after close: ")
    assert said in found.detail


def test_whoever_leaves_something_everywhere_is_waited_for_in_full_once(keeper):
    subject = leaky(LEAKS["thread"][0], keeper)
    first = _leaks._looks(subject)
    assert closing(subject).verdict is Verdict.BROKEN
    assert _leaks._looks(subject) < first
    assert closing(subject).verdict is Verdict.BROKEN


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="files are seen in /proc alone")
def test_a_history_that_is_being_written_is_nothing_that_is_left(tmp_path):
    before = Census()
    with HistoryWriter(tmp_path / "one.history.jsonl"):
        assert Census().since(before) == []
        with (tmp_path / "another").open("w"):
            assert [thing.kind for thing in Census().since(before)] == ["file"]


@pytest.mark.parametrize("kind", INNOCENT)
def test_what_does_not_grow_is_no_leak(kind):
    leak, at_most = INNOCENT[kind]
    with Keeper(at_most=at_most) as keeper:
        subject = leaky(leak, keeper)
        assert closing(subject) is None
        assert at_most is None or len(keeper.kept) >= at_most
        assert closing(subject) is None


def test_a_second_look_is_taken_where_something_seems_to_be_left_only():
    entered = []

    async def note(keeper, dial):
        entered.append(dial)

    subject = leaky(note, Keeper())
    played(subject)
    entered.clear()
    played(subject)
    assert len(entered) == 1


class Run:
    def __init__(self, failed=""):
        self.failed = failed


@pytest.mark.parametrize("start", [threading.Thread, Hand], ids=["a thread", "a verb"])
@pytest.mark.parametrize("failed", ["", "list_tools raised"], ids=["to its end", "not to its end"])
def test_what_may_be_in_use_is_no_leak(start, failed):
    """While a verb runs, and after a play that broke off, what is left may be needed still."""
    stop, started = threading.Event(), []

    def once():
        for make in (threading.Thread, start):
            started.append(make(target=stop.wait, name="helper"))
            started[-1].start()
        return Run(failed)

    try:
        _, left = _leaks.watched(leaky(None, Keeper()), once, once)
        assert bool(left) is (start is threading.Thread and not failed)
    finally:
        stop.set()
        for thread in started:
            thread.join()


@pytest.mark.parametrize("way", WAYS)
def test_the_ways_in_leave_nothing(way):
    before = Census()
    for subject in (bundled()["reference"], bundled()["mcp-session"], facade(SyncClient)):
        if way not in (subject.claims.transports or WAYS):
            continue
        assert closing(subject, scenario=OVER_ALL, way=way) is None
    assert _leaks._left(before, bundled()["reference"]) == []


def test_a_thread_of_another_make_is_not_counted():
    import _thread

    stop, there = threading.Event(), threading.Event()
    before = Census()

    def stay():
        threading.current_thread()  # makes itself known, as any thread does that logs
        there.set()
        stop.wait()

    _thread.start_new_thread(stay, ())
    try:
        there.wait()
        assert [thing.text for thing in Census().since(before)] == []
    finally:
        stop.set()


@pytest.mark.parametrize(
    ("subject", "way", "clock"),
    [
        (bundled()["reference"], "memory", "virtual"),
        (bundled()["reference"], "http", "virtual"),
        (bundled()["reference"], "loopback", "real, bounded by 5 s"),
        (bundled()["reference"], "stdio", "real, bounded by 5 s"),
        (facade(SyncClient), "http", "real, bounded by 5 s"),
        (facade(SyncClient), "stdio", "real, bounded by 5 s"),
    ],
    ids=lambda given: getattr(given, "name", None),
)
def test_a_verdict_says_by_which_clock_it_was_found(subject, way, clock, monkeypatch):
    monkeypatch.setattr(_run, "silent", set())  # on a busy machine whoever was played before is in it
    assert played(subject, scenario=OVER_ALL, way=way).clock == clock


def test_one_job_in_a_thread_is_not_virtual(keeper):
    async def job(keeper, dial):
        await asyncio.to_thread(int)

    assert played(leaky(job, keeper)).clock == "real, bounded by 5 s"


def test_a_verb_in_a_thread_is_not_virtual():
    @adapter("plain", claims=Claims(eras=("handshake",), transports=("memory",)))
    async def plain(dial):
        async with dial.session() as session:
            loop = asyncio.get_running_loop()

            def wait_for(coroutine):
                return asyncio.run_coroutine_threadsafe(coroutine, loop).result(10)

            yield Wrapper(
                list_tools=lambda: wait_for(session.list_tools()).tools,
                call_tool=lambda tool, arguments: wait_for(session.call_tool(tool.name, arguments)),
            )

    assert played(plain).clock == "real, bounded by 5 s"


def test_a_plain_verb_that_waits_for_nobody_is_virtual():
    @adapter("forgets", claims=Claims(eras=("handshake",), transports=("memory",)))
    async def forgets(dial):
        async with dial.session() as session:
            kept = []

            async def list_tools():
                kept[:] = kept or (await session.list_tools()).tools
                return kept

            async def call_tool(tool, arguments):
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool, invalidate=kept.clear)

    [overtaken] = [each for each in CATALOGUE if each.name == "overtaken_refetch"]
    assert {played(forgets, scenario=overtaken).clock for _ in range(5)} == {"virtual"}


def test_what_was_not_played_has_no_clock():
    refuses = facade(SyncClient)
    assert play(SCENARIO, refuses, era="modern", way="http").clock == ""
