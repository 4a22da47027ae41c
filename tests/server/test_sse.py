"""The transport before streamable HTTP: a plain HTTP client in this process, and what the SDK makes of it."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from importlib import import_module

import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.in_process import InProcess
from tests.server.http_clients import LIBRARY, names
from tests.server.plain_http import message

HTTP = import_module(LIBRARY)
INITIALIZE = message("initialize", 0, protocolVersion="2024-11-05", capabilities={}, clientInfo={})
LIST = message("tools/list", 1)


@asynccontextmanager
async def scripted():
    """A script with one tool, its way in, and an HTTP client at its address."""
    server = ScriptedServer(way="sse")
    server.has_tools("a")
    way = InProcess(server, sse=True)
    try:
        async with HTTP.AsyncClient(base_url=way.url.removesuffix("/sse"), timeout=60.0) as client:
            yield server, way, client
    finally:
        await way.aclose()


@asynccontextmanager
async def streaming(client, **headers):
    """One connection: where its messages go, and its further events as they come, each its name and data."""
    async with client.stream("GET", "/sse", headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        events = _events(response)
        name, endpoint = await anext(events)
        assert name == "endpoint"
        yield endpoint, events


async def _events(response):
    fields = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield fields["event"], fields["data"]
            fields = {}


async def answer(events):
    """The next message of the stream."""
    name, data = await anext(events)
    assert name == "message"
    return json.loads(data)


def play(main):
    """Run a scene, and see that it leaves no task."""
    left: list[str] = []
    returned = run(main, leftovers=left)
    assert left == []
    return returned


def test_a_post_is_taken_with_202_and_answered_on_the_stream():
    async def main():
        async with scripted() as (server, _, client):
            async with streaming(client) as (endpoint, events):
                assert (await client.post(endpoint, json=INITIALIZE)).status_code == 202
                assert (await answer(events))["result"]["protocolVersion"] == "2024-11-05"
                assert (await client.post(endpoint, json=LIST)).status_code == 202
                assert [tool["name"] for tool in (await answer(events))["result"]["tools"]] == ["a"]
                assert server.ledger.open_connections() == [1]
            assert server.ledger.open_connections() == []
            assert [event.text for event in server.ledger if event.kind == "closed"] == ["by the client"]

    play(main)


def test_each_stream_is_a_connection_of_its_own_with_the_principal_of_its_headers():
    async def main():
        async with scripted() as (server, way, client):
            for name in ("ann", "bob"):
                server.has_tools(f"of {name}", principal=name)
                way.dialled(name, {"Authorization": f"Bearer {name}"})
            ann, bob = {"authorization": "Bearer ann"}, {"authorization": "Bearer bob"}
            async with (
                streaming(client, **ann) as (first, of_ann),
                streaming(client, **bob) as (second, of_bob),
            ):
                assert first != second
                for endpoint, headers in ((second, bob), (first, ann)):
                    await client.post(endpoint, json=LIST, headers=headers)
                listed = [(await answer(events))["result"]["tools"] for events in (of_ann, of_bob)]
                assert [tool["name"] for (tool,) in listed] == ["of ann", "of bob"]
            return [connection.principal for connection in server.connections]

    assert play(main) == ["ann", "bob"]


def test_what_is_said_unasked_comes_on_the_stream():
    async def main():
        async with scripted() as (server, _, client), streaming(client) as (endpoint, events):
            await client.post(endpoint, json=INITIALIZE)
            await answer(events)
            await client.post(endpoint, json=message("notifications/initialized"))
            assert await server.notify_list_changed() == 1
            assert (await answer(events))["method"] == "notifications/tools/list_changed"

    play(main)


def test_a_stream_on_which_nothing_is_said_sends_comments():
    async def main():
        async with scripted() as (_, _, client), client.stream("GET", "/sse") as response:
            lines = response.aiter_lines()
            said = [await anext(lines) for _ in range(4)]
            assert said[0] == "event: endpoint"
            assert said[3].startswith(":")
            return asyncio.get_running_loop().time()

    assert play(main) == 15.0


def test_a_server_that_hangs_up_breaks_the_stream_off_after_what_it_has_said():
    async def main():
        async with scripted() as (server, _, client), streaming(client) as (endpoint, events):
            await client.post(endpoint, json=LIST)
            server.drop()
            assert (await answer(events))["id"] == 1
            with pytest.raises(HTTP.RemoteProtocolError):
                await anext(events)
            reply = await client.post(endpoint, json=LIST)
            assert (reply.status_code, len(server.ledger.listings())) == (404, 1)
            assert [event.text for event in server.ledger if event.kind == "closed"] == [
                "dropped by the server"
            ]

    play(main)


def test_a_server_that_forgets_a_connection_ends_its_stream():
    async def main():
        async with scripted() as (server, way, client), streaming(client) as (endpoint, events):
            way.engine.forget(server.connections[0])
            assert [event async for event in events] == []
            assert (await client.post(endpoint, json=LIST)).status_code == 404

    play(main)


def test_a_connection_that_is_refused_or_dropped_at_once_has_no_stream():
    async def main():
        async with scripted() as (server, _, client):
            for fault, error in (("refused", HTTP.ConnectError), ("hangs_up", HTTP.RemoteProtocolError)):
                server.suffers(fault, "connect")
                with pytest.raises(error):
                    await client.get("/sse")
            return server.ledger.open_connections()

    assert play(main) == []


@pytest.mark.parametrize(
    ("method", "where", "how", "status", "allow"),
    [
        ("POST", "/sse", {"json": INITIALIZE}, 405, "GET"),
        ("GET", "endpoint", {}, 405, "POST"),
        ("DELETE", "endpoint", {}, 405, "POST"),
        ("POST", "/messages/none", {"json": LIST}, 404, None),
        ("POST", "/mcp", {"json": INITIALIZE}, 404, None),
        ("POST", "endpoint", {"content": b"{"}, 415, None),
        ("POST", "endpoint", {"content": b"{", "headers": {"content-type": "application/json"}}, 400, None),
        ("POST", "endpoint", {"json": LIST, "headers": {"accept": "application/json"}}, 202, None),
    ],
)
def test_a_request_is_taken_where_the_transport_has_it(method, where, how, status, allow):
    async def main():
        async with scripted() as (_, _, client), streaming(client) as (endpoint, _):
            reply = await client.request(method, endpoint if where == "endpoint" else where, **how)
            return reply.status_code, reply.headers.get("allow")

    assert play(main) == (status, allow)


def test_a_status_is_the_answer_to_a_post_and_nothing_comes_on_the_stream():
    async def main():
        async with scripted() as (server, _, client), streaming(client) as (endpoint, events):
            server.suffers("unauthorized", "list")
            assert (await client.post(endpoint, json=LIST)).status_code == 401
            assert (await client.post(endpoint, json={**LIST, "id": 2})).status_code == 202
            assert (await answer(events))["id"] == 2

    play(main)


def test_a_session_of_the_sdk_is_told_at_once_that_its_stream_has_ended():
    async def main():
        async with scripted() as (server, way, _):
            async with sse_client(way.url) as streams, ClientSession(*streams) as session:
                await session.initialize()
                assert await names(session) == ["a"]
                with server.holding("tools/list") as gate:
                    listing = asyncio.create_task(names(session))
                    await gate.arrived()
                    server.drop()
                    with pytest.raises(Exception, match=r"(?i)closed"):
                        await listing
            return asyncio.get_running_loop().time()

    assert play(main) == 0.0
