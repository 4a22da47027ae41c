"""The fixtures for a suite of the user's own, in every kind of test."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.plugin.outer import forget_the_run_around

ROOT = Path(__file__).parents[2]
PLUGINS = ("pytest_mcp_conformance.plugin", "anyio.pytest_plugin", "pytest_asyncio.plugin")
LISTS = """
    async with mcp_server.dial().session() as session:
        await session.list_tools()
    assert [entry.kind for entry in mcp_history] == [
        "opened", "asked", "answered", "told", "asked", "answered", "closed",
    ]
"""


@pytest.fixture
def own(pytester, monkeypatch):
    """Run tests of the user's own in a process of its own."""
    forget_the_run_around(monkeypatch)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")

    def run(source, *arguments, without=()):
        pytester.makepyfile(test_own=source)
        named = [f"-p{name}" for name in PLUGINS if name not in without]
        if "pytest_asyncio.plugin" not in without:
            named += ["-o", "asyncio_default_fixture_loop_scope=function"]
        return pytester.runpytest_subprocess(*named, "-v", "-Werror", *arguments)

    return run


def test_they_work_in_every_kind_of_test(own):
    source = f"""
import asyncio
import pytest

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.asyncio
async def test_of_pytest_asyncio(mcp_server, mcp_history):{LISTS}

@pytest.mark.anyio
async def test_of_anyio(mcp_server, mcp_history):{LISTS}

@pytest.mark.mcp_loop
async def test_of_the_kit(mcp_server, mcp_history, mcp_clock):{LISTS}

def test_plain(mcp_server, mcp_history):
    async def lists():{LISTS.replace(chr(10), chr(10) + "    ")}
    asyncio.run(lists())

@pytest.mark.mcp_loop
def test_plain_in_virtual_time(mcp_server, mcp_history, mcp_clock):
    async def lists():{LISTS.replace(chr(10), chr(10) + "    ")}
    mcp_clock.run(lists)
"""
    own(source).assert_outcomes(passed=5)


@pytest.mark.skipif(not find_spec("trio"), reason="trio is not installed")
def test_they_work_on_trio(own):
    source = f"""
import pytest

@pytest.fixture
def anyio_backend():
    return "trio"

@pytest.mark.anyio
async def test_lists(mcp_server, mcp_history):{LISTS}

@pytest.mark.anyio
async def test_holds_fails_and_notifies(mcp_server):
    import anyio

    mcp_server.has_tools("a")
    heard, answers = [], []

    async with mcp_server.dial().session() as session, anyio.create_task_group() as group:
        with mcp_server.holding("tools/list") as gate:
            async def lists():
                answers.append(await session.list_tools())

            group.start_soon(lists)
            await gate.arrived()
            mcp_server.has_tools("b")
        assert await mcp_server.notify_list_changed() == 1
        await mcp_server.settle()
        assert [tool.name for tool in answers[0].tools] == ["a"]
        mcp_server.fails("tools/call")
        with pytest.raises(Exception, match="scripted failure"):
            await session.call_tool("b", {{}})
        assert await mcp_server.left_open() == [1]
    assert await mcp_server.left_open() == []
"""
    own(source).assert_outcomes(passed=2)


def test_a_test_in_virtual_time_waits_for_nothing(own):
    source = """
import asyncio, time
import pytest

@pytest.mark.mcp_loop
async def test_an_hour(mcp_server, mcp_history, mcp_clock):
    began = mcp_clock.time()
    mcp_server.has_tools("a")
    await mcp_clock.advance(3600)
    await asyncio.sleep(3600)
    mcp_server.has_tools("b")
    assert mcp_clock.monotonic() == 7200
    assert mcp_clock.time() - began == 7200
    assert mcp_server.dial().clock.time() == mcp_clock.time()
    assert [entry.at for entry in mcp_history] == [0, 7200]
    assert mcp_history.header.clock == "virtual"

@pytest.mark.mcp_loop
def test_plain(mcp_clock):
    assert mcp_clock.monotonic() == 0
    assert mcp_clock.run(asyncio.Event().wait.__class__ and sleep) == "slept"
    assert mcp_clock.monotonic() == 60

async def sleep():
    await asyncio.sleep(60)
    return "slept"

@pytest.mark.mcp_loop
async def test_without_the_clock():
    await asyncio.sleep(3600)

class TestOfAClass:
    @pytest.mark.mcp_loop
    @pytest.mark.parametrize("seconds", [1, 2])
    async def test_method(self, mcp_clock, seconds):
        await asyncio.sleep(seconds)
        assert mcp_clock.monotonic() == seconds
"""
    source = source.replace("asyncio.Event().wait.__class__ and sleep", "sleep")
    result = own(source, without=("anyio.pytest_plugin", "pytest_asyncio.plugin"))
    result.assert_outcomes(passed=5)
    assert result.duration < 60


def test_a_failure_in_virtual_time_is_one(own):
    source = """
import asyncio
import pytest

@pytest.mark.mcp_loop
async def test_asserts(mcp_clock):
    await asyncio.sleep(1)
    assert mcp_clock.monotonic() == 2

@pytest.mark.mcp_loop
async def test_waits_for_ever():
    await asyncio.Event().wait()
"""
    result = own(source)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["E*assert 1.0 == 2", "E*Stuck: Nothing is ready, *"])


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_virtual_time_comes_before_the_loop_of_another_plugin(own, mode):
    source = """
import asyncio
import pytest

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.mcp_loop
async def test_unmarked(mcp_clock):
    await mcp_clock.advance(3600)

@pytest.mark.asyncio
@pytest.mark.mcp_loop
async def test_marked_for_pytest_asyncio(mcp_clock):
    await mcp_clock.advance(3600)

@pytest.mark.anyio
@pytest.mark.mcp_loop
async def test_marked_for_anyio(mcp_clock):
    await mcp_clock.advance(3600)
"""
    own(source, f"--asyncio-mode={mode}").assert_outcomes(passed=3)


