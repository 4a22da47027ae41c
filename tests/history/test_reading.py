"""A file is read as it was written, or there is one clear error with the line."""

from __future__ import annotations

import json
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp_conformance.history import (
    KINDS,
    BrokenHistory,
    Condenser,
    Digests,
    Entry,
    Event,
    Footer,
    Header,
    History,
    HistoryError,
    HistoryWriter,
    Listed,
    NotAHistory,
    Recorder,
    UnknownFormat,
    reading,
)
from pytest_mcp_conformance.history.codec import encode
from tests.history.plays import written
from tests.history.test_format import LINES

ASKED = [
    Entry(n, float(n), "asked", connection=1, id=n, method="tools/list", list="tools") for n in range(1, 6)
]
LINE = [encode(each) for each in ASKED]
FIRST = encode(Header(1, "0" * 16))

words = st.text(st.characters(exclude_categories=()), max_size=12)
writable = st.text(max_size=12)
numbers = st.integers(-(2**70), 2**70) | st.floats()
payloads = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=10,
)
listed = st.builds(Listed, writable, writable, writable)
entries = st.builds(
    Entry,
    n=st.just(1),
    at=st.floats(0, 1e9),
    kind=st.sampled_from([*KINDS]),
    who=st.integers(0, 9),
    id=st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | writable,
    method=writable,
    list=st.sampled_from(["", "tools", "prompts"]),
    generation=st.none() | st.integers(0, 9),
    tools=st.none() | st.lists(listed, max_size=3).map(tuple),
    ok=st.none() | st.booleans(),
    headers=st.dictionaries(writable, writable, max_size=2),
)
methods = st.sampled_from(
    [
        "tools/list",
        "tools/call",
        "initialize",
        "resources/list",
        "notifications/cancelled",
        "notifications/subscriptions/acknowledged",
    ]
)
PARTS = ("_meta", "name", "cursor", "arguments", "notifications", "requestId", "protocolVersion")
GIVES = ("tools", "nextCursor", "ttlMs", "cacheScope", "isError", "content", "structuredContent", "_meta")
messages = st.fixed_dictionaries(
    {},
    optional={
        "params": payloads | st.dictionaries(st.sampled_from(PARTS), payloads),
        "result": payloads
        | st.dictionaries(st.sampled_from(GIVES), payloads | st.lists(payloads, max_size=2)),
        "error": payloads | st.fixed_dictionaries({"code": payloads, "message": words}),
    },
)
frames = st.sampled_from(["asked", "answered", "failed", "told", "noticed", "requested", "replied"])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("history") / "one.history.jsonl"


def read(path):
    return [*History.load(path)]


def error_of(path, *lines):
    """The one error of a file of these lines, whose text a terminal can take."""
    path.write_bytes(b"".join(lines))
    with pytest.raises(HistoryError) as caught:
        read(path)
    text = str(caught.value)
    assert text.isprintable()
    assert text.startswith(str(path))
    return caught.value


@given(st.lists(entries, max_size=5))
def test_what_is_written_is_read(path, some):
    numbered = [Entry(**{**_fields(each), "n": n}) for n, each in enumerate(some, 1)]
    written(path, *numbered)
    assert read(path) == numbered
    text = path.read_bytes().replace(b"\n", b"").decode("ascii")
    assert text == "" or text.isprintable()


@given(frames, methods | words, payloads, messages, st.dictionaries(words, words, max_size=2))
def test_any_frame_can_be_written_and_fits_the_schema(path, kind, method, number, message, headers):
    event = Event(1, 0.0, kind, id=number, method=method, message=message, headers=headers)
    entry = Condenser(Digests(b"k")).entry(event)
    line = encode(entry)
    LINES.validate(json.loads(line))
    written(path, entry)
    assert read(path) == [entry]


def test_a_history_can_be_iterated_again_and_tells_of_its_header(path):
    history = History.load(written(path, *ASKED))
    assert [*history] == [*history] == ASKED
    assert history.header == Header(1, "0" * 16)
    assert not history.unfinished


def test_an_unfinished_file_is_read_and_recognised(path):
    history = History.load(written(path, *ASKED, events=-1))
    assert history.unfinished
    assert [*history] == ASKED


def test_a_file_without_events_is_a_history(path):
    assert read(written(path)) == []


