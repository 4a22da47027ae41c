"""The HTTP engine in the modern era: headers held against the body, streams of one request, no sessions."""

from __future__ import annotations

import asyncio
import base64
import json

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server.ways.http import Request
from tests.server.plain_http import META, content, engine, message, messages, modern, next_message, post

VERSION = "io.modelcontextprotocol/protocolVersion"
MISMATCH, UNSUPPORTED, INVALID_PARAMS = -32020, -32022, -32602

REGIONAL = {
    "name": "regional",
    "inputSchema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {
                "type": "object",
                "properties": {
                    "count": {"type": "integer", "x-mcp-header": "Count"},
                    "dry": {"type": "boolean", "x-mcp-header": "Dry"},
                },
            },
            "share": {"type": "number", "x-mcp-header": "Not-A-Primitive-Of-The-Rule"},
        },
    },
}


def listen(number="listen-1", **headers):
    return modern("subscriptions/listen", number, headers=headers, notifications={"toolsListChanged": True})


def encoded(text):
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        pytest.param(modern("tools/list"), 200, None, id="in order"),
        pytest.param(modern("tools/list", headers={"mcp_method": None}), 400, MISMATCH, id="no method"),
        pytest.param(
            modern("tools/list", headers={"mcp_method": "Tools/list"}), 400, MISMATCH, id="another method"
        ),
        pytest.param(
            modern("tools/list", headers={"mcp_protocol_version": None}), 400, MISMATCH, id="no version"
        ),
        pytest.param(
            modern("tools/list", headers={"mcp_protocol_version": "2025-11-25"}),
            400,
            MISMATCH,
            id="another version",
        ),
        pytest.param(
            modern("tools/list", headers={"mcp_protocol_version": "1"}, _meta={**META, VERSION: "1"}),
            400,
            UNSUPPORTED,
            id="a version that nobody speaks",
        ),
        pytest.param(
            post(message("tools/list", 1), mcp_method="tools/list"), 400, INVALID_PARAMS, id="no metadata"
        ),
        pytest.param(
            modern("tools/list", _meta={VERSION: "2026-07-28"}), 400, INVALID_PARAMS, id="no capabilities"
        ),
        pytest.param(modern("prompts/list"), 404, -32601, id="a method that nobody knows"),
        pytest.param(modern("tools/list", cursor="x"), 400, INVALID_PARAMS, id="refused by the script"),
        pytest.param(modern("tools/call", name="a", arguments={}), 200, None, id="a call"),
        pytest.param(modern("tools/call", name="a", headers={"mcp_name": None}), 400, MISMATCH, id="no name"),
        pytest.param(
            modern("tools/call", name="a", headers={"mcp_name": "b"}), 400, MISMATCH, id="another name"
        ),
        pytest.param(
            modern("tools/call", name="a", headers={"mcp_name": encoded("a")}), 200, None, id="name encoded"
        ),
        pytest.param(
            modern("tools/call", name="a", headers={"mcp_name": "=?base64?*?="}),
            400,
            MISMATCH,
            id="name encoded badly",
        ),
        pytest.param(post(message("initialize", 1)), 400, UNSUPPORTED, id="initialize"),
        pytest.param(Request("GET", "/mcp"), 405, None, id="GET"),
        pytest.param(Request("DELETE", "/mcp"), 405, None, id="DELETE"),
        pytest.param(
            modern("tools/list", headers={"mcp_session_id": "of old"}), 200, None, id="a session id"
        ),
    ],
)
def test_a_request_is_answered_by_its_headers(request_, status, code):
    async def main():
        _, http = engine("modern", "a")
        reply = await http.handle(request_)
        assert reply.status == status
        assert "mcp-session-id" not in reply.headers
        if status == 405:
            assert reply.headers["allow"] == "POST"
            return
        [answer] = await messages(reply)
        assert answer["id"] == 1
        assert (answer["error"]["code"] if code else None) == code
        assert ("result" in answer) is (code is None)

    run(main)


