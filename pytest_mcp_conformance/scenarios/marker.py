"""Scenarios of MRK: a marker goes in at the call, and comes out before anything is serialised."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from pytest_mcp_conformance.contract import HANDSHAKE, MODERN
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract.marker import (
    EMPTY_META_OF_A_CALLER_STAYS,
    EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN,
    EVERY_CALL_HAS_ITS_OWN_MARKER,
    FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED,
    MARKER_IS_NEVER_SERIALISED,
    MARKER_OUTLIVES_COPIES,
    MARKERS_REVEAL_NOTHING,
    MARKING_KEEPS_EVERY_KEY_IN_ITS_PLACE,
    MARKING_MAKES_NEW_PARAMS,
    META_OF_THE_MARKER_ALONE_IS_REMOVED,
    ODD_MESSAGES_PASS_UNTOUCHED,
    ONLY_A_STRING_IS_A_MARKER,
    OTHER_META_ENTRIES_ARE_KEPT,
    REQUEST_WITHOUT_ITS_META_GOES_OUT,
    RESERVED_KEY_OF_A_CALLER_IS_NO_MARKER,
    TAKING_CHANGES_NO_MESSAGE,
    UNMARKED_MESSAGE_IS_PASSED_ON_ITSELF,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import VerbFailed, check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._sdk import (
    DropsMeta,
    Transport,
    call_tool,
    item,
    marked_call,
    sdk_client,
    session_over,
    watched_session,
)
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import V1, ScriptedServer

HEADER_MISMATCH = -32020
BARE: Mapping[str, Any] = {"name": "old", "arguments": {"nonce": "n1"}}
TRACED: Mapping[str, Any] = {
    "name": "old",
    "_meta": {"traceparent": "00-a-b-01", "progressToken": 7},
    "arguments": {},
}
ODD_METAS: tuple[Any, ...] = (None, [], "text", 3)
ODD: tuple[Any, ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": None},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": "text"},
    *({"id": 1, "method": "tools/list", "params": {"_meta": meta}} for meta in ODD_METAS),
    {"jsonrpc": "2.0", "id": 1, "result": {"_meta": {"a": "b"}}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}},
    [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
    None,
)


@scenario(
    MARKING_MAKES_NEW_PARAMS, MARKING_KEEPS_EVERY_KEY_IN_ITS_PLACE, MARKER_OUTLIVES_COPIES, eras=HANDSHAKE
)
async def params_are_marked(server: ScriptedServer, connect: Connect) -> None:
    """Params without, with an empty and with a filled `_meta` are marked, and copied in every way."""
    async with connect(server) as wrapper:
        mark, take = wrapper.part("mark_params"), wrapper.part("take_marker")
        for given in (BARE, {**BARE, "_meta": {}}, TRACED):
            params = deepcopy(given)
            marked = _tried(mark, params, "m1")
            with check(MARKING_MAKES_NEW_PARAMS):
                assert marked is not params
                assert json.dumps(params) == json.dumps(given), "the caller's own params were changed"
                assert "_meta" not in params or marked["_meta"] is not params["_meta"]
            with check(MARKING_KEEPS_EVERY_KEY_IN_ITS_PLACE):
                assert list(marked) == [*given, *([] if "_meta" in given else ["_meta"])]
                assert {key: marked[key] for key in given if key != "_meta"} == {
                    key: given[key] for key in given if key != "_meta"
                }
                old = given.get("_meta", {})
                assert [key for key in marked["_meta"] if key in old] == list(old)
            with check(MARKER_OUTLIVES_COPIES):
                for copy in (marked, deepcopy(marked), json.loads(json.dumps(marked))):
                    taken = _tried(take, {"method": "tools/call", "params": copy})
                    assert taken.marker == "m1", f"the marker of a copy: {taken.marker!r}"


@scenario(
    TAKING_CHANGES_NO_MESSAGE,
    META_OF_THE_MARKER_ALONE_IS_REMOVED,
    OTHER_META_ENTRIES_ARE_KEPT,
    EMPTY_META_OF_A_CALLER_STAYS,
    eras=HANDSHAKE,
)
async def marker_is_taken(server: ScriptedServer, connect: Connect) -> None:
    """Marked messages go through the transport, one with stamps that the SDK added after the marking."""
    rules = {
        META_OF_THE_MARKER_ALONE_IS_REMOVED: {**BARE, "Vendor": 1},
        OTHER_META_ENTRIES_ARE_KEPT: TRACED,
        EMPTY_META_OF_A_CALLER_STAYS: {**BARE, "_meta": {}},
    }
    async with connect(server) as wrapper:
        mark, take = wrapper.part("mark_params"), wrapper.part("take_marker")
        for rule, given in rules.items():
            message = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": _tried(mark, deepcopy(given), "m1"),
            }
            before = json.dumps(message)
            taken = _tried(take, message)
            reached(taken.marker == "m1", "the marker was not taken")
            with check(TAKING_CHANGES_NO_MESSAGE):
                assert json.dumps(message) == before, "the message was changed in place"
                assert taken.message is not message
            with check(rule):
                left = taken.message["params"]
                assert taken.message == {**message, "params": given}
                assert list(left) == [key for key in message["params"] if key in left], (
                    "the order of the params"
                )
                assert json.dumps(left.get("_meta")) == json.dumps(given.get("_meta"))
        stamped = _tried(mark, deepcopy(BARE), "m1")
        stamped["_meta"] = {"first": 1, **stamped["_meta"], "progressToken": 7}
        with check(OTHER_META_ENTRIES_ARE_KEPT):
            left = _tried(take, {"method": "tools/call", "params": stamped}).message["params"]["_meta"]
            assert list(left.items()) == [("first", 1), ("progressToken", 7)]


@scenario(
    UNMARKED_MESSAGE_IS_PASSED_ON_ITSELF,
    ODD_MESSAGES_PASS_UNTOUCHED,
    ONLY_A_STRING_IS_A_MARKER,
    eras=HANDSHAKE,
)
async def messages_without_a_marker(server: ScriptedServer, connect: Connect) -> None:
    """Messages pass that carry no marker: unmarked ones, odd ones, and ones with no text under its key."""
    async with connect(server) as wrapper:
        mark, take = wrapper.part("mark_params"), wrapper.part("take_marker")
        for params in deepcopy((BARE, TRACED, {**BARE, "_meta": {}})):
            _passes(
                take,
                {"id": 1, "method": "tools/call", "params": params},
                UNMARKED_MESSAGE_IS_PASSED_ON_ITSELF,
            )
        for message in deepcopy(ODD):
            _passes(take, message, ODD_MESSAGES_PASS_UNTOUCHED)
        marked = _tried(mark, deepcopy(BARE), "m1")
        reached(marked.get("_meta"), "nothing was marked")
        for value in (None, True, 0, 1, 1.5, [], ["m1"], {}, {"m1": 1}):
            odd = {**marked, "_meta": dict.fromkeys(marked["_meta"], value)}
            _passes(take, {"id": 1, "method": "tools/call", "params": odd}, ONLY_A_STRING_IS_A_MARKER)


@scenario(
    MARKER_IS_NEVER_SERIALISED,
    META_OF_THE_MARKER_ALONE_IS_REMOVED,
    OTHER_META_ENTRIES_ARE_KEPT,
    FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED,
    EMPTY_META_OF_A_CALLER_STAYS,
)
async def marked_beside_unmarked(server: ScriptedServer, connect: Connect) -> None:
    """Equal calls go out over two SDK sessions: unmarked over a bare one, marked over a watched one."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        for how in ("plain", "traced", "progress", "empty"):
            bare, _ = await _call_frame(server, None, how)
            frame, secrets = await _call_frame(server, ledger, how)
            reached(secrets, "nothing was marked")
            with check(MARKER_IS_NEVER_SERIALISED):
                assert _leaks(server, secrets) == []
            if how == "empty":
                with check(EMPTY_META_OF_A_CALLER_STAYS):
                    assert frame == bare
                continue
            rule = (
                OTHER_META_ENTRIES_ARE_KEPT
                if "_meta" in bare["params"]
                else META_OF_THE_MARKER_ALONE_IS_REMOVED
            )
            with check(rule):
                assert frame["params"].get("_meta", "none") == bare["params"].get("_meta", "none")
            with check(FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED):
                assert frame == bare
                if how == "traced" or (how == "plain" and server.era == "handshake"):
                    assert json.dumps(frame) == json.dumps(bare), "the bytes"
    if server.era == "modern":
        leave_out(META_OF_THE_MARKER_ALONE_IS_REMOVED, "modern requests carry the SDK's stamps in `_meta`")


