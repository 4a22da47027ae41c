"""What a stdio server may do to its client, played by the relay."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading

import pytest

from pytest_mcp_conformance.server.ways import stdio
from tests.server.stdio_clients import connected, every_era, names, play

PIPE = asyncio.subprocess.PIPE


async def child_of(way):
    """A child that nobody talks to, and its end of the way."""
    child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE)
    count = len(way.relays)
    while len(way.relays) == count:  # noqa: ASYNC110
        await asyncio.sleep(1e-9)
    return child, way.relays[-1]


@pytest.mark.parametrize("by", ["exit", "eof", "kill"])
@every_era
def test_a_call_ends_when_the_server_hangs_up_on_it(era, by):
    async def scene(server, way):
        way.hangs_up_by = by
        server.drops_on("tools/call")
        async with connected(way.command, era) as session:
            with pytest.raises(Exception, match="Connection closed"):
                await session.call_tool("a", {})
            assert way.relays[0].gone(0.02 if by == "eof" else 30) is (by != "eof")
        assert way.left() == []

    server = play(scene, era)
    assert [event.text for event in server.ledger if event.kind == "closed"] == ["dropped by the server"]


@pytest.mark.parametrize(("by", "code"), [("exit", 0), ("kill", -9)])
def test_what_was_said_before_the_end_is_said(by, code):
    async def scene(server, way):
        way.hangs_up_by = by
        child, relay = await child_of(way)
        for number in range(100):
            relay.connection.notify("notifications/n", {"number": number, "text": "x" * 10_000})
        server.drop()
        said = await child.stdout.read()
        assert said.count(b"\n") == 100
        assert await child.wait() == code

    play(scene)


@every_era
def test_a_connection_is_dialled_again_after_a_kill(era):
    async def scene(server, way):
        server.has_tools("a")
        way.hangs_up_by = "kill"
        for _ in range(3):
            async with connected(way.command, era) as session:
                assert await names(session) == ["a"]
                server.drop()
        assert len(way.relays) == 3

    play(scene, era)


def test_noise_on_stdout_comes_between_frames(caplog):
    async def scene(server, way):
        server.has_tools("a")
        async with connected(way.command) as session:
            with server.holding("tools/list") as gate:
                listing = asyncio.create_task(names(session))
                await gate.arrived()
                way.relays[0].say("Starting up…")
                way.relays[0].say("")
            assert await listing == ["a"]

    with caplog.at_level(logging.CRITICAL, "mcp"):
        play(scene)


def test_a_word_on_stderr_goes_to_stderr(tmp_path):
    async def scene(server, way):
        server.has_tools("a")
        with (tmp_path / "errors").open("w+") as errors:
            async with connected(way.command, errlog=errors) as session:
                way.relays[0].complain("something is wrong")
                assert await names(session) == ["a"]
            errors.seek(0)
            assert errors.read() == "something is wrong\n"

    play(scene)


@pytest.mark.parametrize("deaf", [False, True], ids=["ignores eof", "ignores eof and SIGTERM"])
def test_a_child_that_stays_is_ended_by_the_sdk_in_virtual_time(deaf):
    times = []

    async def scene(server, way):
        loop = asyncio.get_running_loop()
        async with connected(way.command):
            way.relays[0].stay(deaf=deaf)
            times.append(loop.time())
        times.append(loop.time())
        assert way.left() == []
        assert not loop.waited_in_vain

    play(scene)
    start, end = times
    assert (4 if deaf else 2) <= end - start < (5 if deaf else 3)


def test_a_child_that_outlives_its_client_is_named_and_killed():
    async def scene(server, way):
        server.has_tools("a")
        async with connected(way.command) as session:
            await names(session)
        left, relay = await child_of(way)
        _, dying = await child_of(way)
        way.hangs_up_by = "kill"
        dying.connection.drop()
        assert way.left() == ["the process of connection 2 still runs"]
        await way.aclose()
        assert not relay.alive
        assert await left.wait() == -9
        assert (await left.stdout.read(), way.left()) == (b"", [])

    play(scene)


def test_a_child_that_stays_is_left_although_its_client_has_closed_stdin():
    async def scene(server, way):
        child, relay = await child_of(way)
        relay.stay(deaf=True)
        child.stdin.close()
        await server.settle()
        assert server.ledger.open_connections() == []
        assert way.left() == ["the process of connection 1 still runs"]
        child.terminate()
        assert way.left() == ["the process of connection 1 still runs"]
        child.kill()
        assert way.left() == []
        await child.wait()

    play(scene)


def test_a_child_stays_even_if_stdin_is_closed_at_once():
    async def scene(server, way):
        child, relay = await child_of(way)
        relay.stay()
        child.stdin.transport.abort()
        await asyncio.sleep(1)
        assert server.ledger.open_connections() == []
        assert way.left() == ["the process of connection 1 still runs"]

    play(scene)


def test_who_waits_for_a_child_waits_no_longer_than_it_lives():
    async def scene(server, way):
        child, _ = await child_of(way)
        child.send_signal(signal.SIGSTOP)
        waiting = threading.Thread(target=way.wait_for_relays, daemon=True)
        waiting.start()
        child.kill()
        waiting.join(stdio._PATIENCE / 2)
        assert not waiting.is_alive()
        await child.wait()

    play(scene)


def test_a_child_that_is_stopped_is_left_and_killed_all_the_same(monkeypatch):
    monkeypatch.setattr(stdio, "_PATIENCE", 0.1)

    async def scene(server, way):
        child, _ = await child_of(way)
        child.send_signal(signal.SIGSTOP)
        assert way.left() == ["the process of connection 1 still runs"]
        monkeypatch.undo()
        await way.aclose()
        assert await child.wait() == -9

    play(scene)
