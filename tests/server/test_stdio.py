"""The way in over stdio, with the SDK's own clients at the other end."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from contextlib import suppress

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import tool
from pytest_mcp_conformance.server.ways.stdio import StdioWay
from tests.server.stdio_clients import connected, every_era, names, parameters, play, second_only

PIPE = asyncio.subprocess.PIPE


@every_era
def test_a_client_lists_and_calls(era):
    async def scene(server, way):
        server.has_tools(tool("a", "integer"), "b")
        server.answers("a", out=7)
        async with connected(way.command, era) as session:
            assert await names(session) == ["a", "b"]
            assert (await session.call_tool("a", {})).content[0].text == '{"nonce": "", "out": 7}'

    server = play(scene, era, "ann")
    kinds = [(event.kind, event.connection, event.principal) for event in server.ledger]
    assert kinds[0] == ("opened", 1, "ann")
    assert kinds[-1] == ("closed", 1, "ann")


@every_era
def test_held_answers_go_out_in_the_order_of_their_release(era):
    async def scene(server, way):
        server.has_tools("old")
        async with connected(way.command, era) as session:
            with server.holding("tools/list") as gate:
                first = asyncio.create_task(names(session))
                await gate.arrived(1)
                server.has_tools("new")
                second = asyncio.create_task(names(session))
                await gate.arrived(2)
                ended = []
                first.add_done_callback(lambda task: ended.append("first"))
                second.add_done_callback(lambda task: ended.append("second"))
                gate.release_all([2, 1])
                assert await asyncio.gather(first, second) == [["old"], ["new"]]
                assert ended == ["second", "first"]

    play(scene, era)


@pytest.mark.parametrize("runs", [run, lambda main: asyncio.run(main())], ids=["virtual time", "real time"])
def test_a_notice_has_been_read_once_it_is_settled(runs):
    heard = []

    async def handler(message):
        method = getattr(getattr(message, "root", message), "method", None)
        heard.append(method)

    async def scene(server, way):
        async with connected(way.command, message_handler=handler):
            await server.settle()  # the client's last word of the handshake may still be under way
            for number in range(1, 50):
                assert await server.notify_list_changed() == 1
                assert heard == ["notifications/tools/list_changed"] * number

    play(scene, runs=runs)


@second_only
def test_a_notice_has_been_read_once_it_is_settled_in_the_modern_era_too():
    async def scene(server, way):
        from mcp import Client

        async with (
            Client(parameters(way.command), mode="auto") as client,
            client.listen(tools_list_changed=True) as subscription,
        ):
            for _ in range(20):
                coming = asyncio.create_task(anext(subscription))
                assert await server.notify_list_changed() == 1
                assert coming.done()

    play(scene, "modern")


@pytest.mark.parametrize("runs", [run, lambda main: asyncio.run(main())], ids=["virtual time", "real time"])
def test_what_a_client_has_written_is_at_the_script_once_it_is_settled(runs):
    async def scene(server, way):
        child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE)
        await server.ledger.until(lambda: bool(server.connections), "the connection")
        for number in range(50):
            told = {"jsonrpc": "2.0", "method": f"notifications/{number}"}
            child.stdin.write(json.dumps(told).encode() + b"\n")
            await server.settle()
            assert server.ledger.frames()[-1].method == f"notifications/{number}"
        child.stdin.close()
        await child.wait()

    play(scene, runs=runs)


def test_a_frame_of_a_megabyte_goes_both_ways():
    text = "ü" * 1_000_000

    async def scene(server, way):
        server.has_tools({"name": "a", "description": text, "inputSchema": {"type": "object"}})
        async with connected(way.command) as session:
            assert (await session.list_tools()).tools[0].description == text
            await session.call_tool("a", {"nonce": text})
            assert server.ledger.calls(text)

    play(scene)


def test_each_run_of_the_command_is_a_connection_of_its_own():
    async def scene(server, way):
        server.has_tools("a")
        for _ in range(2):
            async with connected(way.command) as one, connected(way.command) as other:
                assert await names(one) == await names(other) == ["a"]
                assert len({relay.pid for relay in way.relays if relay.alive}) == 2

    server = play(scene)
    assert len(server.connections) == 4
    assert server.ledger.open_connections() == []


def test_two_principals_have_commands_of_their_own():
    async def scene(server, way):
        server.has_tools("for ann", principal="ann")
        server.has_tools("for bob", principal="bob")
        other = StdioWay(server, "bob")
        async with connected(way.command) as ann, connected(other.command) as bob:
            assert (await names(ann), await names(bob)) == (["for ann"], ["for bob"])
        await other.aclose()

    play(scene, principal="ann")


def test_a_client_in_a_thread_of_its_own_is_served():
    async def scene(server, way):
        server.has_tools("a")
        command = way.command

        async def lists():
            async with connected(command) as session:
                return await names(session)

        listing = asyncio.to_thread(lambda: asyncio.run(lists()))
        assert await asyncio.wait_for(listing, 1e-3) == ["a"]
        assert way.left() == []

    play(scene)


def test_a_line_that_is_no_frame_is_written_down_and_the_connection_goes_on():
    noise = ["no JSON", "[1]", "7", '{"method": 5}', '{"id": [], "method": "ping"}', "\xff", "[" * 99_999]

    async def scene(server, way):
        child = await asyncio.create_subprocess_exec(*way.command, stdin=PIPE, stdout=PIPE)
        lines = [*noise, "", '{"jsonrpc": "2.0", "id": 7, "method": "ping"}']
        child.stdin.write("\n".join(lines).encode("latin-1"))
        await server.settle()
        assert server.ledger.frames("ping") == []
        child.stdin.write(b"\n")
        assert json.loads(await child.stdout.readline()) == {"jsonrpc": "2.0", "id": 7, "result": {}}
        child.stdin.close()
        await child.wait()

    server = play(scene)
    written = [event.text for event in server.ledger if event.kind == "garbled"]
    assert written[:2] == ["not a frame: no JSON", "not a frame: [1]"]
    assert len(written) == len(noise)
    assert max(map(len, written)) < 100


def test_a_relay_with_a_wrong_token_is_refused():
    async def scene(server, way):
        *rest, port, token = way.command
        child = await asyncio.create_subprocess_exec(*rest, port, token[::-1] + "0", stdin=PIPE)
        assert await child.wait() == 1
        with socket.create_connection(("127.0.0.1", int(port))) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n" * 100)
            stranger.settimeout(30)
            with suppress(ConnectionError):
                assert stranger.recv(100) == b""
        assert (way.relays, server.connections) == ([], [])

    play(scene)


def test_a_relay_that_nobody_awaits_any_more_ends():
    async def scene(server, way):
        command = way.command
        await way.aclose()
        child = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stderr=PIPE)
        assert await child.communicate() == (None, b"")
        assert child.returncode == 1

    play(scene)


def test_a_server_that_refuses_connections_ends_the_child():
    async def scene(server, way):
        server.has_tools("a")
        server.refusing = True
        with pytest.raises(Exception) as failed:  # noqa: PT011 - in mcp 2.x a group
            async with connected(way.command):
                pass
        assert "Connection closed" in repr(failed.value)
        server.recovers()
        async with connected(way.command) as session:
            assert await names(session) == ["a"]

    assert len(play(scene).connections) == 1


def test_a_way_that_nobody_touches_starts_nothing():
    async def scene(server, way):
        before = set(threading.enumerate())
        assert (way.left(), way.idle(), way.children, way.threads) == ([], True, (), ())
        await way.aclose()
        assert set(threading.enumerate()) == before

    play(scene)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts files as Linux shows them")
def test_closing_leaves_no_thread_no_process_and_no_file():
    def open_files():
        return {os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")} - {None}

    def count():
        return len(os.listdir("/proc/self/fd")), set(threading.enumerate())

    pids = []

    async def scene(server, way):
        async with connected(way.command), connected(way.command):
            assert count() > before
            pids.extend(relay.pid for relay in way.relays)
        await connected(way.command).__aenter__()
        pids.append(way.relays[-1].pid)

    before = count()
    play(scene)
    assert count() == before
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