@scenario(MARKER_IS_NEVER_SERIALISED, FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED)
async def marked_listing(server: ScriptedServer, connect: Connect) -> None:
    """A request that is no call goes out unmarked, and twice with a marker."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        from mcp.types import PaginatedRequestParams

        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as session:
            mark = server.ledger.mark
            await session.list_tools(params=PaginatedRequestParams())
            with ledger.call({}) as call:
                for _ in range(2):
                    await session.list_tools(params=PaginatedRequestParams.model_validate(call.params))
            bare, *marked = server.ledger.listings(since=mark)
            reached(len(marked) == 2, "not every listing reached the server")
            with check(MARKER_IS_NEVER_SERIALISED):
                assert _leaks(server, [call.ref, *call.params["_meta"]]) == []
            with check(FRAME_IS_WHAT_IT_WOULD_BE_UNMARKED):
                for frame in marked:
                    assert {**frame.message, "id": bare.id} == bare.message


@scenario(MARKER_IS_NEVER_SERIALISED, variants=("send_nowait", "clone"), eras=HANDSHAKE)
async def marked_past_the_send(server: ScriptedServer, connect: Connect, way: str) -> None:
    """A marked request is sent in another way that the transport has, where the watched stream has it too."""
    async with connect(server) as wrapper:
        ledger, transport = wrapper.part("request_ledger")(), Transport()
        _, write = ledger.watch(object(), transport)
        if not hasattr(write, way):
            leave_out(MARKER_IS_NEVER_SERIALISED, f"what it watches has no {way}")
            return
        with ledger.call(deepcopy(BARE)) as call:
            if way == "clone":
                await Pending(write.clone().send(item(1, call.params)), "send").result()
            else:
                write.send_nowait(item(1, call.params))
            with check(MARKER_IS_NEVER_SERIALISED):
                assert call.ref not in str(transport.items), "the marker is in what the transport was given"


@scenario(EVERY_CALL_HAS_ITS_OWN_MARKER, eras=HANDSHAKE)
async def equal_calls_and_their_markers(server: ScriptedServer, connect: Connect) -> None:
    """Two calls with equal arguments are out, and are answered in reverse."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as session:
            await session.list_tools()
            refs: list[str] = []
            with server.holding("tools/call") as gate:
                calls = []
                for nth in (1, 2):
                    calls.append(Pending(marked_call(ledger, session, BARE, refs), "call"))
                    await gate.arrived(nth)
                gate.release_all((2, 1))
                for call in calls:
                    await call.result()
            with check(EVERY_CALL_HAS_ITS_OWN_MARKER):
                assert refs[0] != refs[1]
                for ref, held in zip(refs, gate.held, strict=True):
                    ids = [record.request_id for record in ledger.records() if record.call == ref]
                    assert ids == [held.request.id], "the ids of one of two equal calls"


