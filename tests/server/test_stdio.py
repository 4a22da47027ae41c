"""The way in over stdio, with the SDK's own clients at the other end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer, tool
from pytest_mcp_conformance.server.ways.stdio import StdioWay
from tests.server.stdio_clients import connected, every_era, names

Scene = Callable[[ScriptedServer, StdioWay], Coroutine[Any, Any, None]]


def play(scene: Scene, era: str = "handshake", principal: str | None = None) -> ScriptedServer:
    """Play a scene in virtual time; gives the server, to be asked what it saw."""

    async def main() -> ScriptedServer:
        server = ScriptedServer(era)
        way = StdioWay(server, principal)
        try:
            await scene(server, way)
        finally:
            await way.aclose()
        return server

    return run(main)


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


def test_each_run_of_the_command_is_a_connection_of_its_own():
    async def scene(server, way):
        server.has_tools("a")
        for _ in range(2):
            async with (
                connected(way.command, "handshake") as one,
                connected(way.command, "handshake") as other,
            ):
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
        async with connected(way.command, "handshake") as ann, connected(other.command, "handshake") as bob:
            assert (await names(ann), await names(bob)) == (["for ann"], ["for bob"])
        await other.aclose()

    play(scene, principal="ann")


def test_a_relay_with_a_wrong_token_is_refused():
    async def scene(server, way):
        *rest, port, token = way.command
        program, *arguments = [*rest, port, token[::-1] + "0"]
        child = await asyncio.create_subprocess_exec(program, *arguments, stdin=asyncio.subprocess.PIPE)
        assert await child.wait() == 1
        with socket.create_connection(("127.0.0.1", int(port))) as stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n" * 100)
            stranger.settimeout(30)
            with suppress(ConnectionError):
                assert stranger.recv(100) == b""
        assert (way.relays, server.connections) == ([], [])

    play(scene)
