"""The HTTP engine in the handshake era: sessions, the GET stream, and coming back for the rest."""

from __future__ import annotations

import asyncio
import json

import pytest

from pytest_mcp_conformance.clock import run, settle
from pytest_mcp_conformance.server.ways.http import Body, Reply, Request
from tests.server.plain_http import (
    content,
    engine,
    events,
    fields,
    message,
    messages,
    next_message,
    opened,
    post,
)

INITIALIZE = message("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={})
LIST = message("tools/list", 1)


def get(session, **headers):
    return Request("GET", "/mcp", fields({"accept": "text/event-stream", **session, **headers}))


def delete(session):
    return Request("DELETE", "/mcp", fields(session))


def test_a_session_opens_with_initialize_and_ends_with_delete():
    async def main():
        server, http = engine("handshake", "a")
        first = await http.handle(post(INITIALIZE))
        [answer] = await messages(first)
        session = {"mcp_session_id": first.headers["mcp-session-id"]}
        other = await http.handle(post(INITIALIZE))
        assert (first.status, answer["result"]["protocolVersion"]) == (200, "2025-11-25")
        assert other.headers["mcp-session-id"] != session["mcp_session_id"]
        assert server.ledger.open_connections() == [1, 2]
        assert (await http.handle(delete(session))).status == 200
        assert server.ledger.open_connections() == [2]
        assert (await http.handle(delete(session))).status == 404
        assert [each.status for each in http.exchanged] == [200, 200, 200, 404]

    run(main)


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        pytest.param(post(LIST), 400, -32600, id="without a session"),
        pytest.param(post(LIST, mcp_session_id="none"), 404, None, id="with a session that never was"),
        pytest.param(get({}), 400, -32600, id="a GET without a session"),
        pytest.param(delete({}), 400, -32600, id="a DELETE without a session"),
        pytest.param(post(b"{"), 400, -32700, id="no JSON"),
        pytest.param(post([LIST]), 400, -32600, id="a batch"),
        pytest.param(post({"jsonrpc": "2.0", "id": 1}), 400, -32600, id="no message"),
        pytest.param(post({**LIST, "id": [1]}), 400, -32600, id="an id that is none"),
        pytest.param(post({**LIST, "id": None}), 400, -32600, id="an id that is null"),
        pytest.param(post(LIST, content_type="text/plain"), 415, None, id="another media type"),
        pytest.param(post(LIST, accept="application/json"), 406, None, id="takes no events"),
        pytest.param(post(LIST, accept=None), 406, None, id="takes nothing"),
        pytest.param(Request("PUT", "/mcp"), 405, None, id="another method"),
        pytest.param(Request("GET", "/"), 404, None, id="another path"),
    ],
)
def test_a_request_that_is_not_in_order_is_refused(request_, status, code):
    async def main():
        server, http = engine("handshake", "a")
        reply = await http.handle(request_)
        text = (await content(reply)).decode()
        assert reply.status == status
        assert (json.loads(text)["error"]["code"] if code else None) == code
        assert not server.ledger.frames()
        return reply.headers

    headers = run(main)
    assert headers.get("allow") == ("GET, POST, DELETE" if status == 405 else None)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"mcp_protocol_version": "2025-03-26"}, 200),
        ({"mcp_protocol_version": None}, 200),
        ({"mcp_protocol_version": "2026-07-28"}, 400),
        ({"accept": "*/*"}, 200),
        ({"accept": "application/*;q=0.5, text/event-stream"}, 200),
    ],
    ids=str,
)
def test_a_request_in_a_session_is_answered_by_its_headers(headers, status):
    async def main():
        _, http = engine("handshake", "a")
        session = await opened(http)
        return (await http.handle(post(LIST, **{**session, **headers}))).status

    assert run(main) == status


def test_an_answer_comes_as_one_event_or_as_one_object():
    async def main():
        _, http = engine("handshake", "a")
        session = await opened(http)
        streamed = await http.handle(post(LIST, **session))
        http.as_json = True
        whole = await http.handle(post(message("tools/list", 2), **session))
        assert streamed.headers["content-type"] == "text/event-stream"
        assert streamed.headers["x-accel-buffering"] == "no"
        assert whole.headers["content-type"] == "application/json"
        [one], [other] = await messages(streamed), await messages(whole)
        assert (one["id"], other["id"]) == (1, 2)
        assert one["result"]["tools"] == other["result"]["tools"] != []

    run(main)


@pytest.mark.parametrize("as_json", [False, True], ids=["events", "json"])
def test_answers_that_are_held_come_in_the_order_in_which_they_are_released(as_json):
    async def main():
        server, http = engine("handshake", "a")
        http.as_json = as_json
        session = await opened(http)
        came = []

        async def ask(number):
            reply = await http.handle(post(message("tools/list", number), **session))
            came.extend(each["id"] for each in await messages(reply))

        with server.holding("tools/list") as gate:
            tasks = [asyncio.ensure_future(ask(number)) for number in (1, 2, 3)]
            await gate.arrived(3)
            for place in (3, 1, 2):
                gate.release_all([place])
                await server.settle()
        await asyncio.gather(*tasks)
        assert came == [3, 1, 2]

    run(main)


