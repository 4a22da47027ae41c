"""Scenarios of NTC: what a wrapper does with notices, and with the stream that brings them."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

from pytest_mcp_conformance.contract import MODERN
from pytest_mcp_conformance.contract.notices import (
    ACKNOWLEDGED_FILTER_IS_CHECKED,
    END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST,
    EVERY_CONNECTION_IS_LISTENED_TO,
    NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS,
    NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST,
    NOTICE_REACHES_ITS_OWN_CLIENT,
    OTHER_NOTICES_DISTURB_NOTHING,
)
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.scenarios._channel import must_have_a_channel
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import elapsed, time_to_leave
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, ScriptedServer
from pytest_mcp_conformance.server.connection import Connection

REFUSED = 200
"""A wrapper that asks more often than this for a stream that is refused is taken for one that never stops."""

OTHER_NOTICES: dict[str, tuple[dict[str, Any], ...]] = {
    "log": ({"method": "notifications/message", "params": {"level": "info", "data": "at work"}},),
    "other_lists": (
        {"method": "notifications/prompts/list_changed"},
        {"method": "notifications/resources/list_changed", "params": {}},
    ),
    "unknown": ({"method": "notifications/acme/later", "params": {"deep": [1, {"more": None}]}},),
    "stray": ({"method": "notifications/progress", "params": {"progressToken": "nobody's", "progress": 1}},),
    "null_params": (
        {"method": "notifications/prompts/list_changed", "params": None},
        {"method": "notifications/message", "params": None},
    ),
}
"""What else a server may say unasked, and what a newer or a careless one might."""


@scenario(NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST, variants=("alone", "behind_an_answer", "during_a_call"))
async def notice_on_each_channel(server: ScriptedServer, connect: Connect, where: str) -> None:
    """The tools change, and the notice comes by itself, right behind an answer, or while a call is out."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        server.has_tools(*V2)
        with server.holding("tools/call") as gate:
            if where != "alone":
                call = wrapper.start_call("old", "n1")
                held = await gate.arrived()
                if where == "behind_an_answer":
                    held.release()
            sent = await server.notify_list_changed(settled=where != "behind_an_answer")
        if where != "alone":
            await call.ended()
        await server.settle()
        await wrapper.react()
        with check(NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST):
            assert sent, "the wrapper opened no channel on which a notice may be sent"
            assert await wrapper.names() == ["a", "new"]


@scenario(EVERY_CONNECTION_IS_LISTENED_TO)
async def subscription_of_each_connection(server: ScriptedServer, connect: Connect) -> None:
    """A wrapper that reacts to changes connects, lists, and closes; then another one does."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    for time in ("first", "second"):
        mark = server.ledger.mark
        async with connect(server) as wrapper:
            await wrapper.list_tools()
            await server.settle()
            asked = server.ledger.frames("subscriptions/listen", since=mark)
            filters = [frame.params.get("notifications", {}) for frame in asked]
        with check(EVERY_CONNECTION_IS_LISTENED_TO):
            assert any(each.get("toolsListChanged") for each in filters), (
                f"the {time} connection asked for {filters}"
            )


@scenario(ACKNOWLEDGED_FILTER_IS_CHECKED, variants=("no_lifetime", "lapsed"))
async def acknowledgment_grants_less(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The acknowledged filter lacks the tools; they change, nobody says so, and no lifetime runs any more."""
    server.grants = {"promptsListChanged"}
    server.ttl_ms = HOUR_MS if how == "lapsed" else 0
    server.has_tools(*V1)
    if how == "lapsed" and not connect.claims.makes("clock"):
        leave_out(ACKNOWLEDGED_FILTER_IS_CHECKED, "clock")
        return

    wrapper = await connect.attempt(server)
    if wrapper.error is not None or await wrapper.try_names() is None:
        leave_out(ACKNOWLEDGED_FILTER_IS_CHECKED, "refuses a server that grants less than was asked for")
        return
    await server.settle()
    asked = [frame.params.get("notifications", {}) for frame in server.ledger.frames("subscriptions/listen")]
    must_have_a_channel(server, asked)
    reached(any(each.get("toolsListChanged") for each in asked), "it did not ask to hear of changes")
    server.has_tools(*V2)
    await asyncio.sleep(HOUR_MS / 1000 if how == "lapsed" else wrapper.claims.polls or 0.0)
    await server.settle()
    with check(ACKNOWLEDGED_FILTER_IS_CHECKED):
        assert await wrapper.names() == ["a", "new"]