def test_the_ends_of_lines_may_be_those_of_another_system(path):
    written(path, *ASKED)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read(path) == ASKED
    assert not History.load(path).unfinished


def test_every_event_is_with_the_system_before_the_next_one(path):
    recorder = Recorder()
    writer = HistoryWriter(path)
    recorder.record("opened", connection=1)
    recorder.tell(writer.write)
    for n in range(1, 4):
        recorder.record("asked", id=n)
        assert [e.id for e in History.load(path) if e.kind == "asked"] == [*range(1, n + 1)]
    assert [e.kind for e in History.load(path)] == ["opened", "asked", "asked", "asked"]
    writer.close()
    assert not History.load(path).unfinished
    recorder.record("closed", connection=1)
    writer.close()
    assert len(read(path)) == 4


def test_a_recording_that_is_left_by_an_exception_is_unfinished(path):
    with suppress(KeyError), HistoryWriter(path) as writer:
        writer.write(Event(1, 0.0, "opened"))
        raise KeyError
    assert History.load(path).unfinished
    assert len(read(path)) == 1


def test_a_folder_that_is_full_ends_the_writing_and_not_the_play(path):
    class Full:
        closed = False

        def write(self, line):
            raise OSError(28, "No space left on device")

        def close(self):
            self.closed = True

    writer = HistoryWriter(path)
    writer._file.close()
    writer._file = Full()
    writer.write(Event(1, 0.0, "opened"))
    writer.write(Event(2, 0.0, "closed"))
    assert writer.trouble == "No space left on device"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("nowhere", "No such file"), (".", "directory"), ("a\0b", "null byte"), ("\x1b[2J", r"\x1b[2J")],
)
def test_a_file_that_cannot_be_read_is_no_history(path, name, wrong):
    with pytest.raises(NotAHistory, match="name a file") as caught:
        read(path.parent / name)
    assert wrong in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"{}\n", b"[]", b"\xef\xbb\xbf" + FIRST, b"\x00" * 99, LINE[0], FIRST[:30]]
)
def test_what_begins_otherwise_is_no_history(path, line):
    assert isinstance(error_of(path, line), NotAHistory)


def test_an_unknown_format_is_named(path):
    error = error_of(path, b'{"history":2,"key":["new"]}\n')
    assert isinstance(error, UnknownFormat)
    assert "format 2, and this kit reads format 1" in str(error)


