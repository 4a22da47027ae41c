"""Scenarios of CONN over streamable HTTP: requests that are answered with an HTTP error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPStatus

from pytest_mcp_conformance.contract import Outcome
from pytest_mcp_conformance.contract.connections import HTTP_ERROR_BELONGS_TO_ITS_REQUEST
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._http import Seen, Traffic
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.server import V1, ScriptedServer
from pytest_mcp_conformance.server.ways.http import Reply

STATUSES = {f"call {place}": status for place, status in enumerate((401, 403, 429, 500, 503), 1)}
"""The status that each call gets, by its nonce, which must not say it."""


@scenario(HTTP_ERROR_BELONGS_TO_ITS_REQUEST, ways=HTTP)
async def http_errors_to_calls(server: ScriptedServer, connect: Connect) -> None:
    """While a sibling is out, five calls are answered with 401, 403, 429, 500 and 503; then all is well."""
    server.has_tools(*V1)
    traffic = Traffic(server, connect)

    def refused(seen: Seen) -> Reply | None:
        status = STATUSES.get(seen.nonce or "")
        return None if status is None else Reply.text(status, "scripted")

    traffic.instead = refused
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = wrapper.connections
        with server.holding("tools/call") as gate:
            sibling = wrapper.start_call("old", "sibling")
            await gate.arrived()
            for nonce, status in STATUSES.items():
                with check(HTTP_ERROR_BELONGS_TO_ITS_REQUEST):
                    outcome = await wrapper.call("old", nonce)
                    assert not outcome.ok, f"a call that was answered with HTTP {status}: {outcome}"
                    assert status in _statuses(outcome), f"HTTP {status}, of which the caller gets: {outcome}"
            gate.open()
            gate.release_all()
            with check(HTTP_ERROR_BELONGS_TO_ITS_REQUEST):
                outcome = await sibling.result()
                assert outcome.ok, f"the sibling that was out meanwhile: {outcome}"
        reached(traffic.calls("call 1"), "the calls were not sent")
        with check(HTTP_ERROR_BELONGS_TO_ITS_REQUEST):
            outcome = await wrapper.call("old", "next")
            assert outcome.ok, f"the next call: {outcome}"
            assert wrapper.same_connections(before), "an HTTP error to one call took the connection with it"
        if not outcome.ok:
            server.drop()  # what was ended so cannot be left in good order, which is no second fault


def _statuses(outcome: Outcome) -> set[int]:
    """The HTTP statuses that can be read from what a caller gets: in its text, or on its exceptions."""
    found = {int(number) for number in re.findall(r"(?<!\d)[1-5]\d\d(?!\d)", outcome.text)}
    found |= {status for status in HTTPStatus if status.phrase.lower() in outcome.text.lower()}
    for error in _within(outcome.error):
        for holder in (error, getattr(error, "response", None), getattr(error, "error", None)):
            for name in ("status_code", "status", "code"):
                number = getattr(holder, name, None)
                if isinstance(number, int):
                    found.add(number)
    return found


def _within(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, its causes, and the members of groups."""
    if error is not None:
        yield error
        yield from _within(error.__cause__)
        for member in getattr(error, "exceptions", ()):
            yield from _within(member)
