"""Scenarios of CONN over streamable HTTP: requests that are answered with an HTTP error."""

from __future__ import annotations

import re
from dataclasses import replace
from http import HTTPStatus

from pytest_mcp_conformance.contract import Outcome
from pytest_mcp_conformance.contract._outcome import family
from pytest_mcp_conformance.contract.calls import PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL
from pytest_mcp_conformance.contract.connections import HTTP_ERROR_BELONGS_TO_ITS_REQUEST
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import elapsed, out_together
from pytest_mcp_conformance.server import FAULTS, V1, ScriptedServer

ERRORS = ("unauthorized", "forbidden", "too_many_requests", "server_error", "unavailable")
"""What the calls suffer, one after the other."""


@scenario(HTTP_ERROR_BELONGS_TO_ITS_REQUEST, ways=HTTP)
async def http_errors_to_calls(server: ScriptedServer, connect: Connect) -> None:
    """While a sibling is out, five calls are answered with 401, 403, 429, 500 and 503; then all is well."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        before = wrapper.connections
        with server.holding("tools/call") as gate:
            sibling = wrapper.start_call("old", "sibling")
            beside = wrapper.start_call("old", "beside")
            together = await out_together(gate, [sibling, beside])
            if together:
                gate.call("beside").release()
                await beside.ended()
            for place, name in enumerate(ERRORS, 1):
                fault = replace(FAULTS[name], headers=())  # nobody is told to come back
                status = fault.status
                server.suffers(fault, "call", times=float("inf"))
                with check(HTTP_ERROR_BELONGS_TO_ITS_REQUEST):
                    outcome = await wrapper.call("old", f"call {place}")  # which must not say the status
                    assert not outcome.ok, f"a call that was answered with HTTP {status}: {outcome}"
                    assert status in _statuses(outcome), f"HTTP {status}, of which the caller gets: {outcome}"
                server.recovers()
            gate.open()
            gate.release_all()
            with check(HTTP_ERROR_BELONGS_TO_ITS_REQUEST):
                outcome = await sibling.result()  # who sends one call at a time has it answered before
                assert outcome.ok, f"the sibling that was out meanwhile: {outcome}"
        reached(server.ledger.calls("call 1"), "the calls were not sent")
        with check(HTTP_ERROR_BELONGS_TO_ITS_REQUEST):
            outcome = await wrapper.call("old", "next")
            assert outcome.ok, f"the next call: {outcome}"
            assert wrapper.same_connections(before), "an HTTP error to one call took the connection with it"
        if not outcome.ok:
            server.drop()  # what was ended so cannot be left in good order, which is no second fault


@scenario(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL, ways=HTTP)
async def http_error_below_a_call(server: ScriptedServer, connect: Connect) -> None:
    """A call is answered with HTTP 500 at once. What its caller is told of that is for another rule."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.suffers(replace(FAULTS["server_error"], headers=()), "call", times=float("inf"))
        with check(PROTOCOL_ERROR_IS_AN_ORDINARY_FAILED_CALL), elapsed() as spent:
            outcome = await wrapper.call("old", "n1")
            assert not outcome.ok, f"a call that was answered with HTTP 500: {outcome}"
            limit, sent = connect.claims.own_timeout, server.ledger.calls("n1")
            waited = len(sent) == 1 and limit is not None and spent.seconds >= limit
            assert not waited, (
                f"HTTP 500 came at once, and the call ended after {spent.seconds:g} s: {outcome}"
            )
        reached(server.ledger.calls("n1"), "the call was not sent")


def _statuses(outcome: Outcome) -> set[int]:
    """The HTTP statuses that can be read from what a caller gets: in its text, or on its exceptions."""
    found = {int(number) for number in re.findall(r"(?<!\d)[1-5]\d\d(?!\d)", outcome.text)}
    found |= {status for status in HTTPStatus if status.phrase.lower() in outcome.text.lower()}
    for error in family(outcome.error):
        for holder in (error, getattr(error, "response", None), getattr(error, "error", None)):
            for name in ("status_code", "status", "code"):
                number = getattr(holder, name, None)
                if isinstance(number, int):
                    found.add(number)
    return found
