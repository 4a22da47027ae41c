"""A transport that breaks cancels whoever entered it, and tells why when it is left."""

from __future__ import annotations

import asyncio

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.server import Brittle, ScriptedServer


async def _enter_and_stay(server, breaks):
    """What the one who stays in a transport sees, and what is raised when it has left."""
    seen = []

    async def stay():
        async with server.dial().streams():
            seen.append("entered")
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

    staying = asyncio.ensure_future(stay())
    await server.settle()
    if breaks:
        server.brittle.breaks(OSError("the cable was cut"))
    await server.settle()
    if not staying.done():
        staying.cancel()
    await asyncio.wait({staying})
    return seen, None if staying.cancelled() else describe(staying.exception())


def test_who_entered_is_cancelled_and_told_why():
    async def main():
        server = ScriptedServer()
        server.brittle = Brittle()
        seen, why = await _enter_and_stay(server, breaks=True)
        assert seen == ["entered", "cancelled"]
        assert "the cable was cut" in why
        assert server.ledger.open_connections() == []
        assert [e.text for e in server.history if e.kind == "closed"] == ["dropped, for its transport broke"]

    run(main)


@pytest.mark.parametrize("brittle", [None, Brittle], ids=["sound", "brittle"])
def test_a_transport_that_does_not_break_is_left_in_peace(brittle):
    async def main():
        server = ScriptedServer()
        server.brittle = brittle and brittle()
        assert await _enter_and_stay(server, breaks=False) == (["entered", "cancelled"], None)
        assert [event.text for event in server.history if event.kind == "closed"] == ["by the client"]

    run(main)
