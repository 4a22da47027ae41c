"""Streamable HTTP inside the process: the real clients, and what is theirs of the HTTP library."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.contract import ConformanceError
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.http import Body, Reply
from pytest_mcp_conformance.server.ways.in_process import InProcess
from tests.server.http_clients import every_library, names, session
from tests.server.http_way import WayOverHttp
from tests.server.plain_http import BOTH, message

INITIALIZE = message("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={})
ACCEPT = {"accept": BOTH}


class TestInProcess(WayOverHttp):
    kind = InProcess

    @every_library
    def test_a_blocking_client_is_answered_from_a_thread(self, library: str) -> None:
        http = import_module(library)

        def ask(url: str) -> int:
            with (
                http.Client() as client,
                client.stream("POST", url, json=INITIALIZE, headers=ACCEPT) as reply,
            ):
                assert b"serverInfo" in b"".join(reply.iter_raw())
                return reply.status_code

        async def main() -> int:
            async with self.way() as (_, way):
                return await asyncio.to_thread(ask, way.url)

        assert self.play(main) == 200

    @every_library
    def test_a_blocking_client_in_the_thread_of_the_loop_is_told_that_it_would_wait_for_itself(
        self, library: str
    ) -> None:
        async def main() -> None:
            async with self.way() as (_, way):
                with (
                    import_module(library).Client() as client,
                    pytest.raises(ConformanceError, match="itself"),
                ):
                    client.post(way.url, json=INITIALIZE, headers=ACCEPT)

        self.play(main)

    @every_library
    @pytest.mark.parametrize("mute", ["script", "reply", "body"])
    def test_a_blocking_client_that_waits_is_let_go_when_the_address_is_given_up(
        self, library: str, mute: str
    ) -> None:
        http = import_module(library)

        def ask(url: str) -> None:
            with http.Client(timeout=None) as client, pytest.raises(http.RemoteProtocolError):
                client.post(url, json=INITIALIZE, headers=ACCEPT)

        async def for_ever() -> AsyncIterator[bytes]:
            yield b"{"
            await asyncio.Event().wait()

        async def through(request: Any, answer: Any) -> Reply:
            if mute == "reply":
                await asyncio.Event().wait()
            return await answer(request) if mute == "script" else Reply(200, body=Body(for_ever()))

        async def main() -> None:
            async with self.way() as (server, way):
                way.engine.through = through
                with server.holding("initialize"):
                    asking = asyncio.ensure_future(asyncio.to_thread(ask, way.url))
                    await server.settle()
                    assert not asking.done()
                    await way.aclose()
                    await asking

        self.play(main)

    def test_a_client_in_a_loop_of_its_own_is_answered(self) -> None:
        async def ask(url: str) -> list[str]:
            async with session(url) as client:
                return await names(client)

        async def main() -> list[str]:
            async with self.way() as (server, way):
                listed = await asyncio.to_thread(asyncio.run, ask(way.url))
                await server.settle()
                assert server.ledger.open_connections() == []
                return listed

        assert self.play(main) == ["a"]

    @every_library
    @pytest.mark.parametrize("as_json", [False, True], ids=["within the reply", "before it"])
    def test_a_client_in_a_loop_of_its_own_that_hangs_up_is_seen(self, library: str, as_json: bool) -> None:
        http = import_module(library)

        async def ask(url: str, arrived: asyncio.Event) -> None:
            async with http.AsyncClient() as client:
                request = client.build_request("POST", url, json=INITIALIZE, headers=ACCEPT)
                asking = asyncio.ensure_future(client.send(request, stream=True))
                await arrived.wait()
                if as_json:
                    asking.cancel()
                    await asyncio.wait({asking})
                else:
                    await (await asking).aclose()

        async def main() -> list[str]:
            async with self.way() as (server, way):
                way.engine.as_json = as_json
                theirs, arrived = asyncio.SelectorEventLoop(), asyncio.Event()
                with server.holding("initialize") as gate:
                    asking = asyncio.ensure_future(
                        asyncio.to_thread(theirs.run_until_complete, ask(way.url, arrived))
                    )
                    await gate.arrived()
                    theirs.call_soon_threadsafe(arrived.set)
                    await asking
                    await server.settle()
                    theirs.close()
                    return [event.text for event in server.history if event.kind == "closed"]

        assert self.play(main) == ["by the client during its handshake"]

    @every_library
    def test_a_refusal_is_of_the_clients_own_library(self, library: str) -> None:
        http = import_module(library)

        async def main() -> None:
            async with self.way() as (server, way), http.AsyncClient() as client:
                server.refusing = True
                with pytest.raises(http.ConnectError, match="All connection attempts failed"):
                    await client.post(way.url, json=INITIALIZE, headers=ACCEPT)

        self.play(main)

    @every_library
    def test_a_cut_before_the_reply_and_within_it_is_of_the_clients_own_library(self, library: str) -> None:
        http = import_module(library)

        async def main() -> None:
            async with self.way() as (server, way), http.AsyncClient() as client:
                server.drops_on("initialize")
                with pytest.raises(http.RemoteProtocolError, match="without sending a response"):
                    await client.post(way.url, json=INITIALIZE, headers=ACCEPT)
                with server.holding("initialize"):
                    async with client.stream("POST", way.url, json=INITIALIZE, headers=ACCEPT) as reply:
                        server.drop()
                        with pytest.raises(http.RemoteProtocolError, match="incomplete"):
                            await reply.aread()

        self.play(main)

    @every_library
    def test_a_read_timeout_is_kept_in_virtual_time(self, library: str) -> None:
        http = import_module(library)

        async def main() -> float:
            async with self.way() as (server, way), http.AsyncClient(timeout=7.0) as client:
                way.engine.as_json = True
                with server.holding("initialize"):
                    with pytest.raises(http.ReadTimeout):
                        await client.post(way.url, json=INITIALIZE, headers=ACCEPT)
                    at = asyncio.get_running_loop().time()
                    assert server.ledger.open_connections() == []
                    return at

        assert self.play(main) == 7.0

    @every_library
    def test_a_client_that_is_closed_while_it_reads_has_hung_up(self, library: str) -> None:
        http = import_module(library)

        async def main() -> list[str]:
            async with self.way() as (server, way):
                client = http.AsyncClient()
                with server.holding("initialize"):
                    request = client.build_request("POST", way.url, json=INITIALIZE, headers=ACCEPT)
                    reply = await client.send(request, stream=True)
                    assert server.ledger.open_connections() == [1]
                    await client.aclose()
                    assert server.ledger.open_connections() == []
                    with pytest.raises(http.TransportError):
                        await reply.aread()
                return [event.text for event in server.history if event.kind == "closed"]

        assert self.play(main) == ["by the client during its handshake"]

    @every_library
    def test_a_request_to_anybody_else_is_refused_and_told_of(self, library: str) -> None:
        http = import_module(library)

        async def main() -> list[str]:
            async with self.way() as (_, way), http.AsyncClient() as client:
                known = way.url
                with pytest.raises(
                    http.ConnectError, match=r"https://example\.com/x: refused.*server-1"
                ) as no:
                    await client.get("https://example.com/x")
                assert known.split("/")[2] in str(no.value)
                return list(way.refused)

        assert self.play(main) == ["GET https://example.com/x"]

    @every_library
    def test_a_request_to_a_server_of_a_play_that_is_over_is_refused_and_is_not_told_of(
        self, library: str
    ) -> None:
        http = import_module(library)

        async def main() -> list[str]:
            way = InProcess(ScriptedServer(), "this-play")
            here = way.url
            async with http.AsyncClient() as client:
                for url in (
                    here.replace("this-play", "an-earlier-play"),
                    here.replace("server-1", "server-7"),
                ):
                    with pytest.raises(http.ConnectError):
                        await client.delete(url)
            await way.aclose()
            return way.refused

        assert self.play(main) == ["DELETE http://server-7.this-play.mcp-conformance.test/mcp"]

    def test_two_servers_have_two_addresses_and_a_server_has_one(self) -> None:
        async def main() -> tuple[str, str, str]:
            async with self.way() as (_, one), self.way("handshake", "b") as (_, other):
                assert one.url == one.url
                async with session(one.url) as first, session(other.url) as second:
                    assert (await names(first), await names(second)) == (["a"], ["b"])
                async with self.way() as (_, third):
                    return one.url, other.url, third.url

        urls = self.play(main)
        assert urls == tuple(f"http://server-{n}.mcp-conformance.test/mcp" for n in (1, 2, 3))
        assert self.play(main) == urls

    @every_library
    def test_a_tls_context_is_built_once_and_all_is_as_before_afterwards(self, library: str) -> None:
        default = import_module(f"{library}._transports.default")
        core = import_module(library.replace("httpx", "httpcore"))
        held = (
            (default, "create_ssl_context"),
            (core.AsyncConnectionPool, "handle_async_request"),
            (core.ConnectionPool, "handle_request"),
            (core.AsyncConnectionPool, "aclose"),
            (core.ConnectionPool, "close"),
        )
        before = [getattr(*each) for each in held]

        async def main() -> None:
            async with self.way() as (_, way):
                assert [getattr(*each) for each in held] == before
                assert way.url
                assert not {getattr(*each) for each in held} & set(before)
                assert default.create_ssl_context() is default.create_ssl_context(verify=True)
                assert default.create_ssl_context(verify=False) is not default.create_ssl_context()

        self.play(main)
        assert [getattr(*each) for each in held] == before


def test_an_address_needs_a_running_loop():
    with pytest.raises(RuntimeError, match="no running event loop"):
        _ = InProcess(ScriptedServer()).url


def test_a_way_that_was_never_touched_closes_for_nothing():
    run(InProcess(ScriptedServer()).aclose)
