"""Lines and events are the same however their bytes are cut."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mcp_conformance.recording import Record
from pytest_mcp_conformance.recording.events import EventStream
from pytest_mcp_conformance.recording.frames import Frames, frames_of
from pytest_mcp_conformance.recording.lines import Lines
from tests.recording.running import read

WHOLE = (
    b"\xef\xbb\xbfdata: one\n\n"
    b"id: 7\r\nevent: message\r\ndata: two\r\ndata:three\r\n\r\n"
    b": comment\revent: other\rdata: not this\r\r"
    b"data:\n\n"
    b"id: 8\ndata: a\xc3\xa9\n\n"
    b"data: never ended\n"
)
MESSAGES = [(b"one", b""), (b"two\nthree", b"7"), (b"a\xc3\xa9", b"8")]
cuts = st.lists(st.integers(0, len(WHOLE)), max_size=12).map(sorted)


def pieces(whole, at):
    places = [0, *at, len(whole)]
    return [whole[begin:end] for begin, end in pairwise(places)]


@given(cuts)
@example([*range(len(WHOLE))])
def test_events_are_read_wherever_they_are_cut(at):
    got = []
    stream = EventStream(lambda text, number: got.append((text, number)), pytest.fail)
    for piece in pieces(WHOLE, at):
        stream.feed(piece)
    assert got == MESSAGES


@given(st.lists(st.binary(max_size=8), max_size=8), st.data())
def test_lines_are_whole_wherever_they_are_cut(lines, data):
    lines = [line.replace(b"\n", b"") for line in lines]
    whole = b"".join(line + b"\n" for line in lines)
    got = []
    taking = Lines(got.append, lambda: got.append(None), longest=5)
    for piece in pieces(whole, sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=9)))):
        taking.feed(piece)
    assert got == [line if len(line) <= 5 else None for line in lines]


def test_an_event_that_is_too_long_is_told_and_the_next_one_is_read():
    got = []
    stream = EventStream(lambda text, number: got.append(text), lambda: got.append(None), longest=20)
    stream.feed(b"data: 0123456789\ndata: 0123456789ab\n\ndata: " + b"x" * 30 + b"\n\ndata: well\n\n")
    assert got == [None, None, b"well"]


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "_meta", "tools"]), inner
        )
    ),
    max_leaves=12,
)


@given(
    st.lists(st.tuples(st.sampled_from(["client", "server"]), json_like | st.binary(max_size=9)), max_size=9)
)
def test_whatever_is_said_the_file_stays_whole(tmp_path_factory, said):
    path = tmp_path_factory.mktemp("said") / "one.history.jsonl"
    record = Record(path, "anything")
    frames = Frames(record)
    for by, each in said:
        frames.said(by, each if isinstance(each, bytes) else json.dumps(each).encode())
    frames.close("client")
    record.close()
    history, entries = read(path)
    assert (record.trouble, history.unfinished) == ("", False)
    assert len(entries) >= 2 + len(said)


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (b"[]", [None]),
        (b'[{"method": "ping", "id": 1}, 3]', [{"method": "ping", "id": 1}, None]),
        (b'{"id": null, "error": {}}', [{"id": None, "error": {}}]),
        (b'{"id": null, "result": {}}', [None]),
        (b'{"id": 1}', [None]),
        (b'{"id": [1], "method": "ping"}', [None]),
        (b'{"method": {}}', [None]),
    ],
)
def test_what_is_a_frame(text, frames):
    assert [*frames_of(text)] == frames
