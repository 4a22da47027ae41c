"""Scenarios of CALL: what a call carries beside its arguments, and what it hears before its answer."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pytest_mcp_conformance.contract.calls import META_GOES_OUT_AND_COMES_BACK, PROGRESS_REACHES_ITS_OWN_CALL
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import ONE_BY_ONE, out_together
from pytest_mcp_conformance.server import ABSENT, V1, Held, ScriptedServer
from pytest_mcp_conformance.server.eras import MODERN_VERSION, asked_version

TRACE, COST = "com.example/trace", "com.example/cost"


@scenario(META_GOES_OUT_AND_COMES_BACK, variants=("alone", "beside_progress"))
async def meta_of_a_caller(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A call carries the caller's `_meta`, and perhaps asks for progress; the result carries one as well."""
    server.has_tools(*V1)
    server.answers("old", meta={COST: 2})
    meta = {TRACE: {"id": "t1"}}
    given = deepcopy(meta)
    if how == "beside_progress" and not connect.claims.makes("progress"):
        leave_out(META_GOES_OUT_AND_COMES_BACK, "progress")
        return

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        hears = (lambda progress: None) if how == "beside_progress" else None
        outcome = await wrapper.start_call_with("old", "n1", meta, hears).result()
        sent = server.ledger.calls("n1")
        reached(sent, f"the call was not sent: {outcome}")
        carried = sent[0].params.get("_meta", {})
        with check(META_GOES_OUT_AND_COMES_BACK):
            trace, token = carried.get(TRACE), carried.get("progressToken")
            assert trace == given[TRACE], f"the call went out with {sorted(carried)} in its _meta"
            assert token is not None or how == "alone", "progress was asked for, and no token was sent"
            version = asked_version(sent[0].params)
            assert server.era == "handshake" or version == MODERN_VERSION, "the protocol's own keys are lost"
            assert meta == given, "the caller's object was written to"
            assert outcome.ok, f"a call with _meta: {outcome}"
            cost = (outcome.meta or {}).get(COST)
            assert cost == 2, f"the result came with a _meta, and was handed out with {outcome.meta}"


@scenario(PROGRESS_REACHES_ITS_OWN_CALL)
async def progress_of_two_calls(server: ScriptedServer, connect: Connect) -> None:
    """Two calls are out and progress in turns; then a plain call is made.

    Some wrappers listen to the progress of every call: a token that no earlier call of its connection had is
    its own.
    """
    server.has_tools(*V1)
    heard: dict[str, list[float]] = {"n1": [], "n2": []}

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/call") as gate:
            calls = [
                wrapper.start_call_with("old", nonce, {TRACE: nonce}, heard[nonce].append) for nonce in heard
            ]
            if not await out_together(gate, calls):
                leave_out(PROGRESS_REACHES_ITS_OWN_CALL, ONE_BY_ONE)
                return
            first, second = sorted(gate.held, key=lambda held: str(held.request.arguments.get("nonce")))
            with check(PROGRESS_REACHES_ITS_OWN_CALL):
                assert None not in (_token(first), _token(second)), "a call was sent without a progress token"
                same = first.connection is second.connection and _token(first) == _token(second)
                assert not same, f"two calls that are out have one token, {_token(first)!r}"
            for held, progress in ((second, 1), (first, 2), (second, 3)):
                params = {"progressToken": _token(held), "progress": progress, "total": 4}
                held.connection.notify("notifications/progress", params, related=held.request.id)
                await server.settle()
            gate.release_all()
        for call in calls:
            await call.ended()
        await wrapper.call("old", "n3")
        plain = server.ledger.calls("n3")
        reached(plain, "the plain call was not sent")
        with check(PROGRESS_REACHES_ITS_OWN_CALL):
            assert heard == {"n1": [2], "n2": [1, 3]}
            carried = plain[0].params.get("_meta", {})
            assert TRACE not in carried, f"a plain call carries {TRACE} of an earlier one"
            token = carried.get("progressToken", ABSENT)
            tokens = [_token(held) for held in gate.held if held.connection.number == plain[0].connection]
            assert token not in tokens, (
                f"a plain call carries the progress token of an earlier one, {token!r}"
            )


def _token(held: Held) -> Any:
    return held.request.params.get("_meta", {}).get("progressToken")
