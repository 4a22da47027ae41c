"""Scenarios of TEN over streamable HTTP: credentials that are replaced, and the object that holds them."""

from __future__ import annotations

import asyncio

from pytest_mcp_conformance.contract.tenants import (
    CALLERS_CONFIGURATION_IS_LEFT_ALONE,
    REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._http import SESSION, Seen, Traffic
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.server import HOUR_MS, V1, ScriptedServer
from pytest_mcp_conformance.server.ways.configuration import Configuration

SOON = 60.0
"""Seconds within which whoever opens a stream again has done so."""


@scenario(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN, ways=HTTP)
async def credential_that_is_renewed(server: ScriptedServer, connect: Connect) -> None:
    """A principal's token is replaced by a new one; it calls, loses its streams and its session, and closes.

    In between it hears of a change. A stream that was opened before bears the old token until it is opened
    again, which is no fault.
    """
    server.has_tools(*V1)
    traffic = Traffic(server, connect)

    async with connect(server, "A") as wrapper:
        await wrapper.list_tools()
        await wrapper.call("old", "n1")
        await server.settle()
        begun = _sessions(traffic.requests())
        old, new = (connect.dial(server, "A", renewal=each) for each in (0, 1))
        await wrapper.verb("set_principal", new)
        await server.settle()
        mark = traffic.mark
        outcome = await wrapper.call("old", "n2")
        await server.notify_list_changed()
        await wrapper.react()
        await wrapper.try_names()
        reached(traffic.calls("n2"), f"no call was sent after the change: {outcome}")
        with check(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN):
            assert outcome.ok, f"a call after the token of the same principal was renewed: {outcome}"
            others = _sessions(traffic.requests(since=mark)) - begun
            assert wrapper.claims.makes("dials_per_operation") or not others, (
                "the token of the same principal was renewed, and another session begun"
            )
        for connection in server.connections:
            for stream in traffic.engine.streams(connection):
                stream.cut()
        await asyncio.sleep(SOON)
        await wrapper.call("old", "n3")
        await _loses(server, traffic, wrapper)
        for nonce in ("n4", "n5"):  # the first may be lost with the session
            await wrapper.call("old", nonce)
    with check(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN):
        late = _carry(traffic.requests(since=mark), old.headers)
        assert late == [], "carry a token that was replaced before"


@scenario(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN, ways=HTTP)
async def credential_of_another_principal(server: ScriptedServer, connect: Connect) -> None:
    """A's token is replaced by one of B, whose tools are others; either list may be kept for an hour.

    Only A's session may still be ended with A's token.
    """
    server.ttl_ms = HOUR_MS
    for name in "AB":
        server.has_tools("old", f"of_{name.lower()}", principal=name)
    traffic = Traffic(server, connect)

    async with connect(server, "A") as wrapper:
        await wrapper.list_tools()
        await server.settle()
        changing = wrapper.start("set_principal", connect.dial(server, "B"))
        if await changing.ended() and changing.error is not None:
            leave_out(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN, "refuses a credential of another principal")
            return
        await changing.result()
        await server.settle()
        mark = traffic.mark
        with check(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN):
            names = await wrapper.try_names()
            assert names in (None, ["of_b", "old"]), "the tools of B, whose token has replaced A's"
        await wrapper.call("old", "n1")
        reached(traffic.calls("n1"), "no call was sent after the change")
    with check(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN):
        late = [each for each in traffic.requests(since=mark) if each.request.method != "DELETE"]
        assert _carry(late, connect.dial(server, "A").headers) == [], "carry the token of the one before"


@scenario(CALLERS_CONFIGURATION_IS_LEFT_ALONE, ways=HTTP)
async def settings_object_of_the_caller(server: ScriptedServer, connect: Connect) -> None:
    """Two connect as A with the same objects for settings and headers; then B's token is written into these.

    Both call a tool that they were handed before, lose their connections, and call again. Whoever asks its
    dial for headers then is given A's, in a new object. An adapter that hands its wrapper a copy keeps what
    the wrapper does with it from being seen.
    """
    for name in "AB":
        server.has_tools("old", f"of_{name.lower()}", principal=name)
    traffic = Traffic(server, connect)
    given, theirs = (connect.dial(server, name).headers for name in "AB")
    callers = Configuration(given)
    connect.hand_out(callers)

    async with connect(server, "A") as first:
        await first.try_names()
        with check(CALLERS_CONFIGURATION_IS_LEFT_ALONE):
            assert callers.changed == [], "settings of the caller, written to by a connect and a listing"
        async with connect(server, "A") as second:
            await second.try_names()
            with check(CALLERS_CONFIGURATION_IS_LEFT_ALONE):
                assert callers.changed == [], "settings of the caller, written to by a second connect"
            reached(_carry(traffic.asked("tools/list"), given), "no listing carried the headers")
            connect.hand_out(None)
            callers.headers.clear()
            callers.headers.update(theirs)
            for holder, nonces in ((first, ("n1", "n2", "n3")), (second, ("n4", "n5", "n6"))):
                await holder.call("old", nonces[0])
                await _loses(server, traffic, holder)
                for nonce in nonces[1:]:  # the first may be lost with the session
                    await holder.call("old", nonce)
            reached(traffic.calls("n1") and traffic.calls("n4"), "no call was sent")
    with check(CALLERS_CONFIGURATION_IS_LEFT_ALONE):
        moved = _carry(traffic.requests(), theirs)
        assert moved == [], "carry what was written into the caller's object after it was given"


async def _loses(server: ScriptedServer, traffic: Traffic, wrapper: Holder) -> None:
    """Have a wrapper dial again, where anything makes it: a session that is forgotten, or its user."""
    if server.era == "handshake":
        for connection in server.connections:
            traffic.engine.forget(connection)
    elif wrapper.has("reconnect"):
        await wrapper.start("reconnect").ended()


def _sessions(requests: list[Seen]) -> set[str]:
    """The ids of the sessions that requests are of."""
    return {each.headers[SESSION] for each in requests if SESSION in each.headers}


def _carry(requests: list[Seen], headers: dict[str, str]) -> list[str]:
    """The requests that carry the token of these headers, in any header, in words."""
    token = headers["Authorization"].split()[-1]
    return [str(each) for each in requests if any(token in value for value in each.headers.values())]
