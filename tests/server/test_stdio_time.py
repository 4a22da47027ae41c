"""Virtual time while children are open: it jumps at once, and never past anything under way."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from tests.server.stdio_clients import connected, every_era, names, play

PIPE = asyncio.subprocess.PIPE


@every_era
def test_time_passes_at_once_while_children_are_open(era):
    async def scene(server, way):
        loop = asyncio.get_running_loop()
        async with connected(way.command, era), connected(way.command, era):
            for _ in range(100):
                await asyncio.sleep(60)
        assert not loop.waited_in_vain

    play(scene, era)


@every_era
def test_no_answer_of_the_script_times_out(era):
    async def scene(server, way):
        server.has_tools("a")
        async with connected(way.command, era) as session:
            for _ in range(200):
                assert await asyncio.wait_for(names(session), 1e-6) == ["a"]

    play(scene, era)


def test_a_connect_and_a_close_take_no_time():
    async def scene(server, way):
        loop = asyncio.get_running_loop()
        start = loop.time()
        for _ in range(5):
            async with connected(way.command):
                assert loop.time() - start < 0.2
            assert loop.time() - start < 0.2  # mcp 2.x looks at the child every 10 ms

    play(scene)


def test_a_timer_waits_for_what_the_client_has_written():
    async def scene(server, way):
        child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE)
        await server.ledger.until(lambda: bool(server.connections), "the connection")
        for number in range(200):
            told = {"jsonrpc": "2.0", "method": f"notifications/{number}"}
            child.stdin.write(json.dumps(told).encode() + b"\n")
            await asyncio.sleep(1e-9)
            assert server.ledger.frames()[-1].method == f"notifications/{number}"
        child.stdin.close()
        await asyncio.sleep(1e-9)
        assert server.ledger.open_connections() == []
        assert child.returncode == 0

    play(scene)


def test_a_client_that_does_not_read_holds_up_no_time():
    async def scene(server, way):
        child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE, limit=1000)
        await server.ledger.until(lambda: bool(server.connections), "the connection")
        server.connections[0].notify("notifications/n", {"text": "x" * 1_000_000})
        await asyncio.sleep(3600)
        assert not asyncio.get_running_loop().waited_in_vain
        said, _ = await child.communicate(b"")
        assert len(said) > 10_000  # what was in the pipe when stdin ended

    play(scene)


def test_an_idle_client_in_a_thread_of_its_own_holds_up_no_time():
    async def scene(server, way):
        server.has_tools("a")
        loop, command = asyncio.get_running_loop(), way.command
        ready = asyncio.Event()
        asks, over = [], threading.Event()

        async def lives():
            async with connected(command) as session:
                theirs = asyncio.get_running_loop()
                end = asyncio.Event()
                asks.append(lambda: asyncio.run_coroutine_threadsafe(names(session), theirs))
                asks.append(lambda: theirs.call_soon_threadsafe(end.set))
                loop.call_soon_threadsafe(ready.set)
                await end.wait()
            over.set()

        thread = threading.Thread(target=lambda: asyncio.run(lives()), daemon=True)
        thread.start()
        await ready.wait()
        list_tools, end = asks
        for _ in range(20):
            await asyncio.sleep(3600)
            assert await asyncio.wait_for(asyncio.wrap_future(list_tools()), 1e-6) == ["a"]
        assert not loop.waited_in_vain
        end()
        thread.join()
        assert over.is_set()

    play(scene)


def test_a_child_that_is_killed_from_outside_is_noticed_before_time_passes():
    async def scene(server, way):
        child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE)
        await server.ledger.until(lambda: bool(server.connections), "the connection")
        child.kill()
        assert await asyncio.wait_for(child.wait(), 1e-9) == -9
        await server.settle()
        assert server.ledger.open_connections() == []

    play(scene)


@pytest.mark.parametrize("signal", ["terminate", "kill"])
def test_a_child_that_died_is_no_longer_answered_for(signal):
    async def scene(server, way):
        child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE)
        await server.ledger.until(lambda: bool(server.connections), "the connection")
        await server.settle()
        assert list(way.children) == [child.pid]
        getattr(child, signal)()
        await child.wait()
        await server.settle()
        assert (list(way.children), way.relays[0].alive) == ([], False)

    play(scene)


def test_a_child_that_has_been_told_to_go_is_no_longer_answered_for():
    async def scene(server, way):
        child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE)
        await server.ledger.until(lambda: bool(server.connections), "the connection")
        await server.settle()
        server.drop()
        assert list(way.children) == []
        assert await asyncio.wait_for(child.wait(), 1e-9) == 0

    play(scene)