@scenario(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST, variants=("result", "cancelled", "error"), eras=MODERN)
async def subscription_ends(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The stream that brings notices ends, and the tools change while there is none."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        must_have_a_channel(server, server.ledger.frames("subscriptions/listen"))
        with server.holding("tools/call") as gate:
            call = wrapper.start_call("old", "n1")
            await gate.arrived()
            server.has_tools(*V2)
            mark = server.ledger.mark
            server.end_subscriptions(how)
            await wrapper.react()
            with check(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST):
                assert await wrapper.names() == ["a", "new"]
        with check(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST):
            outcome = await call.result()
            assert outcome.shows("n1"), f"a call that was out when the stream ended: {outcome}"
            await server.ledger.until(
                lambda: bool(server.ledger.frames("subscriptions/listen", since=mark)),
                "the stream opened again",
            )


@scenario(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST, eras=MODERN)
async def subscription_is_refused(server: ScriptedServer, connect: Connect) -> None:
    """The stream ends, and the server refuses to open another one for ten minutes."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)
    asked: list[float] = []

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        must_have_a_channel(server, server.ledger.frames("subscriptions/listen"))
        with elapsed() as spent:

            def refuse(connection: Connection, request: Event) -> None:
                asked.append(spent.seconds)
                if len(asked) <= REFUSED:
                    connection.fail(request, -32603, "no streams today")

            server.acts("subscriptions/listen", refuse, times=float("inf"))
            server.end_subscriptions("error")
            await asyncio.sleep(600.0)
        gaps = [later - earlier for earlier, later in pairwise(asked)]
        with check(END_OF_THE_STREAM_ENDS_TRUST_IN_THE_LIST):
            assert len(asked) <= REFUSED, f"asked {len(asked)} times within {asked[REFUSED - 1]:g} s"
            assert len(gaps) < 20 or gaps[-1] > gaps[0], (
                f"asked {len(asked)} times, always {gaps[-1]:g} s apart"
            )


@scenario(NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS)
async def notice_while_a_call_is_out(server: ScriptedServer, connect: Connect) -> None:
    """A notice comes while a call is out; what the wrapper fetches for it is answered, then the call."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        with server.holding("tools/call") as calls:
            call = wrapper.start_call("old", "n1")
            answer = await calls.arrived()
            server.has_tools(*V1, "more")
            with server.holding("tools/list"):
                if not await server.notify_list_changed():
                    leave_out(
                        NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS,
                        "opened no channel on which a notice may be sent",
                    )
                    return
            await server.settle()
            with elapsed() as spent, check(NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS):
                answer.release()
                outcome = await call.result()
                assert outcome.shows("n1"), f"the call that was out: {outcome}"
                assert spent.seconds <= time_to_leave(connect), (
                    "the answer was read only after a timer had run"
                )
        with check(NOTICE_HANDLING_NEVER_BLOCKS_ANSWERS):
            outcome = await wrapper.call("old", "n2")
            assert outcome.shows("n2"), f"a further call: {outcome}"


@scenario(NOTICE_REACHES_ITS_OWN_CLIENT)
async def notice_for_one_of_two(server: ScriptedServer, connect: Connect) -> None:
    """Two holders with equal settings; notices go to the second, and again after the first has closed."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as first:
        already = len(server.connections)
        await first.list_tools()
        async with connect(server) as second:
            await second.list_tools()
            await server.settle()
            theirs = server.connections[already:] or server.connections
            for tools in (V2, ("third",)):
                server.has_tools(*tools)
                must_have_a_channel(server, await server.notify_list_changed(connections=theirs))
                await second.react()
                with check(NOTICE_REACHES_ITS_OWN_CLIENT):
                    expected = [each if isinstance(each, str) else each["name"] for each in tools]
                    assert await second.names() == expected
                await first.close()


@scenario(OTHER_NOTICES_DISTURB_NOTHING, variants=tuple(OTHER_NOTICES))
async def other_notices(server: ScriptedServer, connect: Connect, which: str) -> None:
    """The server says other things, right behind the handshake, and again while a call is out."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        _say(server, which)
        with check(OTHER_NOTICES_DISTURB_NOTHING):
            assert await wrapper.names() == ["a", "old"]
        with server.holding("tools/call") as gate:
            call = wrapper.start_call("old", "n1")
            await gate.arrived()
            reached(_say(server, which), "no connection is open")
        with check(OTHER_NOTICES_DISTURB_NOTHING):
            outcome = await call.result()
            assert outcome.shows("n1"), f"the call that was out: {outcome}"
            outcome = await wrapper.call("old", "n2")
            assert outcome.shows("n2"), f"a further call: {outcome}"
            await server.settle()
            assert [frame.message for frame in server.ledger.frames(kind="replied")] == []


def _say(server: ScriptedServer, which: str) -> int:
    """Send these notices on every open connection, the next frame right behind. Returns how many it has."""
    listening = [connection for connection in server.connections if connection.open]
    for connection in listening:
        for notice in OTHER_NOTICES[which]:
            connection.send({"jsonrpc": "2.0", **notice})
    return len(listening)