def test_a_clock_without_the_loop_of_the_kit_is_a_usage_error(own):
    source = """
import pytest

@pytest.mark.asyncio
async def test_own(mcp_clock):
    pass
"""
    result = own(source)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E*UsageError: mcp_clock is *: mark test_own with @pytest.mark.mcp_loop, *"])


def test_a_history_in_real_time_says_so(own):
    source = """
def test_own(mcp_server, mcp_history):
    mcp_server.has_tools("a")
    mcp_server.has_tools("b")
    first, second = mcp_history
    assert 0 < first.at < second.at
    header = mcp_history.header
    assert (header.clock, header.era, header.name) == ("real", "handshake", "test_own.py::test_own")
    assert header.kit and header.sdk
    assert repr(mcp_history) == "<history of 2 events>"
"""
    own(source).assert_outcomes(passed=1)


def test_what_the_wrapper_did_is_to_be_said(own):
    source = """
import pytest
from pytest_mcp_conformance import UsageError

def test_own(mcp_history):
    assert mcp_history.header.sees == "wire"
    with mcp_history.wanting() as wanted:
        wanted.served(["a"])
    assert mcp_history.header.sees == "wire and wrapper"
    with pytest.raises(UsageError, match="wanted.served"), mcp_history.wanting():
        pass
    with pytest.raises(UsageError, match="called.returned"), mcp_history.calling("a"):
        pass
    told = [(entry.kind, entry.who, entry.op) for entry in mcp_history]
    assert told[:4] == [("wanted", 1, 1), ("served", 1, 1), ("wanted", 1, 2), ("raised", 1, 2)]
    assert told[4:] == [("called", 1, 3), ("raised", 1, 3)]
    assert [tool.name for tool in [*mcp_history][1].tools] == ["a"]
"""
    own(source).assert_outcomes(passed=1)


def test_a_history_holds_what_came_before_it_was_asked_for(own):
    source = """
import pytest

@pytest.fixture
def listed(mcp_server):
    mcp_server.has_tools("a")

@pytest.mark.mcp_era("modern")
def test_own(listed, mcp_history):
    assert [entry.kind for entry in mcp_history] == ["changed"]
    assert mcp_history.header.era == "modern"

def test_alone(mcp_history):
    assert [*mcp_history] == []
"""
    own(source).assert_outcomes(passed=2)


def test_a_packaged_scenario_has_a_history_and_a_clock(own):
    source = """
def test_mcp(mcp_scenario, mcp_history, mcp_clock):
    assert (len(mcp_history), mcp_clock.monotonic()) == (0, 0)
    mcp_scenario.play()
    entries = [*mcp_history]
    assert {"asked", "served"} <= {entry.kind for entry in entries}
    assert mcp_clock.monotonic() == entries[-1].at > 0
    assert mcp_history.header.clock == "virtual"
    assert mcp_history.header.era == mcp_scenario.era
"""
    result = own(
        source,
        "--mcp-wrapper=reference",
        "--mcp-rule=CALL-1",
        "-k",
        "handshake and one_call_one_frame and error",
    )
    assert result.ret == 0, result.stdout.str()
    assert result.parseoutcomes()["passed"] == 1


@pytest.mark.parametrize("way", ["http", "loopback", "stdio", "sse"])
def test_a_server_has_an_address_and_a_command_as_well(own, way):
    source = f"""
import asyncio
import pytest
from mcp import ClientSession
from pytest_mcp_conformance.adapters._transports import streams_of

async def lists(server):
    server.has_tools("a", principal="ann")
    async with server.over("{way}") as dial:
        assert dial().transport == "{way}"
        async with streams_of(dial(principal="ann")) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            answer = await session.list_tools()
    assert [tool.name for tool in answer.tools] == ["a"]
    assert [frame.principal for frame in server.ledger.listings()] == ["ann"]
    assert await server.left_open() == []

@pytest.mark.asyncio
async def test_of_pytest_asyncio(mcp_server):
    await lists(mcp_server)

@pytest.mark.mcp_loop
async def test_of_the_kit(mcp_server):
    await lists(mcp_server)

def test_plain(mcp_server):
    asyncio.run(lists(mcp_server))
"""
    own(source).assert_outcomes(passed=3)


def test_another_way_in_that_is_none_is_refused(own):
    source = """
import asyncio
import pytest
from pytest_mcp_conformance import UsageError

def test_own(mcp_server):
    with pytest.raises(UsageError, match=r"over\\('htpt'\\): .*; write one of memory, http, stdio, loopback"):
        asyncio.run(mcp_server.over("htpt").__aenter__())
"""
    own(source).assert_outcomes(passed=1)


def test_a_way_in_that_the_era_has_not_is_refused(own):
    source = """
import asyncio
import pytest
from pytest_mcp_conformance import UsageError
from pytest_mcp_conformance.server import ScriptedServer

def test_own():
    with pytest.raises(UsageError, match=r"over\\('sse'\\): the modern era has no such way in; write http"):
        asyncio.run(ScriptedServer("modern").over("sse").__aenter__())
"""
    own(source).assert_outcomes(passed=1)
