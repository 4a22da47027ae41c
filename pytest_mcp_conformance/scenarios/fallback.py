"""Scenarios of CONN: finding out which era a server speaks."""

from __future__ import annotations

from pytest_mcp_conformance.contract import MODERN
from pytest_mcp_conformance.contract.connections import FALLBACK_FITS_ANY_OLD_SERVER
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import V1, ScriptedServer
from pytest_mcp_conformance.server.connection import Connection
from pytest_mcp_conformance.server.eras import MODERN_VERSION, UNSUPPORTED_VERSION, asked_version

OLD_SERVERS = {
    "method_not_found": -32601,
    "invalid_params": -32602,
    "not_initialized": -32000,
    "odd_code": -1,
}
"""How older servers answer a request that they do not know; others keep silent."""


@scenario(FALLBACK_FITS_ANY_OLD_SERVER, variants=(*OLD_SERVERS, "silence"), eras=MODERN)
async def probe_of_an_older_server(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A wrapper that speaks both eras, and is not told which, meets a server of the older one."""
    if how == "silence" and not connect.claims.makes("clock"):
        leave_out(FALLBACK_FITS_ANY_OLD_SERVER, "clock")
        return
    older = ScriptedServer("handshake", name="an older server", history=server.history, way=server.way)
    if how == "silence":
        older.acts("server/discover", lambda connection, request: None, times=float("inf"))
    else:
        older.fails("server/discover", OLD_SERVERS[how], "what is that?", times=float("inf"))
    await _finds_out(older, connect)


@scenario(FALLBACK_FITS_ANY_OLD_SERVER, eras=MODERN)
async def probe_of_a_modern_server(server: ScriptedServer, connect: Connect) -> None:
    """A wrapper that speaks both eras meets a modern server, which names the version to ask for."""

    def names_its_version(connection: Connection, request: Event) -> None:
        data = {"supported": [MODERN_VERSION], "requested": asked_version(request.params)}
        connection.fail(request, UNSUPPORTED_VERSION, "Unsupported protocol version", data)

    server.acts("server/discover", names_its_version)
    await _finds_out(server, connect)


async def _finds_out(server: ScriptedServer, connect: Connect) -> None:
    server.has_tools(*V1)
    if not {"handshake", "modern"} <= set(connect.claims.eras or ()):
        leave_out(FALLBACK_FITS_ANY_OLD_SERVER, "eras: speaks one of them only")
        return
    connect.told_era = "auto"
    holder = await connect.attempt(server)
    names = await holder.try_names() if holder.error is None else None
    if connect.took_session or not server.ledger.frames("server/discover"):
        leave_out(FALLBACK_FITS_ANY_OLD_SERVER, "sends no probe of its own: it must be told the era")
        return
    handshakes = len(server.ledger.frames("initialize"))
    failure = holder.failure
    with check(FALLBACK_FITS_ANY_OLD_SERVER):
        assert failure == "", f"a server of the {server.era} era was not understood"
        assert names == ["a", "old"], f"the tools of a server of the {server.era} era"
        assert server.era == "handshake" or not handshakes, "a modern server was taken for an older one"
