"""Streamable HTTP through a socket on this machine: the real clients, and what is left of it afterwards."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
from importlib import import_module
from typing import Any

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.loopback import Loopback
from tests.server.http_clients import LIBRARY, names, session
from tests.server.http_way import WayOverHttp
from tests.server.plain_http import BOTH, message

INITIALIZE = message("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={})
ACCEPT = {"accept": BOTH}

http = import_module(LIBRARY)


def open_files() -> int:
    """How many there are, where the system tells."""
    gc.collect()
    return len(os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else 0


class TestLoopback(WayOverHttp):
    kind = Loopback

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({}, 200),
            ({"host": "localhost:{port}"}, 200),
            ({"host": "evil.example"}, 421),
            ({"host": "127.0.0.1:1"}, 421),
            ({"origin": "http://127.0.0.1:{port}"}, 200),
            ({"origin": "http://evil.example"}, 403),
            ({"origin": "null"}, 403),
        ],
        ids=str,
    )
    def test_only_what_is_meant_for_this_address_is_answered(
        self, headers: dict[str, str], status: int
    ) -> None:
        async def main() -> int:
            async with self.way() as (server, way), http.AsyncClient() as client:
                port = way.url.split(":")[2].split("/")[0]
                told = {name: value.format(port=port) for name, value in headers.items()}
                reply = await client.post(way.url, json=INITIALIZE, headers={**ACCEPT, **told})
                assert bool(server.connections) == (status == 200)
                return int(reply.status_code)

        assert self.play(main) == status

    def test_who_asked_for_no_more_is_not_answered(self) -> None:
        async def main() -> list[int]:
            async with self.way() as (server, way), http.AsyncClient() as client:
                with server.holding("initialize"):
                    async with client.stream("POST", way.url, json=INITIALIZE, headers=ACCEPT):
                        await server.settle()
                        assert server.ledger.open_connections() == [1]
                    await server.settle()
                    return server.ledger.open_connections()

        assert self.play(main) == []

    @pytest.mark.parametrize("how", ["refuses", "hangs up"])
    def test_a_server_that_refuses_or_hangs_up_sends_no_response(self, how: str) -> None:
        async def main() -> None:
            async with self.way() as (server, way), http.AsyncClient() as client:
                if how == "refuses":
                    server.refusing = True
                else:
                    server.drops_on("initialize")
                with pytest.raises(http.RemoteProtocolError, match="without sending a response"):
                    await client.post(way.url, json=INITIALIZE, headers=ACCEPT)
                server.recovers()
                assert (await client.post(way.url, json=INITIALIZE, headers=ACCEPT)).status_code == 200

        self.play(main)

    def test_a_stream_that_is_cut_has_no_proper_end(self) -> None:
        async def main() -> None:
            async with self.way() as (server, way), http.AsyncClient() as client:
                with server.holding("initialize"):
                    async with client.stream("POST", way.url, json=INITIALIZE, headers=ACCEPT) as reply:
                        await server.settle()
                        server.drop()
                        with pytest.raises(http.RemoteProtocolError, match="incomplete chunked read"):
                            await reply.aread()

        self.play(main)

    def test_a_body_in_several_pieces_is_read_as_one(self) -> None:
        async def pieces() -> Any:
            for piece in (b'{"jsonrpc": "2.0", "id": 0, ', b'"method": "initialize", ', b'"params": {}}'):
                yield piece
                await asyncio.sleep(0)

        async def main() -> int:
            async with self.way() as (_, way), http.AsyncClient() as client:
                headers = {**ACCEPT, "content-type": "application/json"}
                return int((await client.post(way.url, content=pieces(), headers=headers)).status_code)

        assert self.play(main) == 200

    def test_a_blocking_client_is_answered_from_a_thread(self) -> None:
        def ask(url: str) -> int:
            with http.Client() as client:
                return int(client.post(url, json=INITIALIZE, headers=ACCEPT).status_code)

        async def main() -> int:
            async with self.way() as (_, way):
                return await asyncio.to_thread(ask, way.url)

        assert self.play(main) == 200

    def test_an_hour_of_silence_costs_no_real_time(self) -> None:
        async def main() -> bool:
            async with self.way() as (_, way), session(way.url) as client:
                await names(client)
                loop: Any = asyncio.get_running_loop()
                loop.grace = 30.0
                await asyncio.sleep(3600)
                assert await names(client) == ["a"]
                return bool(loop.waited_in_vain)

        assert not self.play(main)

    def test_answers_on_a_connection_that_is_used_again_are_not_overtaken_by_time(self) -> None:
        async def main() -> float:
            async with self.way() as (_, way), http.AsyncClient(timeout=0.001) as client:
                for _ in range(20):
                    reply = await client.post(way.url, json=INITIALIZE, headers=ACCEPT)
                    assert "serverInfo" in reply.text
                return asyncio.get_running_loop().time()

        assert self.play(main) == 0.0

    def test_it_serves_a_loop_in_real_time(self) -> None:
        async def main() -> list[str]:
            async with self.way() as (_, way), session(way.url) as client:
                return await names(client)

        assert asyncio.run(main()) == ["a"]

    @pytest.mark.parametrize("held", [False, True], ids=["idle", "with a request out"])
    def test_nothing_is_left_of_it(self, held: bool) -> None:
        async def main() -> int:
            async with self.way() as (server, way), http.AsyncClient() as client:
                port = int(way.url.split(":")[2].split("/")[0])
                assert threading.active_count() == threads + 1
                if not held:
                    await client.post(way.url, json=INITIALIZE, headers=ACCEPT)
                    await way.aclose()
                    return port
                with server.holding("initialize"):
                    asking = asyncio.ensure_future(client.post(way.url, json=INITIALIZE, headers=ACCEPT))
                    await server.settle()
                    await way.aclose()
                    with pytest.raises(http.TransportError):
                        await asking
                return port

        async def nothing() -> None: ...

        self.play(nothing)
        threads, files = threading.active_count(), open_files()
        port = self.play(main)
        assert (threading.active_count(), open_files()) == (threads, files)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port)).close()


def test_an_address_needs_a_running_loop():
    with pytest.raises(RuntimeError, match="no running event loop"):
        _ = Loopback(ScriptedServer()).url


def test_a_way_that_was_never_touched_closes_for_nothing():
    run(Loopback(ScriptedServer()).aclose)
