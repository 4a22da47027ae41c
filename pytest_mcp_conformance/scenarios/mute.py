"""A scenario of CALL: a server that leaves one request without an answer."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract.calls import EVERY_REQUEST_HAS_A_LIMIT
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._owner import NeverOpened
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import arrives_or_ends
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import V1, ScriptedServer
from pytest_mcp_conformance.server.eras import HANDSHAKE_METHOD

LONG = 3600.0
"""Seconds after which a verb is taken to wait for ever: no default that was found is longer. A set-up has the
time that every set-up is given."""


@scenario(EVERY_REQUEST_HAS_A_LIMIT, variants=("connect", "listing", "call"))
async def mute_server(server: ScriptedServer, connect: Connect, step: str) -> None:
    """The handshake, a listing or a call is never answered, and the connection stays as it is."""
    server.has_tools(*V1)
    if step == "connect":
        with server.holding(HANDSHAKE_METHOD[server.era]):
            holder = await connect.attempt(server)
            with check(EVERY_REQUEST_HAS_A_LIMIT):
                assert not isinstance(holder.error, NeverOpened), holder.failure
            if holder.error is None:
                await _must_end(holder.start_listing())
        await server.settle()  # an answer that crosses the farewell opens what nobody has heard of
        reached(server.connections, "nothing was dialled")
        return
    async with connect(server) as wrapper:
        if step == "call":
            await wrapper.list_tools()
        method = "tools/list" if step == "listing" else "tools/call"
        with server.holding(method) as gate:
            verb: Pending[Any] = (
                wrapper.start_listing() if step == "listing" else wrapper.start_call("old", "n1")
            )
            if not await arrives_or_ends(gate, verb):
                leave_out(EVERY_REQUEST_HAS_A_LIMIT, f"{verb.step} sends no {method} here")
                return
            await _must_end(verb)


async def _must_end(verb: Pending[Any]) -> None:
    await verb.ended(LONG)
    with check(EVERY_REQUEST_HAS_A_LIMIT):
        assert verb.done, f"{verb.step} was not answered, and still waits after {LONG:g} s"