BROKEN = {
    "cut": ([LINE[0], LINE[1][:-9]], 3, "cut in its middle", "take line 3 off"),
    "cut_footer": ([LINE[0], b'{"events":'], 3, "cut in its middle", "take line 3 off"),
    "no_json": ([LINE[0], b"what\n"], 3, "no event", "record it again"),
    "empty_line": ([LINE[0], b"\n", LINE[1]], 3, "no event", "record it again"),
    "swapped": ([LINE[1], LINE[0]], 2, "event 2 where event 1 is due", "numbered"),
    "missing": ([LINE[0], LINE[2]], 3, "event 3 where event 2 is due", "numbered"),
    "repeated": ([LINE[0], LINE[0]], 3, "event 1 again", "numbered"),
    "unknown_kind": (
        [b'{"n":1,"at":0.0,"kind":"\\u001b[2J"}\n'],
        2,
        "unknown kind of event",
        "version of the kit",
    ),
    "unknown_field": (
        [b'{"n":1,"at":0.0,"kind":"asked","\\u001b[2J":1}\n'],
        2,
        "unknown field",
        "record it again",
    ),
    "number_too_large": ([b'{"n":1,"at":1e999,"kind":"asked"}\n'], 2, "out of range", "record it again"),
    "surrogate": (
        [b'{"n":1,"at":0.0,"kind":"asked","method":"\\ud800"}\n'],
        2,
        "no event",
        "record it again",
    ),
    "deep": (
        [b'{"n":1,"at":0.0,"kind":"asked","id":' + b"[" * 100_000 + b"\n"],
        2,
        "no event",
        "record it again",
    ),
    "count": ([LINE[0], encode(Footer(3))], 3, "counts 3 events, and there are 1", "record it again"),
    "count_too_small": ([*LINE, encode(Footer(3))], 7, "counts 3 events, and there are 5", "record it again"),
    "two_footers": ([encode(Footer(0)), encode(Footer(0))], 3, "more after the footer", "take the rest off"),
    "events_after_the_end": ([encode(Footer(0)), *LINE], 3, "more after the footer", "take the rest off"),
    "second_header": ([LINE[0], FIRST], 3, "no event", "record it again"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_error_with_the_line_and_a_remedy(path, name):
    lines, number, wrong, remedy = BROKEN[name]
    error = error_of(path, FIRST, *lines)
    assert isinstance(error, BrokenHistory)
    assert f", line {number}: " in str(error)
    assert (error.file, error.line) == (str(path), number)
    assert wrong in str(error)
    assert remedy in str(error)


def test_a_header_that_says_something_else_is_an_error(path):
    assert "the header is wrong" in str(error_of(path, b'{"history":1,"key":7}\n'))


def test_what_stands_before_the_error_is_read(path):
    path.write_bytes(b"".join((FIRST, *LINE[:3], b"what\n")))
    seen = []
    with pytest.raises(BrokenHistory):
        seen.extend(iter(History.load(path)))
    assert seen == ASKED[:3]


def test_a_line_that_is_too_long_is_not_taken_in(path):
    long = b'{"n":1,"at":0.0,"kind":"asked","method":"' + b"x" * 5000 + b'"}\n'
    path.write_bytes(FIRST + long)
    assert len([*History.load(path, longest=6000)]) == 1
    with pytest.raises(BrokenHistory, match=r"line 2: the line is longer than 1000 bytes"):
        [*History.load(path, longest=1000)]
    path.write_bytes(b"x" * 5000)
    with pytest.raises(NotAHistory, match=r"line 1: .*longer than 1000 bytes"):
        History.load(path, longest=1000)


@pytest.mark.parametrize("name", [*BROKEN, "whole"])
def test_it_is_the_same_wherever_a_block_ends(path, name, monkeypatch):
    def told():
        seen = []
        try:
            for entry in History.load(path):
                seen.append(entry)  # noqa: PERF402  # what came before an error counts
        except HistoryError as error:
            return [*seen, str(error)]
        return seen

    lines, *_ = BROKEN.get(name, ([*LINE, encode(Footer(5))],))
    path.write_bytes(FIRST + b"".join(lines))
    once = told()
    for size in range(1, 400, 23):
        monkeypatch.setattr(reading, "_BLOCK", size)
        assert told() == once, size


def test_memory_does_not_grow_with_the_file(path):
    with path.open("wb") as file:
        file.write(FIRST)
        for n in range(1, 30_001):
            file.write(encode(Entry(n, 0.0, "asked", id=n, method="tools/list", list="tools")))
    history = History.load(path)
    tracemalloc.start()
    assert sum(1 for _ in history) == 30_000
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 500_000 < path.stat().st_size


@given(st.binary(max_size=400))
def test_any_bytes_are_an_error_of_ours(path, junk):
    error_of(path, junk)


@given(st.binary(max_size=400))
def test_any_bytes_after_a_header_are_read_or_are_an_error_of_ours(path, junk):
    path.write_bytes(FIRST + LINE[0] + junk)
    _read_or_told(path)


@given(st.data())
def test_a_changed_file_is_read_or_is_an_error_of_ours(path, data):
    written(path, *ASKED)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        until = data.draw(st.integers(at, min(len(content), at + 40)))
        content[at:until] = data.draw(st.binary(max_size=8) | st.just(bytes(content[: until - at])))
    path.write_bytes(content)
    _read_or_told(path)


@given(st.permutations(range(len(LINE))), st.integers(0, len(LINE)))
def test_lines_in_any_other_order_are_an_error(path, order, cut):
    kept = [LINE[n] for n in order][:cut]
    path.write_bytes(b"".join((FIRST, *kept)))
    if kept == LINE[:cut]:
        assert read(path) == ASKED[:cut]
    else:
        assert isinstance(error_of(path, FIRST, *kept), BrokenHistory)


def _read_or_told(path):
    for look in (read, lambda path: History.load(path).unfinished):
        told = ""
        try:
            look(path)
        except HistoryError as error:
            told = str(error)
        assert told == "" or told.isprintable()


def _fields(entry):
    return {name: getattr(entry, name) for name in entry.__struct_fields__}
