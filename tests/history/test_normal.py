"""The text of a history says the same for the same history, and tells different ones apart."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp_conformance.history import Entry, Header, History
from pytest_mcp_conformance.history.normal import DigestNames, normal_lines
from tests.history.plays import lists_and_calls, recorded
from tests.history.test_reading import entries
from tests.reference.peer import ERAS

HEADER = Header(1, "0" * 16, era="handshake")
KEPT = Path(__file__).parent / "lists_and_calls.history.jsonl"
CALL = {"connection": 1, "method": "tools/call"}


def lines(*some, **how):
    return [*normal_lines(some, HEADER, **how)][1:]


def lines_of(history):
    return [*normal_lines(history, history.header)]


def with_fields(entry, **fields):
    return msgspec.structs.replace(entry, **fields)


def changed(before, after):
    """The places at which two texts of equal length differ."""
    return [at for at, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1]


def test_a_text_is_read_as_it_is():
    told = lines_of(History.load(KEPT))
    assert (len(told), told[0]) == (27, "handshake era, wire and wrapper")
    assert told[11:17] == [
        "holder 1: called a with a.in1",
        "connection 1: asked tools/call a with a.in1",
        "connection 1: answered tools/call a ok giving a.out1",
        "holder 1: returned a ok giving a.out1",
        "script: changed tools",
        "connection 1: noticed notifications/tools/list_changed",
    ]
    assert told[20] == "holder 1: served tools: a[d1 i1 o2], new[d1 i1]"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["memory", "http"])
def test_two_recordings_of_one_play_have_one_text(tmp_path, era, way):
    one, two = (
        recorded(tmp_path / name, lists_and_calls, era=era, way=way) for name in ("one.jsonl", "two.jsonl")
    )
    assert lines_of(one) == lines_of(two)


@given(st.integers(-9, 99), st.integers(1, 50), st.floats(0, 1e6), st.binary(min_size=8, max_size=8))
def test_ids_connections_times_and_keys_leave_no_trace(ids, connections, later, key):
    def otherwise(entry):
        number = int.from_bytes(key, "big")

        def digest(given):
            return f"{int(given, 16) ^ number:016x}" if given else ""

        return with_fields(
            entry,
            at=entry.at + later,
            id=None if entry.id is None else entry.id + ids,
            connection=entry.connection and entry.connection + connections,
            arguments=digest(entry.arguments),
            result=digest(entry.result),
            tools=entry.tools
            and tuple(
                with_fields(each, description=digest(each.description), whole=digest(each.whole))
                for each in entry.tools
            ),
        )

    history = [*History.load(KEPT)]
    assert lines(*map(otherwise, history)) == lines(*history)


def test_two_lines_that_change_places_are_two_lines():
    history = [*History.load(KEPT)]
    told = lines(*history)
    for at in (0, 5, 10, 14, 15, 22):
        swapped = [*history]
        swapped[at], swapped[at + 1] = swapped[at + 1], swapped[at]
        assert changed(told, lines(*swapped)) == [at, at + 1]


def test_a_round_more_is_told_and_nothing_else():
    history = [*History.load(KEPT)]
    again = [*history[:10], *history[6:10], *history[10:]]
    told = lines(*history)
    assert lines(*again) == [*told[:10], *told[6:10], *told[10:]]


@pytest.mark.parametrize(
    ("at", "fields"),
    [
        (8, {"tools": ()}),
        (9, {"more": 1}),
        (9, {"who": 2}),
        (11, {"arguments": "0" * 16}),
        (12, {"ok": False}),
        (13, {"result": "0" * 16}),
        (14, {"principal": "ann"}),
        (15, {"server": "another"}),
        (22, {"code": 1}),
        (24, {"how": "server"}),
    ],
)
def test_whatever_else_differs_is_told(at, fields):
    history = [*History.load(KEPT)]
    other = [*history]
    other[at] = with_fields(other[at], **fields)
    assert at in changed(lines(*history), lines(*other))


def test_an_answer_names_what_it_answers():
    asked = [Entry(n, 0.0, "asked", id=n, tool="a", **CALL) for n in (1, 2)]
    answers = [Entry(n + 2, 0.0, "answered", id=n, ok=True, **CALL) for n in (2, 1, 7)]
    assert lines(*asked, *answers)[2:] == [
        "connection 1: answered tools/call a #2 ok",
        "connection 1: answered tools/call a ok",
        "connection 1: answered tools/call to nobody ok",
    ]


def test_a_result_of_another_call_is_not_its_own():
    given = [Entry(1, 0.0, "returned", who=1, tool=tool, result="7" * 16) for tool in ("a", "b")]
    assert lines(*given) == ["holder 1: returned a giving a.out1", "holder 1: returned b giving a.out1"]


def test_a_subscription_and_what_is_cancelled_are_named_by_their_request():
    listen = Entry(1, 0.0, "asked", connection=4, id="s", method="subscriptions/listen")
    about = {"connection": 4, "subscription": "s"}
    told = lines(
        listen,
        Entry(2, 0.0, "listened", lists=("toolsListChanged",), **about),
        Entry(3, 0.0, "noticed", method="notifications/tools/list_changed", **about),
        Entry(4, 0.0, "cancelled", connection=4, id="s", how="client"),
        Entry(5, 0.0, "cancelled", connection=4, id="t", how="client"),
    )
    assert told[1:] == [
        "connection 1: listened to toolsListChanged on subscriptions/listen",
        "connection 1: noticed notifications/tools/list_changed on subscriptions/listen",
        "connection 1: cancelled subscriptions/listen by the client",
        "connection 1: cancelled what is not under way by the client",
    ]


def test_an_exception_has_one_name_on_both_majors_of_the_sdk():
    one, two = (
        lines(Entry(1, 0.0, "raised", who=1, verb="refresh", error=name)) for name in ("McpError", "MCPError")
    )
    assert one == two == ["holder 1: raised refresh McpError"]


def test_connections_are_numbered_with_each_server():
    servers = ("", "b", "")
    opened = [Entry(n, 0.0, "opened", connection=n, server=name) for n, name in enumerate(servers, 1)]
    assert lines(*opened) == [
        "connection 1: opened",
        "connection 1 of b: opened",
        "connection 2: opened",
    ]


def test_digests_of_one_key_have_one_name_in_two_histories():
    names = DigestNames()
    one, other, third = (
        lines(Entry(1, 0.0, "called", who=1, op=1, tool="a", arguments=digest * 16), names=names)
        for digest in "787"
    )
    assert one == third == ["holder 1: called a with a.in1"]
    assert other == ["holder 1: called a with a.in2"]


@given(st.lists(entries, max_size=8))
def test_any_history_has_one_harmless_line_for_each_event(some):
    told = lines(*some)
    assert len(told) == len(some)
    assert all(line.isprintable() for line in told)
