"""What a history says of a play."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from pytest_mcp_conformance.contract import Claims, Wrapper, adapter
from pytest_mcp_conformance.history import Condenser, Digests, Event
from pytest_mcp_conformance.server import tool
from tests.history.plays import KEY, lists_and_calls, recorded
from tests.reference.peer import ERAS

QUIET = ("opened", "closed", "told", "listened", "cancelled", "entered", "left")


def entry(kind, **fields):
    return Condenser(Digests(KEY)).entry(Event(1, 0.0, kind, **fields))


def answered(method, result):
    return entry("answered", method=method, message={"result": result})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "one.history.jsonl"


def with_ids_from_one(text):
    """The text with its ids numbered anew: mcp 1.x counts them from 0, and 2.x from 1."""
    ids = {}
    return re.sub(r'"id":(\d+)', lambda found: f'"id":{ids.setdefault(found[1], len(ids) + 1)}', text)


def test_the_text_is_the_same_on_both_majors_of_the_sdk_but_for_the_ids(path):
    recorded(path, lists_and_calls)
    expected = (Path(__file__).parent / "lists_and_calls.history.jsonl").read_text(encoding="ascii")
    assert with_ids_from_one(path.read_text(encoding="ascii")) == expected


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["memory", "http"])
def test_a_play_is_written_at_the_wire_and_at_the_wrapper(path, era, way):
    told = [
        (e.kind, e.tool or [t.name for t in e.tools or ()] or e.list)
        for e in recorded(path, lists_and_calls, era=era, way=way)
        if e.kind not in QUIET and e.method not in ("initialize", "server/discover")
    ]
    asked = [each for each in told if each[0] not in ("answered", "failed", "noticed", "asked")]
    assert asked == [
        ("changed", "tools"),
        ("wanted", "tools"),
        ("served", ["a", "old"]),
        ("called", "a"),
        ("returned", "a"),
        ("changed", "tools"),
        ("wanted", "tools"),
        ("served", ["a", "new"]),
        ("called", "a"),
        ("returned", "a"),
    ]
    assert told.count(("asked", "a")) == 2
    assert ("answered", ["a", "new"]) in told
    assert ("noticed", "tools") in told


def test_a_list_that_was_served_shows_from_which_answer_it_is(path):
    entries = [*recorded(path, lists_and_calls)]
    old, new = [
        {(t.name, t.description, t.input, t.output) for t in e.tools}
        for e in entries
        if e.kind == "answered" and e.tools
    ]
    first, second = [
        {(t.name, t.description, t.input, t.output) for t in e.tools} for e in entries if e.kind == "served"
    ]
    assert (first, second) == (old, new)
    assert {t for t in old if t[0] == "a"} != {t for t in new if t[0] == "a"}


def test_what_a_call_returned_shows_which_answer_it_is(path):
    entries = [*recorded(path, lists_and_calls)]
    (answer,) = [e for e in entries if e.kind == "answered" and e.method == "tools/call"]
    good, bad = [e for e in entries if e.kind == "returned"]
    asked = [e.arguments for e in entries if e.kind == "asked" and e.method == "tools/call"]
    called = [e for e in entries if e.kind == "called"]
    assert (good.result, good.ok, good.outcome) == (answer.result, True, "ok")
    assert (bad.result, bad.ok, bad.outcome, bad.error != "") == ("", False, "raised", True)
    assert [e.arguments for e in called] == asked
    assert [e.op for e in called] == [good.op, bad.op]
    assert [e.code for e in entries if e.kind == "failed"] == [-32001]


def test_a_call_that_never_reached_the_wire_is_refused(path):
    async def choosy(dial):
        async with dial.session() as session:

            async def list_tools():
                return (await session.list_tools()).tools

            async def call_tool(tool, arguments):
                if tool == "nobody":
                    raise LookupError(tool)
                return await session.call_tool(tool.name, arguments)

            yield Wrapper(list_tools=list_tools, call_tool=call_tool)

    async def body(server, connect):
        server.has_tools(tool("a", "integer"))
        async with connect(server) as wrapper:
            await wrapper.list_tools()
            await wrapper.call("nobody")
            await wrapper.call("a")

    entries = [*recorded(path, body, subject=adapter("choosy", claims=Claims())(choosy))]
    ended = [(e.kind, e.tool, e.outcome, e.error) for e in entries if e.outcome]
    assert ended == [("refused", "nobody", "raised", "LookupError"), ("returned", "a", "ok", "")]


def test_verbs_are_written_from_their_beginning_to_their_end(path):
    async def body(server, connect):
        server.has_tools(tool("a", "integer"))
        async with connect(server) as wrapper:
            await wrapper.list_tools()
            await wrapper.verb("invalidate")
            await wrapper.verb("permissions_changed")
            await wrapper.verb("refresh")
            await wrapper.verb("bind", "a")
            await wrapper.verb("reconnect")

    verbs = [e for e in recorded(path, body) if e.kind != "wanted" and e.verb]
    assert [(e.kind, e.verb) for e in verbs] == [
        ("began", "invalidate"),
        ("invalidated", "invalidate"),
        ("began", "permissions_changed"),
        ("invalidated", "permissions_changed"),
        ("began", "refresh"),
        ("refreshed", "refresh"),
        ("began", "bind"),
        ("bound", "bind"),
        ("began", "reconnect"),
        ("ended", "reconnect"),
    ]
    assert [e.op for e in verbs[::2]] == [e.op for e in verbs[1::2]]
    assert {e.tool for e in verbs if e.verb == "bind"} == {"a"}


def test_a_verb_that_fails_and_one_that_is_given_up_say_so(path):
    async def body(server, connect):
        server.has_tools(tool("a", "integer"))
        async with connect(server) as wrapper:
            server.fails("tools/list")
            assert await wrapper.try_names() is None
            with server.holding("tools/list") as gate:
                under_way = wrapper.start("refresh")
                await gate.arrived()
                await under_way.cancel()

    told = [
        (e.kind, e.verb, e.error != "") for e in recorded(path, body) if e.kind in ("raised", "abandoned")
    ]
    assert told == [("raised", "list_tools", True), ("abandoned", "refresh", False)]


def test_holders_connections_and_principals_are_told_apart(path):
    async def body(server, connect):
        server.has_tools("everybodys")
        server.has_tools("hers", principal="ann")
        other = server.another()
        other.has_tools("elsewhere")
        async with connect(server, "ann") as ann, connect(server, "ben") as ben, connect(other) as third:
            await asyncio.gather(ann.list_tools(), ben.list_tools(), third.list_tools())

    entries = [*recorded(path, body)]
    served = {
        (e.who, e.principal, e.server): [t.name for t in e.tools] for e in entries if e.kind == "served"
    }
    assert served == {
        (1, "ann", ""): ["hers"],
        (2, "ben", ""): ["everybodys"],
        (3, "", "another"): ["elsewhere"],
    }
    assert {(e.connection, e.principal, e.server) for e in entries if e.kind == "asked" and e.list} == {
        (1, "ann", ""),
        (2, "ben", ""),
        (3, "", "another"),
    }
    assert ("changed", "ann") in {(e.kind, e.principal) for e in entries}


def test_pages_are_linked_by_their_cursors(path):
    async def body(server, connect):
        server.pages(["a"], ["b"])
        async with connect(server) as wrapper:
            await wrapper.list_tools()

    asked = [e.cursor for e in recorded(path, body) if e.kind == "asked" and e.list]
    links = [e.next for e in recorded(path, body) if e.kind == "answered" and e.list]
    assert asked == ["", links[0]]
    assert links[0] != "" == links[1]


def test_headers_are_kept_by_a_short_list():
    headers = {
        "Authorization": "Bearer x",
        "Cookie": "x",
        "X-Api-Key": "x",
        "Mcp-Session-Id": "s-1",
        "MCP-Protocol-Version": "2025-11-25",
        "Mcp-Name": "a",
    }
    kept = entry("asked", method="tools/call", headers=headers).headers
    assert kept == {
        "mcp-name": "a",
        "mcp-protocol-version": "2025-11-25",
        "mcp-session-id": Digests(KEY)("s-1"),
    }
    assert entry("asked", method="resources/read", headers={"Mcp-Name": "file://x"}).headers != {
        "mcp-name": "file://x"
    }


@pytest.mark.parametrize(
    ("given", "kept"),
    [(7, 7), ("req-1", "req-1"), (1.5, 1.5), (None, None), (2**60, None), ("a b", None), ([], None)],
)
def test_an_id_is_kept_where_it_is_a_short_word_or_a_number(given, kept):
    assert entry("asked", id=given).id == (kept if kept == given else f"~{Digests(KEY)(given)}")


def test_a_name_is_bounded_and_writable():
    named = entry("asked", method="tools/call", message={"params": {"name": "x" * 9999 + "\ud800"}}).tool
    assert len(named) < 200
    assert entry("asked", method="\ud800").method == "\\ud800"


def test_a_list_without_end_is_cut_and_says_so():
    told = answered("tools/list", {"tools": [{"name": "a"}] * 10_003})
    assert (len(told.tools), told.more) == (10_000, 3)


def test_what_means_the_same_in_json_has_one_digest():
    digest = Digests(KEY)
    assert digest({"b": 1.0, "a": (1, 2)}) == digest({"a": [1, 2], "b": 1})
    assert digest({"a": True}) != digest({"a": 1})
    assert digest("1") != digest(1)
    assert digest([]) != digest({}) != digest(None)


def test_nobody_can_try_out_what_a_digest_is_of():
    assert Digests()("1234") != Digests()("1234")
    assert Digests().name != Digests().name
    assert Digests(KEY).name == Digests(KEY).name


@pytest.mark.parametrize(
    "value", [10**5000, float("nan"), float("inf"), "\ud800", object(), {1: 2, (): 3}], ids=range(6)
)
def test_whatever_a_wrapper_hands_out_has_a_digest(value):
    nested = value
    for _ in range(5000):
        nested = [nested]
    assert len(Digests()(value)) == len(Digests()(nested)) == 16


def test_a_result_that_no_parser_takes_has_a_digest():
    deep = {"content": [{"type": "text", "text": "[" * 200_000}]}
    assert len(answered("tools/call", deep).result) == 16
    assert len(answered("tools/call", {"error": 10**5000}).result) == 16
