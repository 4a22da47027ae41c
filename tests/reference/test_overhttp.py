"""What a client makes of trouble over streamable HTTP, where the SDK's transport makes less of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp_conformance_reference import CallFailed, ConnectionLost, ReferenceClient
from mcp_conformance_reference.overhttp import Credentials, HttpClient, http_streams

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer, tool
from pytest_mcp_conformance.server.ways.http import Reply, Request
from pytest_mcp_conformance.server.ways.in_process import InProcess
from tests.server.http_clients import MODERN, every_era

modern_only = pytest.mark.skipif(not MODERN, reason="mcp 1.x does not speak the modern era")


@asynccontextmanager
async def scene(era: str = "handshake", headers: Any = None, **how: Any) -> Any:
    """A client that has listed, and what it is connected to."""
    server = ScriptedServer(era)
    server.has_tools("a")
    way = InProcess(server)
    try:
        async with ReferenceClient(lambda: http_streams(way.url, headers), era=era, **how) as client:
            await client.list_tools()
            yield server, way.engine, client
    finally:
        await way.aclose()


def refusing(reply: Callable[[], Reply], method: bytes = b'"tools/call"') -> Any:
    """Answers what holds `method` in its body by a reply, and leaves the rest to the script."""

    async def through(request: Request, answer: Any) -> Reply:
        return reply() if method in request.body else await answer(request)

    return through


def play(main: Any, *args: Any) -> Any:
    left: list[str] = []
    returned = run(lambda: main(*args), leftovers=left)
    assert left == []
    return returned


@every_era
@pytest.mark.parametrize("status", [401, 429, 503, 599])
def test_an_http_error_names_its_status_and_belongs_to_its_call(era: str, status: int) -> None:
    async def main() -> None:
        async with scene(era) as (server, engine, client):
            engine.through = refusing(lambda: Reply.text(status, "no"))
            with pytest.raises(CallFailed, match=f"HTTP {status}") as failed:
                await client.call_tool("a")
            assert failed.value.data == {"status": status}
            engine.through = None
            await client.call_tool("a")
            assert len(server.connections) == 1

    play(main)


@every_era
def test_a_json_rpc_error_in_the_body_of_an_http_error_is_the_answer(era: str) -> None:
    async def main() -> None:
        async with scene(era) as (_, engine, client):
            error = {"code": -32602, "message": "what is b?"}
            engine.through = refusing(lambda: Reply.json(400, {"jsonrpc": "2.0", "id": None, "error": error}))
            with pytest.raises(CallFailed, match=r"what is b\?") as failed:
                await client.call_tool("a")
            assert failed.value.code == -32602

    play(main)


def test_an_http_error_to_a_notification_is_nobodys() -> None:
    async def main() -> None:
        async with scene() as (server, engine, client):
            engine.through = refusing(lambda: Reply.text(500, "no"), b'"notifications/')
            with server.holding("tools/call") as gate:
                async with client_call(client) as call:
                    await gate.arrived()
                    call.cancel()
                await server.settle()
            await client.call_tool("a")
            assert len(server.connections) == 1

    play(main)


def test_of_two_headers_with_one_session_id_one_is_sent_back() -> None:
    async def main() -> None:
        named: list[str | None] = []

        async def through(request: Request, answer: Any) -> Reply:
            named.append(request.headers.get("mcp-session-id"))
            reply = await answer(request)
            given = reply.headers.get("mcp-session-id")
            reply.again = (("mcp-session-id", given),) if given else ()
            return reply

        way = InProcess(ScriptedServer("handshake"))
        way.engine.through = through
        async with ReferenceClient(lambda: http_streams(way.url), era="handshake") as client:
            await client.list_tools()
        await way.aclose()
        assert len({each for each in named if each is not None}) == 1
        assert ", " not in str(named[-1])

    play(main)


@asynccontextmanager
async def client_call(client: ReferenceClient) -> Any:
    """A call that is under way inside the block; its scope."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "a")
        yield tasks.cancel_scope


@pytest.mark.parametrize("body", ["text", "json"])
def test_a_session_that_is_gone_is_lost_whatever_the_body_says(body: str) -> None:
    async def main() -> None:
        async with scene() as (server, engine, client):
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "who are you?"}}
            reply = Reply.text(404, "no") if body == "text" else Reply.json(404, error)
            engine.through = refusing(lambda: reply)
            with pytest.raises(ConnectionLost):
                await client.call_tool("a")
            engine.through = None
            await client.call_tool("a")
            assert len(server.connections) == 2

    play(main)


