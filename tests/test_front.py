"""What the kit makes of the front end of a proxy: one of the SDK's own, and those that do not work."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from pytest_mcp_conformance.adapters import sdk_major
from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.scenarios._front import front_of
from pytest_mcp_conformance.server import NotReached

starlette = pytest.importorskip("starlette.applications")
routing = pytest.importorskip("starlette.routing")


def front_of_the_sdk():
    """An app of the SDK that lists one tool."""
    listed = types.ListToolsResult.model_validate(
        {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}
    )
    if sdk_major() >= 2:

        async def lists(context, params):
            return listed

        return Server("front", on_list_tools=lists).streamable_http_app()
    server = Server("front")

    @server.list_tools()
    async def list_tools():
        return listed.tools

    sessions = StreamableHTTPSessionManager(server)

    @asynccontextmanager
    async def life(app):
        async with sessions.run():
            yield

    class Endpoint:
        async def __call__(self, scope, receive, send):
            await sessions.handle_request(scope, receive, send)

    return starlette.Starlette(routes=[routing.Route("/mcp", endpoint=Endpoint())], lifespan=life)


def played(app, *asked):
    """What a front end answers to requests, and the session that it gave; nothing may be left of it."""

    async def main():
        async with front_of(app, {"Authorization": "Bearer x"}) as front:
            return [await front.ask(each) for each in asked], front.session

    left = []
    returned = run(main, leftovers=left)
    assert left == []
    return returned


@pytest.mark.parametrize("again", ["once", "again"])
def test_one_of_the_sdk_answers_and_leaves_nothing(again):
    (answer,), session = played(front_of_the_sdk(), "tools/list")
    assert [tool["name"] for tool in answer["result"]["tools"]] == ["a"]
    assert session


def answering(status, body, **lifespan):
    """An app that answers everything alike, and its life as told."""

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": lifespan.get("says", "lifespan.startup.complete")})
            return
        number = json.loads((await receive())["body"]).get("id")
        said = body.replace("<id>", json.dumps(number)).encode()
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": said})

    return app


@pytest.mark.parametrize(
    "body",
    [
        '{"jsonrpc": "2.0", "id": <id>, "result": {}}',
        'event: message\ndata: {"jsonrpc": "2.0", "id": 1, "method": "ping"}\n\n'
        'data: {"jsonrpc": "2.0", "id": <id>, "result": {}}\n\n',
    ],
    ids=["json", "events"],
)
def test_an_answer_is_read_as_json_or_out_of_events(body):
    (answer,), session = played(answering(200, body), "tools/list")
    assert answer["result"] == {}
    assert session == ""


def test_a_refusal_is_told_with_its_status():
    with pytest.raises(NotReached, match="initialize with HTTP 401 and 'who are you'"):
        played(answering(401, "who are you"))


def test_one_that_does_not_start_is_not_asked():
    with pytest.raises(NotReached, match="does not start"):
        played(answering(200, "", says="lifespan.startup.failed"))


def test_one_that_raises_is_told_with_its_error():
    async def app(scope, receive, send):
        raise RuntimeError("out of order")

    with pytest.raises(NotReached, match="RuntimeError: out of order"):
        played(app)


def test_one_that_never_answers_is_given_up():
    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            raise NotImplementedError
        while (await receive())["type"] != "http.disconnect":
            pass

    with pytest.raises(NotReached, match="does not answer"):
        played(app)


def test_one_that_never_says_that_it_is_up_is_given_up():
    async def app(scope, receive, send):
        while (await receive())["type"] != "lifespan.shutdown":
            pass

    with pytest.raises(NotReached, match="does not start"):
        played(app)
