"""Scenarios over streamable HTTP: what rides in the headers of each request."""

from __future__ import annotations

from pytest_mcp_conformance.contract.tenants import HEADERS_RIDE_ON_ALL_TRAFFIC
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._http import Traffic
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.server import V1, ScriptedServer


@scenario(HEADERS_RIDE_ON_ALL_TRAFFIC, ways=HTTP)
async def headers_of_a_principal(server: ScriptedServer, connect: Connect) -> None:
    """A principal's whole life: it lists, calls, hears of a change, is lost or reconnects, calls, and closes.

    Each request is looked at, also those that no verb stands for.
    """
    server.has_tools(*V1)
    traffic = Traffic(server, connect)
    configured = server.dial("A").headers

    wrapper = await connect.attempt(server, "A")
    if wrapper.error is None:
        await wrapper.start_listing().ended()
        await wrapper.call("old", "n1")
        await server.notify_list_changed()
        if server.era == "handshake":
            for connection in server.connections:
                traffic.engine.forget(connection)
        elif wrapper.has("reconnect"):
            await wrapper.start("reconnect").ended()
        for nonce in ("n2", "n3"):  # the first may be lost with the session
            await wrapper.call("old", nonce)
    await wrapper.close()
    reached(traffic.calls("n1"), f"no call was sent; {wrapper.failure}")
    with check(HEADERS_RIDE_ON_ALL_TRAFFIC):
        for each in traffic.requests():
            for name, value in configured.items():
                found = each.headers.get(name.lower())
                assert found is not None, f"{each}: the header {name} is missing"
                assert found == value, f"{each}: the header {name} is not what was configured: {found}"


@scenario(HEADERS_RIDE_ON_ALL_TRAFFIC, variants=("added", "in_place_of"), ways=HTTP)
async def header_for_one_call(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A connection is in use; one call is given a header that it lacks, or another token of its principal.

    Whoever refuses that, before anything is sent or after, says so.
    """
    server.has_tools(*V1)
    traffic = Traffic(server, connect)
    renewed = connect.dial(server, "A", renewal=1).headers
    given = renewed if how == "in_place_of" else {"X-Of-One-Call": "n2"}

    async with connect(server, "A") as wrapper:
        if not wrapper.has("call_with_headers"):
            leave_out(HEADERS_RIDE_ON_ALL_TRAFFIC, "call_with_headers")
            return
        await wrapper.list_tools()
        await wrapper.call("old", "n1")
        outcome = await wrapper.start_call_with_headers("old", "n2", given).result()
        reached(traffic.calls("n2") or not outcome.ok, "the call is said to be good, and was not sent")
        with check(HEADERS_RIDE_ON_ALL_TRAFFIC):
            for each in traffic.calls("n2"):
                for name, value in given.items():
                    found = each.headers.get(name.lower())
                    assert found == value or not outcome.ok, (
                        f"a call that was given a header {name} went out and ended well with another: {found}"
                    )