@scenario(RESERVED_KEY_OF_A_CALLER_IS_NO_MARKER, eras=HANDSHAKE)
async def caller_uses_the_reserved_key(server: ScriptedServer, connect: Connect) -> None:
    """A call is open, and another caller puts its marker under the reserved key himself."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with watched_session(server, ledger) as session:
            await session.list_tools()
            with ledger.call(deepcopy(BARE)) as first:
                mine = {**deepcopy(BARE), "_meta": dict(first.params["_meta"])}
                try:
                    with ledger.call(mine) as second:
                        await call_tool(session, second.params)
                except Exception as refused:
                    reached(describe(refused), "an error without words")
                with check(RESERVED_KEY_OF_A_CALLER_IS_NO_MARKER):
                    matched = [
                        each for each in ledger.records() if each.call == first.ref and each.request_id
                    ]
                    assert matched == [], "another caller's request was matched to this call"
                    assert _leaks(server, first.params["_meta"].values()) == []


@scenario(REQUEST_WITHOUT_ITS_META_GOES_OUT, eras=HANDSHAKE)
async def sdk_drops_the_meta(server: ScriptedServer, connect: Connect) -> None:
    """The SDK rebuilds the params without `_meta`, between the call and the transport."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with server.dial().streams() as pair:
            read, write = ledger.watch(*pair)
            async with session_over(read, DropsMeta(write), server.era) as session:
                await session.list_tools()
                refs: list[str] = []
                call = Pending(marked_call(ledger, session, BARE, refs), "call")
                with check(REQUEST_WITHOUT_ITS_META_GOES_OUT):
                    await call.result()
                    sent = [frame.id for frame in server.ledger.calls("n1")]
                    assert len(sent) == 1
                    known = [r for r in ledger.records() if r.method == "tools/call"]
                    assert [(r.request_id, r.call) for r in known if r.request_id is not None] == [
                        (sent[0], None)
                    ]
                    if hasattr(known[0], "within"):  # it has a second witness
                        assert known[0].within == refs[0]
                        assert [r.state for r in known if r.call == refs[0]] == ["unmatched"]