@pytest.mark.parametrize(
    ("arguments", "headers", "good"),
    [
        ({}, {}, True),
        ({"region": None}, {}, True),
        ({"region": "west"}, {"mcp_param_region": "west"}, True),
        ({"region": "wést "}, {"mcp_param_region": encoded("wést ")}, True),
        ({"region": "west"}, {}, False),
        ({"region": "west"}, {"mcp_param_region": "east"}, False),
        ({}, {"mcp_param_region": "west"}, False),
        ({"in": {"count": 42}}, {"mcp_param_count": "42"}, True),
        ({"in": {"count": 42}}, {"mcp_param_count": "42.0"}, True),
        ({"in": {"count": 42}}, {"mcp_param_count": "42.5"}, False),
        ({"in": {"count": 42}}, {}, False),
        ({"in": {"dry": True}}, {"mcp_param_dry": "true"}, True),
        ({"in": {"dry": True}}, {"mcp_param_dry": "1"}, False),
        ({"in": 1}, {}, True),
        ({"share": 0.5}, {}, True),
    ],
    ids=str,
)
def test_arguments_that_a_header_repeats_are_held_against_it(arguments, headers, good):
    async def main():
        _, http = engine("modern", REGIONAL)
        reply = await http.handle(modern("tools/call", name="regional", arguments=arguments, headers=headers))
        [answer] = await messages(reply)
        return reply.status, answer.get("error", {}).get("code")

    assert run(main) == ((200, None) if good else (400, MISMATCH))


def test_a_stream_of_one_request_carries_what_belongs_to_it():
    async def main():
        server, http = engine("modern", "a")
        with server.holding("tools/call") as gate:
            reply = await http.handle(modern("tools/call", 5, name="a", arguments={}))
            held = await gate.arrived()
            held.connection.log("working", related=held.request)
            held.connection.notify("notifications/tools/list_changed")  # belongs to nothing: has no way out
        told, answer = await messages(reply)
        assert (told["method"], answer["id"]) == ("notifications/message", 5)

    run(main)


@pytest.mark.parametrize("how", ["result", "cancelled", "error"])
def test_a_subscription_keeps_its_stream_open_until_it_ends(how):
    async def main():
        server, http = engine("modern", "a")
        http.as_json = True  # which no subscription can be
        reply = await http.handle(listen())
        assert (await next_message(reply))["method"] == "notifications/subscriptions/acknowledged"
        assert server.ledger.open_connections() == [1]
        assert await server.notify_list_changed() == 1
        assert (await next_message(reply))["method"] == "notifications/tools/list_changed"
        server.end_subscriptions(how)
        [last] = await messages(reply)
        assert server.ledger.open_connections() == []
        return last

    last = run(main)
    assert last.get("method") == ("notifications/cancelled" if how == "cancelled" else None)


def test_a_response_that_the_client_leaves_is_a_request_that_it_cancels():
    async def main():
        server, http = engine("modern", "a")
        listening = await http.handle(listen())
        with server.holding("tools/call") as gate:
            reply = await http.handle(modern("tools/call", 5, name="a", arguments={}))
            held = await gate.arrived()
            reply.body.close()
            reply.body.close()
            listening.body.close()
            held.release()
        assert await server.notify_list_changed() == 0
        cancelled = server.ledger.frames("notifications/cancelled")
        return [frame.params["requestId"] for frame in cancelled], server.ledger.open_connections()

    assert run(main) == ([5, "listen-1"], [])


def test_a_client_that_gives_up_waiting_for_a_whole_answer_cancels_it():
    async def main():
        server, http = engine("modern", "a")
        http.as_json = True
        with server.holding("tools/list") as gate:
            asking = asyncio.ensure_future(http.handle(modern("tools/list", 7)))
            await gate.arrived()
            asking.cancel()
            await server.settle()
        return [frame.params["requestId"] for frame in server.ledger.frames("notifications/cancelled")]

    assert run(main) == [7]


def test_an_answer_that_was_sent_and_not_read_is_not_cancelled():
    async def main():
        server, http = engine("modern", "a")
        reply = await http.handle(modern("tools/list"))
        assert server.ledger.open_connections() == [1]
        reply.body.close()
        assert server.ledger.open_connections() == []
        return server.ledger.frames("notifications/cancelled")

    assert run(main) == []