def test_what_belongs_to_a_request_is_on_its_stream_and_the_rest_on_that_of_the_get():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)
        listening = await http.handle(get(session))
        with server.holding("tools/call") as gate:
            reply = await http.handle(post(message("tools/call", 5, name="a", arguments={}), **session))
            held = await gate.arrived()
            held.connection.log("working", related=held.request)
            await server.notify_list_changed()
        assert [each["method"] if "method" in each else each["id"] for each in await messages(reply)] == [
            "notifications/message",
            5,
        ]
        assert (await next_message(listening))["method"] == "notifications/tools/list_changed"
        assert listening.headers["content-type"] == "text/event-stream"

    run(main)


def test_a_notice_waits_for_the_first_get_and_goes_to_the_newest_one_alone():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)
        await server.notify_list_changed()
        first = await http.handle(get(session))
        assert (await next_message(first))["method"] == "notifications/tools/list_changed"
        second = await http.handle(get(session))
        server.connections[0].notify("notifications/prompts/list_changed")
        assert (await next_message(second))["method"] == "notifications/prompts/list_changed"
        second.body.close()
        server.connections[0].notify("notifications/resources/list_changed")
        assert (await next_message(first))["method"] == "notifications/resources/list_changed"
        first.body.close()
        server.connections[0].notify("notifications/tools/list_changed")  # nobody hears it
        third = await http.handle(get(session))
        http.close()
        with pytest.raises(ConnectionResetError):
            await anext(third.body)

    run(main)


def test_a_reply_of_the_client_is_taken_and_recorded():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)
        reply = await http.handle(post({"jsonrpc": "2.0", "id": 9, "result": {}}, **session))
        assert (reply.status, await content(reply)) == (202, b"")
        assert [frame.id for frame in server.ledger.frames(kind="replied")] == [9]

    run(main)


@pytest.mark.parametrize("held", [False, True], ids=["at once", "later"])
def test_a_handshake_that_fails_leaves_no_session(held):
    async def main():
        server, http = engine("handshake", "a")
        server.fails("initialize", -32603, "not yet")
        if held:
            with server.holding("initialize"):
                reply = await http.handle(post(INITIALIZE))
        else:
            reply = await http.handle(post(INITIALIZE))
            assert "mcp-session-id" not in reply.headers
        assert (await messages(reply))[0]["error"]["message"] == "not yet"
        assert server.ledger.open_connections() == []

    run(main)


@pytest.mark.parametrize("as_json", [False, True], ids=["events", "json"])
def test_a_client_that_leaves_its_handshake_leaves_no_session(as_json):
    async def main():
        server, http = engine("handshake", "a")
        http.as_json = as_json
        with server.holding("initialize") as gate:
            asking = asyncio.ensure_future(http.handle(post(INITIALIZE)))
            await gate.arrived()
            if as_json:
                asking.cancel()
            else:
                (await asking).body.close()
            await server.settle()
        return server.ledger.open_connections(), [e.text for e in server.history if e.kind == "closed"]

    assert run(main) == ([], ["by the client during its handshake"])


def test_a_client_that_leaves_any_other_response_cancels_nothing():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)
        with server.holding("tools/list"):
            reply = await http.handle(post(LIST, **session))
            reply.body.close()
        assert not server.ledger.frames("notifications/cancelled")
        assert server.ledger.open_connections() == [1]

    run(main)


def test_a_drop_cuts_what_is_open_after_what_was_sent_and_the_session_is_gone():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)
        listening = await http.handle(get(session))
        with server.holding("tools/call") as gate:
            reply = await http.handle(post(message("tools/call", 5, name="a", arguments={}), **session))
            held = await gate.arrived()
            held.connection.log("working", related=held.request)
            server.drop()
            assert (await next_message(reply))["method"] == "notifications/message"
            for cut in (reply, listening):
                with pytest.raises(ConnectionResetError):
                    await anext(cut.body)
        assert (await http.handle(post(LIST, **session))).status == 404
        assert (await http.handle(get(session))).status == 404

    run(main)


@pytest.mark.parametrize("as_json", [False, True], ids=["events", "json"])
def test_a_server_that_hangs_up_on_a_request_sends_no_response(as_json):
    async def main():
        server, http = engine("handshake", "a")
        http.as_json = as_json
        session = await opened(http)
        server.drops_on("tools/list")
        with pytest.raises(ConnectionResetError):
            await http.handle(post(LIST, **session))

    run(main)


def test_a_server_that_refuses_takes_no_new_session_and_keeps_the_old_ones():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)
        server.refusing = True
        with pytest.raises(ConnectionRefusedError):
            await http.handle(post(INITIALIZE))
        return (await http.handle(post(LIST, **session))).status

    assert run(main) == 200


def test_a_session_that_is_forgotten_ends_its_streams_and_is_not_found():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)
        listening = await http.handle(get(session))
        http.forget(server.connections[0])
        assert await content(listening) == b""
        assert (await http.handle(post(LIST, **session))).status == 404
        assert server.ledger.open_connections() == []
        assert (await opened(http))["mcp_session_id"] != session["mcp_session_id"]

    run(main)


