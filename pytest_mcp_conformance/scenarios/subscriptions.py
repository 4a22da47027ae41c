"""Scenarios of NTC: several listen streams on one connection, told apart by their ids."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract.notices import NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out
from pytest_mcp_conformance.scenarios._scenario import STDIO, scenario
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, ScriptedServer
from pytest_mcp_conformance.server.connection import Connection

URI = "scripted://one"


@scenario(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES, variants=("result", "cancelled", "error"), ways=STDIO)
async def one_of_two_streams_ends(server: ScriptedServer, connect: Connect, how: str) -> None:
    """One connection has two listen streams: the second ends, the first tells of a change, and ends too.

    The tools change once more after that, and nobody says so.
    """
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)
    if not connect.claims.makes("reacts_to_list_changed"):
        leave_out(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES, "reacts_to_list_changed")
        return

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        second = await _has_another(server, connect, wrapper)
        streams = _streams(server)
        if len(streams) != 2 or len({connection for connection, _ in streams}) != 1:
            leave_out(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES, "has no two streams on one connection")
            return
        (connection, first_stream), (_, second_stream) = streams
        await wrapper.list_tools()
        connection.end_subscription(second_stream, how)
        await server.settle()
        server.has_tools(*V2)
        connection.notify_subscriber(first_stream)
        await wrapper.react()
        with check(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES):
            names = await wrapper.names()
            assert names == ["a", "new"], "the listing after a notice of the stream that did not end"
            if second is not None:
                names = await second.names()
                assert names == ["a", "new"], "the listing of whom the stream that ended was for"
        server.has_tools("third")
        connection.end_subscription(first_stream, how)
        await wrapper.react()
        with check(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES):
            names = await wrapper.names()
            assert names == ["third"], "the listing after the end of the stream that told of the tools"


@scenario(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES, ways=STDIO)
async def second_stream_is_acknowledged_first(server: ScriptedServer, connect: Connect) -> None:
    """The first listen stream is not acknowledged until the second is; in between the tools change."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    with server.holding("subscriptions/listen") as gate:
        opening = connect.start(server)
        await server.settle()
        gate.open()
        if not (opening.done and gate.held):
            leave_out(
                NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES, "is set up once its stream is acknowledged"
            )
            return
        wrapper = await opening.result()
        await wrapper.list_tools()
        mark = server.ledger.mark
        await wrapper.list_tools()
        if not server.ledger.listings(since=mark):
            leave_out(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES, "trusts its list before an acknowledgment")
            return
        await _has_another(server, connect, wrapper)
        if len(_streams(server)) != 1 or len(server.connections) != 1:
            leave_out(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES, "has no two streams on one connection")
            return
        await wrapper.list_tools()
        server.has_tools(*V2)
        gate.release_all()
    await wrapper.react()
    with check(NOTICE_BELONGS_TO_THE_SUBSCRIPTION_IT_NAMES):
        names = await wrapper.names()
        assert names == ["a", "new"], "the listing after the acknowledgment of its own stream"
    await wrapper.close()


async def _has_another(server: ScriptedServer, connect: Connect, wrapper: Holder) -> Holder | None:
    """Have another stream opened: for a resource, or for the list of another holder, which is then given."""
    second = None
    if wrapper.has("subscribe_resource"):
        await wrapper.verb("subscribe_resource", URI)
    else:
        second = await connect.attempt(server)
        if second.error is None:
            await second.list_tools()
    await server.settle()
    return second


def _streams(server: ScriptedServer) -> list[tuple[Connection, Any]]:
    """The listen streams that are open, in the order of their acknowledgments."""
    return [(connection, number) for connection in server.connections for number in connection.subscriptions]
