"""What a client keeps does not grow with the number of its calls."""

from __future__ import annotations

import gc

import pytest
from mcp_conformance_reference import ReferenceClient, RequestLedger

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer, tool
from tests.reference.peer import ERAS

CALLS = 500


async def objects_after(calls: int, client: ReferenceClient, server: ScriptedServer) -> int:
    """How many objects the collector knows after so many more calls, the server's own ledger set aside."""
    (handle,) = await client.list_tools()
    for n in range(calls):
        await client.call_tool(handle, {"nonce": f"n{n}"})
    server.history._events.clear()
    for connection in server.connections:
        connection._asked.clear()
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.parametrize("era", ERAS)
def test_calls_leave_nothing_behind(era: str) -> None:
    async def script() -> None:
        server = ScriptedServer(era)
        server.has_tools(tool("a", "integer"))
        server.ttl_ms = 3_600_000
        async with ReferenceClient(server.dial().streams, era=era) as client:
            await objects_after(50, client, server)
            before = await objects_after(0, client, server)
            after = await objects_after(CALLS, client, server)
            assert after - before < CALLS / 10

    run(script)


@pytest.mark.parametrize("era", ERAS)
def test_calls_leave_nothing_to_the_garbage_collector(era: str) -> None:
    async def script() -> None:
        server = ScriptedServer(era)
        server.has_tools(tool("a", "integer"))
        async with ReferenceClient(server.dial().streams, era=era) as client:
            await objects_after(50, client, server)
            gc.disable()
            try:
                for n in range(CALLS):
                    await client.call_tool("a", {"nonce": f"n{n}"})
                assert gc.collect() < CALLS / 10
            finally:
                gc.enable()

    run(script)


def test_a_ledger_keeps_a_bounded_number_of_records() -> None:
    ledger = RequestLedger(limit=10)
    for _ in range(CALLS):
        with ledger.call({"name": "a"}):
            pass
    assert len(ledger.records()) <= 10