def test_events_have_no_ids_unless_they_are_asked_for():
    async def main():
        _, http = engine("handshake", "a")
        session = await opened(http)
        plain = await events(await http.handle(post(LIST, **session)))
        http.event_ids, http.retry_ms = True, 500
        session = await opened(http)
        numbered = await events(await http.handle(post(LIST, **session)))
        return [sorted(event) for event in plain], numbered

    plain, (first, second) = run(main)
    assert plain == [["data", "event"]]
    assert (first["retry"], first["data"]) == ("500", "")
    assert first["id"] != second["id"]
    assert json.loads(second["data"])["id"] == 1


def test_a_client_comes_back_for_the_rest_of_a_stream_that_was_cut():
    async def main():
        server, http = engine("handshake", "a")
        http.event_ids = True
        session = await opened(http)
        with server.holding("tools/call") as gate:
            reply = await http.handle(post(message("tools/call", 5, name="a", arguments={}), **session))
            held = await gate.arrived()
            last = (await anext(reply.body)).decode().split("id: ")[1].split("\n")[0]
            held.connection.log("working", related=held.request)
            [stream] = http.streams(server.connections[0])
            stream.cut()
            held.release()
        assert (await next_message(reply))["method"] == "notifications/message"
        with pytest.raises(ConnectionResetError):
            await anext(reply.body)
        again = await http.handle(get(session, last_event_id=last))
        told, answer = await messages(again)
        assert (told["params"]["data"], answer["id"]) == ("working", 5)
        unknown = await http.handle(get(session, last_event_id="77.1"))
        assert unknown.status == 400

    run(main)


def test_what_a_get_missed_is_there_when_it_comes_back_by_the_id_of_its_last_event():
    async def main():
        server, http = engine("handshake", "a")
        http.event_ids = True
        session = await opened(http)
        listening = await http.handle(get(session))
        last = (await anext(listening.body)).decode().split("id: ")[1].split("\n")[0]
        listening.body.close()
        await server.notify_list_changed()
        again = await http.handle(get(session, last_event_id=last))
        return (await next_message(again))["method"]

    assert run(main) == "notifications/tools/list_changed"


def test_a_stream_that_is_silent_sends_a_comment_now_and_then():
    async def main():
        _, http = engine("handshake", "a")
        session = await opened(http)
        listening = await http.handle(get(session))
        before = asyncio.get_running_loop().time()
        piece = await anext(listening.body)
        return piece.startswith(b":"), asyncio.get_running_loop().time() - before

    assert run(main) == (True, 15.0)


def test_each_frame_has_the_principal_of_its_own_credentials():
    async def main():
        server, http = engine("handshake", "everybodys")
        server.has_tools("of ann", principal="ann")
        http.dialled("ann", {"Authorization": "Bearer 1"})
        http.dialled(None, {})
        session = await opened(http, authorization="Bearer 1")
        ours = await messages(await http.handle(post(LIST, **session)))
        theirs = await messages(await http.handle(post(LIST, **{**session, "authorization": "Bearer 2"})))
        listed = [answer["result"]["tools"][0]["name"] for [answer] in (ours, theirs)]
        assert listed == ["of ann", "everybodys"]
        assert [frame.principal for frame in server.ledger.listings()] == ["ann", None]
        assert server.connections[0].principal == "ann"

    run(main)


def test_headers_are_read_by_lower_case_names_and_repeated_ones_are_joined():
    request = Request("GET", "/mcp", [("MCP-Session-Id", "1"), ("mcp-session-id", "2")])
    assert request.headers == {"mcp-session-id": "1, 2"}


def test_another_may_answer_in_place_of_the_script():
    async def main():
        server, http = engine("handshake", "a")
        session = await opened(http)

        async def slowly():
            for piece in (b"not ", b"now"):
                await asyncio.sleep(10)
                yield piece

        async def through(request, answer):
            if request.method == "GET":
                return await answer(request)
            return Reply(503, {"retry-after": "20"}, Body(slowly()))

        http.through = through
        reply = await http.handle(post(LIST, **session))
        before = asyncio.get_running_loop().time()
        assert (reply.status, await content(reply)) == (503, b"not now")
        assert asyncio.get_running_loop().time() - before == 20
        assert (await http.handle(get(session))).status == 200
        assert not server.ledger.listings()

    run(main)


def test_whoever_is_kept_waiting_when_the_engine_closes_is_cut_off():
    async def main():
        _, http = engine("handshake", "a")

        async def mute(request, answer):
            await asyncio.Event().wait()

        http.through = mute
        asking = asyncio.ensure_future(http.handle(post(INITIALIZE)))
        await settle()
        http.close()
        with pytest.raises(ConnectionResetError):
            await asking

    run(main)


def test_a_closed_engine_refuses_and_what_was_open_stays_so_in_the_history():
    async def main():
        server, http = engine("handshake", "a")
        await opened(http)
        http.close()
        with pytest.raises(ConnectionRefusedError):
            await http.handle(post(INITIALIZE))
        return server.ledger.open_connections()

    assert run(main) == [1]