@every_era
def test_an_answer_that_is_cut_without_event_ids_fails_at_once(era: str) -> None:
    async def main() -> None:
        async with scene(era, timeout=None) as (server, engine, client):
            before = engine.streams(server.connections[-1])
            with server.holding("tools/call") as gate:

                async def cut() -> None:
                    await gate.arrived()
                    await server.settle()
                    (stream,) = (s for s in engine.streams(server.connections[-1]) if s not in before)
                    stream.cut()

                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(cut)
                    with pytest.raises(CallFailed, match="ended before it"):
                        await client.call_tool("a")

    play(main)


@pytest.mark.parametrize("how", ["refused", "status", "ended"])
def test_tries_to_resume_an_answer_are_bounded(how: str) -> None:
    async def main() -> int:
        async with scene(timeout=None) as (server, engine, client):
            engine.event_ids = True
            await client.reconnect()
            before = engine.streams(server.connections[-1])
            tries = 0

            async def through(request: Request, answer: Any) -> Reply:
                nonlocal tries
                if "last-event-id" not in request.headers:
                    return await answer(request)
                tries += 1
                if how == "refused":
                    raise ConnectionRefusedError
                if how == "status":
                    return Reply.text(503, "no")
                return Reply(200, {"content-type": "text/event-stream"})

            engine.through = through
            with server.holding("tools/call") as gate:

                async def cut() -> None:
                    await gate.arrived()
                    await server.settle()
                    for stream in engine.streams(server.connections[-1]):
                        if stream not in before:
                            stream.cut()

                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(cut)
                    with pytest.raises(CallFailed, match="not resumed"):
                        await client.call_tool("a")
            return tries

    assert play(main) == HttpClient.max_tries


@modern_only
def test_annotated_arguments_go_into_headers_by_the_newest_listing() -> None:
    async def main() -> None:
        async with scene("modern") as (server, engine, client):
            for header in ("Region", "Area"):
                server.has_tools(annotated(header))
                await client.refresh()
                await client.call_tool("a", {"x": "Zürich"})
                sent = engine.exchanged[-1].request.headers
                assert sent[f"mcp-param-{header.lower()}"] == "=?base64?WsO8cmljaA==?="
                assert sum(name.startswith("mcp-param-") for name in sent) == 1

    play(main)


@modern_only
def test_a_tool_whose_annotation_is_no_header_is_left_out_with_a_reason() -> None:
    async def main() -> None:
        async with scene("modern") as (server, _, client):
            server.has_tools("b", annotated("no header"))
            await client.refresh()
            assert await client.names() == ["b"]
            ((entry, reason),) = await client.left_out()
            assert entry["name"] == "a"
            assert "'no header'" in reason

    play(main)


def test_in_the_handshake_era_an_annotation_means_nothing() -> None:
    async def main() -> None:
        async with scene() as (server, engine, client):
            server.has_tools(annotated("no header"))
            await client.refresh()
            assert await client.names() == ["a"]
            await client.call_tool("a", {"x": "y"})
            assert not [
                name for name in engine.exchanged[-1].request.headers if name.startswith("mcp-param-")
            ]

    play(main)


def annotated(header: str) -> dict[str, Any]:
    """The tool `a`, whose argument goes into a header."""
    schema = {"type": "object", "properties": {"x": {"type": "string", "x-mcp-header": header}}}
    return tool("a", inputSchema=schema)


@every_era
def test_credentials_that_are_replaced_ride_on_the_next_request(era: str) -> None:
    async def main() -> None:
        given = {"Authorization": "first"}
        credentials = Credentials(given)
        async with scene(era, credentials) as (_, engine, client):
            before = len(engine.exchanged)
            given["Authorization"] = "another's"
            await client.call_tool("a")
            credentials.replace({"Authorization": "second"})
            await client.call_tool("a")
            sent = [each.request.headers.get("authorization") for each in engine.exchanged[before:]]
            assert sent == ["first", "second"]
            assert {each.request.headers["authorization"] for each in engine.exchanged[:before]} == {"first"}

    play(main)


def test_headers_that_are_given_as_they_are_are_copied() -> None:
    async def main() -> None:
        given = {"Authorization": "first"}
        async with scene(headers=given) as (_, engine, client):
            given["Authorization"] = "another's"
            await client.call_tool("a")
            assert {each.request.headers["authorization"] for each in engine.exchanged} == {"first"}

    play(main)
