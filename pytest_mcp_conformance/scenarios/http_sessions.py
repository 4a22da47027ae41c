"""Scenarios of CONN over streamable HTTP: the session that a server keeps, names, and forgets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from pytest_mcp_conformance.contract import HANDSHAKE
from pytest_mcp_conformance.contract.connections import (
    CLOSE_IS_BOUNDED,
    LOST_SESSION_IS_REPLACED,
    SESSION_HEADERS_RIDE_ON_EVERY_REQUEST,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._http import SESSION, VERSION, Seen, Traffic
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import elapsed
from pytest_mcp_conformance.server import V1, ScriptedServer
from pytest_mcp_conformance.server.ways.http import Reply

FIRST_WITH_VERSION_HEADER = "2025-06-18"
"""The first revision in which requests name the version in a header."""


@scenario(LOST_SESSION_IS_REPLACED, variants=("text", "json_rpc"), ways=HTTP)
async def session_that_the_server_forgot(server: ScriptedServer, connect: Connect, body: str) -> None:
    """The server forgets the session, and answers 404 to its id, with a text or with a JSON-RPC error.

    A call meets that, unless it has a session of its own; then the tools are listed, and called once more.
    """
    server.has_tools(*V1)
    traffic = Traffic(server, connect)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        dead = {each.headers.get(SESSION) for each in traffic.asked("tools/list")}
        reached(dead and None not in dead, "no listing was of a session")

        def unknown(seen: Seen) -> Reply | None:
            if body == "text" or seen.headers.get(SESSION) not in dead:
                return None
            error = {"code": -32600, "message": "Session not found"}
            return Reply.json(404, {"jsonrpc": "2.0", "id": seen.message.get("id"), "error": error})

        for connection in server.connections:
            traffic.engine.forget(connection)
        traffic.instead = unknown
        first = await wrapper.call("old", "n1")
        mark = traffic.mark
        with check(LOST_SESSION_IS_REPLACED):
            assert not first.ok or server.ledger.calls("n1"), (
                f"a call of a session that is gone, which the server has not seen: {first}"
            )
            assert await wrapper.names() == ["a", "old"]
            outcome = await wrapper.call("old", "n2")
            assert outcome.ok, f"the server knows new sessions, and the second call after the loss: {outcome}"
            late = [each for each in traffic.requests("POST", mark) if each.headers.get(SESSION) in dead]
            assert not late, f"requests of the session that the server had answered with 404: {_told(late)}"
            carried = [each.headers for each in traffic.asked("initialize") if SESSION in each.headers]
            assert not carried, "an initialize with a session id"
        reached(server.ledger.calls("n2") or traffic.calls("n2"), "the second call was not sent")


OPENS = ("initialize", "server/discover")
"""What is sent for a session: the handshake, and the question whether it is needed.

What came before the first handshake, as a probe for OAuth, is of no session."""


@scenario(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST, ways=HTTP)
async def headers_of_a_session(server: ScriptedServer, connect: Connect) -> None:
    """A session from initialize to DELETE, with a listing, a call and a change of tools."""
    server.has_tools(*V1)
    traffic = Traffic(server, connect)
    versions: dict[str, str] = {}

    def note(seen: Seen) -> None:
        if seen.asks == "initialize" and seen.reply is not None and SESSION in seen.reply.headers:
            number = seen.reply.headers[SESSION]
            versions[number] = server.ledger.frames("initialize", kind="answered")[-1].message["result"][
                "protocolVersion"
            ]

    traffic.changes = note
    wrapper = await connect.attempt(server)
    if wrapper.error is None:
        await wrapper.start_listing().ended()
        outcome = await wrapper.call("old", "n1")
        await server.notify_list_changed()
    await wrapper.close()
    reached(versions, "no session was begun")
    first = next(place for place, each in enumerate(traffic.seen) if each.asks == "initialize")
    later = [each for each in traffic.requests(since=first) if each.asks not in OPENS]
    reached(later, "nothing followed the handshake")
    with check(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST):
        for each in later:
            found = each.headers.get(SESSION)
            assert found in versions, f"{each}: the session id is {_seen(found, versions)}"
            if versions[found] >= FIRST_WITH_VERSION_HEADER:
                spoken = each.headers.get(VERSION)
                assert spoken == versions[found], (
                    f"{each}: the protocol version is {spoken!r}, and {versions[found]!r} was agreed on"
                )
        assert wrapper.error is None, wrapper.failure
        assert outcome.ok, str(outcome)
    server.drop()  # whoever names the session otherwise cannot end it, which is no second fault


@scenario(CLOSE_IS_BOUNDED, eras=HANDSHAKE, ways=HTTP)
async def end_that_is_not_answered(server: ScriptedServer, connect: Connect) -> None:
    """The wrapper closes, and its DELETE is never answered.

    Whoever ends a session within each verb still serves what it has.
    """
    server.has_tools(*V1)
    traffic = Traffic(server, connect)
    server.suffers("silent", "close", times=float("inf"))

    async with connect(server) as wrapper:
        listing = wrapper.start_listing()
        await listing.ended()
        with check(CLOSE_IS_BOUNDED):
            cancelled = isinstance(listing.error, asyncio.CancelledError)
            assert not (cancelled and wrapper.claims.makes("dials_per_operation")), (
                "list_tools, which ends its own session, was cancelled, though nobody cancelled it"
            )
        await listing.result()
        await server.settle()
        with elapsed() as spent:
            await wrapper.close()
            seconds = spent.seconds
    wrapper.trouble.clear()  # who gives up after a limit of its own may say so
    if not traffic.requests("DELETE"):
        leave_out(CLOSE_IS_BOUNDED, "ends its session without a DELETE")
        return
    with check(CLOSE_IS_BOUNDED):
        assert seconds < wrapper.patience, f"close had not ended after {seconds:g} s"


def _seen(found: str | None, given: Iterable[str]) -> str:
    """An id as it was sent; ids that were given are called so, for they are others each time."""
    if found is None:
        return "missing"
    for number in given:
        found = found.replace(number, "<given>")
    return repr(found)


def _told(requests: list[Seen]) -> str:
    return ", ".join(str(each) for each in requests)