def test_a_stream_that_was_cut_is_not_cancelled_by_the_client_and_gets_no_notice():
    async def main():
        server, http = engine("modern", "a")
        listening = await http.handle(listen())
        await next_message(listening)
        [stream] = http.streams(server.connections[0])
        stream.cut()
        with pytest.raises(ConnectionResetError):
            await anext(listening.body)
        listening.body.close()
        assert not server.ledger.frames("notifications/cancelled")
        return await server.notify_list_changed(), server.ledger.open_connections()

    assert run(main) == (0, [])


async def _connections(http, *requests):
    for request in requests:
        await content(await http.handle(request))
    return [connection.number for connection in http.server.connections]


def _of(source, request):
    return Request(request.method, request.path, request.fields, request.body, source)


@pytest.mark.parametrize(
    ("requests", "number"),
    [
        pytest.param([modern("server/discover", 1), modern("tools/list", 2)], 1, id="one client"),
        pytest.param([modern("tools/list", 1), modern("tools/list", 1)], 1, id="an id again, later"),
        pytest.param([modern("tools/list", 1), modern("server/discover", 2)], 1, id="discovers later"),
        pytest.param([modern("server/discover", 1), modern("server/discover", 2)], 2, id="discovers twice"),
        pytest.param(
            [_of("x", modern("tools/list", 1)), _of("y", modern("tools/list", 1))], 2, id="two HTTP clients"
        ),
        pytest.param(
            [modern("tools/list", 1), modern("tools/list", 1, headers={"authorization": "1"})],
            2,
            id="two principals",
        ),
    ],
)
def test_what_counts_as_one_connection(requests, number):
    async def main():
        server, http = engine("modern", "a")
        http.dialled("ann", {"Authorization": "1"})
        assert await _connections(http, *requests) == list(range(1, number + 1))
        assert server.ledger.open_connections() == []
        http.close()
        assert [event.text for event in server.history if event.kind == "closed"] == [
            "by the client"
        ] * number

    run(main)


def test_an_id_that_is_still_out_is_of_another_client():
    async def main():
        server, http = engine("modern", "a")
        with server.holding("tools/list") as gate:
            replies = [await http.handle(modern("tools/list", 1)) for _ in range(2)]
            await gate.arrived(2)
            server.has_tools("b")
            assert len(server.ledger.open_connections()) == 2
        return [[tool["name"] for tool in (await messages(r))[0]["result"]["tools"]] for r in replies]

    assert run(main) == [["a"], ["a"]]


def test_after_a_drop_the_next_request_is_of_a_new_connection():
    async def main():
        server, http = engine("modern", "a")
        listening = await http.handle(listen())
        await next_message(listening)
        server.drop()
        with pytest.raises(ConnectionResetError):
            await anext(listening.body)
        assert server.ledger.open_connections() == []
        server.refusing = True
        with pytest.raises(ConnectionRefusedError):
            await http.handle(modern("tools/list"))
        server.recovers()
        assert (await http.handle(modern("tools/list"))).status == 200
        return len(server.connections)

    assert run(main) == 2


def test_a_notification_is_taken_and_recorded():
    async def main():
        server, http = engine("modern", "a")
        reply = await http.handle(post(message("notifications/cancelled", requestId=3)))
        assert (reply.status, await content(reply)) == (202, b"")
        assert server.ledger.open_connections() == []
        return [frame.params for frame in server.ledger.frames("notifications/cancelled")]

    assert run(main) == [{"requestId": 3}]


def test_a_stream_that_is_open_when_the_engine_closes_stays_so_in_the_history():
    async def main():
        server, http = engine("modern", "a")
        await http.handle(listen())
        http.close()
        return [event.kind for event in server.history if event.kind in ("opened", "closed")]

    assert run(main) == ["opened"]


def test_a_version_that_nobody_speaks_is_refused_with_those_that_are_spoken():
    async def main():
        _, http = engine("modern", "a")
        reply = await http.handle(
            modern("tools/list", headers={"mcp_protocol_version": "1"}, _meta={**META, VERSION: "1"})
        )
        return json.loads(await content(reply))["error"]["data"]

    assert run(main) == {"supported": ["2026-07-28"], "requested": "1"}