@scenario(
    EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN,
    MARKER_IS_NEVER_SERIALISED,
    variants=("input", "mismatch"),
    eras=MODERN,
)
async def call_sent_again_by_the_sdk(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The SDK's client sends a call again: after an input round, or because its headers did not fit."""
    server.has_tools(*V1)
    async with connect(server) as wrapper:
        ledger = wrapper.part("request_ledger")()
        async with sdk_client(server, ledger) as client:
            await client.list_tools()
            if how == "input":
                server.gives("tools/call", {"resultType": "input_required", "requestState": "s1"})
            else:
                server.fails("tools/call", HEADER_MISMATCH)
            refs: list[str] = []
            call = Pending(marked_call(ledger, client, BARE, refs), "call")
            with check(EVERY_ATTEMPT_OF_A_CALL_IS_ITS_OWN):
                await call.result()
                sent = [frame.id for frame in server.ledger.calls()]
                reached(len(sent) > 1, "the SDK sent the call once")
                records = [record for record in ledger.records() if record.call == refs[0]]
                assert [record.request_id for record in records] == sent
                assert [record.attempt for record in records] == [1, 2]
            with check(MARKER_IS_NEVER_SERIALISED):
                assert _leaks(server, refs) == []


@scenario(MARKERS_REVEAL_NOTHING, eras=HANDSHAKE)
async def many_markers(server: ScriptedServer, connect: Connect) -> None:
    """Two ledgers mark fifty equal calls each."""
    async with connect(server) as wrapper:
        markers: list[str] = []
        for ledger in (wrapper.part("request_ledger")(), wrapper.part("request_ledger")()):
            for _ in range(50):
                with ledger.call({"name": "salary", "arguments": {"of": "berta"}}) as call:
                    markers.extend(str(value) for value in call.params["_meta"].values())
        reached(markers, "nothing was marked")
        with check(MARKERS_REVEAL_NOTHING):
            assert len(set(markers)) == 100, "markers that are not unique"
            assert not [m for m in markers if "salary" in m or "berta" in m], "markers that tell of the call"


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a part's function; what it raises is its own fault."""
    try:
        return function(*arguments)
    except Exception as raised:
        raise VerbFailed(f"raised {describe(raised)} for {arguments!r}") from raised


def _passes(take: Callable[[Any], Any], message: Any, rule: Any) -> None:
    """Check that a message without a marker passes as it is."""
    with check(rule):
        before = deepcopy(message)
        taken = _tried(take, message)
        assert taken.marker is None, f"a marker {taken.marker!r} in {message!r}"
        assert taken.message is message, f"not the same object: {taken.message!r}"
        assert message == before


async def _call_frame(server: ScriptedServer, ledger: Any, how: str) -> tuple[Mapping[str, Any], list[str]]:
    """The frame of one call over a session of its own, and what must not be in it: marker and its key."""

    async def on_progress(*_: Any) -> None: ...

    more = {"progress_callback": on_progress} if how == "progress" else {}
    params: dict[str, Any] = deepcopy(dict(BARE))
    if how in ("traced", "empty"):
        params["_meta"] = {"traceparent": "00-a-b-01"} if how == "traced" else {}
    secrets: list[str] = []
    async with watched_session(server, ledger) as session:
        await session.list_tools()
        if ledger is None:
            await call_tool(session, params, **more)
        else:
            with ledger.call(params) as call:
                secrets += [call.ref, *(set(call.params["_meta"]) - set(params.get("_meta", ())))]
                await call_tool(session, call.params, **more)
    return server.ledger.calls()[-1].message, secrets


def _leaks(server: ScriptedServer, secrets: Iterable[str]) -> list[str]:
    """The frames in which something is that must not leave the client."""
    frames = [json.dumps(frame.message) for frame in server.ledger.frames()]
    return [frame for frame in frames if any(secret in frame for secret in secrets)]
