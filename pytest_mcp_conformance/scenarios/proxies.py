"""Scenarios of TEN: a wrapper that is a server in front, and what of its user reaches the back end."""

from __future__ import annotations

from pytest_mcp_conformance.contract.tenants import PROXY_SENDS_ITS_OWN_CREDENTIAL
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._front import HOST, front_of
from pytest_mcp_conformance.scenarios._http import SESSION, Seen, Traffic
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.server import V1, NotReached, ScriptedServer

CREDENTIAL = "credential-in-front"
"""What the user of the front end shows there."""

PROGRESS = "progress-in-front"
"""The token by which that user hears of a call's progress: a text, which nobody takes for a request's id."""


@scenario(PROXY_SENDS_ITS_OWN_CREDENTIAL, ways=HTTP)
async def front_and_back(server: ScriptedServer, connect: Connect) -> None:
    """Through a proxy that has a credential of its own, a user with another one lists and calls.

    The call asks for progress. The user speaks the handshake era, whichever is spoken behind. A proxy that
    its adapter gives no credential is not asked for one.
    """
    server.has_tools(*V1)
    traffic = Traffic(server, connect)
    own = connect.dial(server, "A").headers["Authorization"]
    call = {"name": "old", "arguments": {"nonce": "n1"}, "_meta": {"progressToken": PROGRESS}}
    failure = session = ""

    async with connect(server, "A") as wrapper:
        try:
            async with front_of(wrapper.part("front")(), {"Authorization": f"Bearer {CREDENTIAL}"}) as front:
                session = front.session
                await front.ask("tools/list")
                await front.ask("tools/call", call)
        except NotReached as stopped:
            failure = str(stopped)
    with check(PROXY_SENDS_ITS_OWN_CREDENTIAL):
        for each in traffic.requests():
            _is_of_its_own(each, session)
        listed_and_called = [*traffic.asked("tools/list"), *traffic.calls("n1")]
        if any(each.headers.get("authorization") == own for each in traffic.requests()):
            for each in listed_and_called:
                found = each.headers.get("authorization")
                assert found == own, f"{each}: the credential is not the proxy's own: {found}"
    server.drop()  # who names the session otherwise cannot end it, which is no second fault
    reached(traffic.calls("n1"), f"the call did not come through; {failure}")


def _is_of_its_own(seen: Seen, session: str) -> None:
    """Assert that nothing of the front end's user is in a request to the back end."""
    body = seen.request.body.decode()
    told = any(CREDENTIAL in text for text in (*seen.headers.values(), body))
    assert not told, f"{seen}: carries the front end's credential"
    named = bool(session) and session in seen.headers.get(SESSION, "")
    assert not named, f"{seen}: carries the front end's session id"
    assert seen.headers.get("host") != HOST, f"{seen}: carries the front end's Host header"
    assert PROGRESS not in body, f"{seen}: carries the front end's progress token"
