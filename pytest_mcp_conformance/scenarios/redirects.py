"""A scenario of TEN over streamable HTTP: a server that sends its clients to another origin."""

from __future__ import annotations

from pytest_mcp_conformance.contract.tenants import CREDENTIAL_STAYS_WITH_ITS_ORIGIN
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._http import SESSION, Seen, Traffic
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.server import V1, ScriptedServer
from pytest_mcp_conformance.server.ways.http import Reply

MOVED = 307
"""The status by which a client sends the same request, with its method and its body, to another address."""


@scenario(CREDENTIAL_STAYS_WITH_ITS_ORIGIN, ways=HTTP, variants=("everything", "calls"))
async def redirected_elsewhere(server: ScriptedServer, connect: Connect, what: str) -> None:
    """A principal's server redirects every request, or the calls alone, to another origin.

    Whoever does not follow there, and fails or waits, has sent nothing there, which is right by this rule.
    Its close may tell of that failure once more.
    """
    elsewhere = server.another("another origin")
    server.has_tools(*V1)
    elsewhere.has_tools(*V1)
    here, there = Traffic(server, connect), Traffic(elsewhere, connect)
    address, own = connect.dial(elsewhere).url, connect.dial(server, "A").headers["Authorization"]

    def moved(seen: Seen) -> Reply | None:
        if what == "everything" or seen.asks == "tools/call":
            return Reply.text(MOVED, "moved", location=address)
        return None

    here.instead = moved
    wrapper = await connect.attempt(server, "A")
    if wrapper.error is None:
        await wrapper.start_listing().ended()
        await wrapper.start_call("old", "n1").ended()
    await server.settle()
    redirected = [each for each in here.requests() if each.status == MOVED]
    sessions = {each.headers[SESSION] for each in redirected if SESSION in each.headers} - _of(there)
    with check(CREDENTIAL_STAYS_WITH_ITS_ORIGIN):
        for each in there.requests():
            told = own in each.headers.values()
            assert not told, f"{each}: redirected to another origin with the principal's credential"
            named = each.headers.get(SESSION) in sessions
            assert not named, f"{each}: redirected to another origin with the id of the session here"
    server.drop()  # who was sent elsewhere cannot leave in good order, which is no second fault
    reached(
        any(own in each.headers.values() for each in redirected), "nothing with the credential was redirected"
    )
    await wrapper.close()
    wrapper.trouble = [line for line in wrapper.trouble if not line.startswith("tear-down raised")]


def _of(there: Traffic) -> set[str]:
    """The ids of the sessions that began at the other origin: these are its own."""
    named = (dict(each.reply.fields) for each in there.requests() if each.reply is not None)
    return {value for fields in named for name, value in fields.items() if name.lower() == SESSION}
