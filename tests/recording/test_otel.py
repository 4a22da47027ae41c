"""Histories from spans: what the SDK traces, in every shape that it is exported in, and what is not known."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime, timezone
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history import Digests
from pytest_mcp_conformance.history.codec import encode
from pytest_mcp_conformance.recording.otel import entries_of
from pytest_mcp_conformance.recording.spans import spans_in
from tests.recording.running import PATIENCE, ROOT, environment, read

BEGAN = 1_800_000_000


def traced(path, *how):
    """The spans of a real client, and of its server unless it is `alone`, as one JSON object each."""
    if find_spec("mcp.shared._otel") is None:
        pytest.skip("mcp 1.x traces nothing")
    if find_spec("opentelemetry.sdk") is None:
        pytest.skip("opentelemetry-sdk is not installed: no spans to convert")
    subprocess.run(
        [sys.executable, "-m", "tests.recording.traced", str(path), *how],
        cwd=ROOT,
        env=environment(),
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return [json.loads(line) for line in path.read_text().splitlines()]


def convert(path, to):
    script = "from pytest_mcp_conformance.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", script, "convert", str(path), "--to", str(to)],
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=PATIENCE,
    )


def converted(folder, text):
    """The entries of a file of spans."""
    path, to = folder / "spans.jsonl", folder / "one.history.jsonl"
    path.write_text(text)
    done = convert(path, to)
    assert (done.returncode, done.stderr) == (0, "")
    history, entries = read(to)
    assert (history.header.sees, history.header.clock, history.unfinished) == ("wire", "real", False)
    assert done.stdout == f"{len(entries)} entries written to {to}\n"
    return entries


def shown(entries):
    return [(each.kind, each.method, each.id, each.tool, each.ok, each.code) for each in entries]


def otlp(span):
    """A span as the exporters of OTLP write it."""
    nanoseconds = {
        key: str(int(datetime.strptime(span[key], "%Y-%m-%dT%H:%M:%S.%f%z").timestamp() * 1e6) * 1000)
        for key in ("start_time", "end_time")
    }
    return {
        "name": span["name"],
        "traceId": span["context"]["trace_id"],
        "spanId": span["context"]["span_id"],
        "parentSpanId": span["parent_id"] or "",
        "kind": {"SpanKind.SERVER": 2, "SpanKind.CLIENT": 3, "SpanKind.INTERNAL": 1}[span["kind"]],
        "startTimeUnixNano": nanoseconds["start_time"],
        "endTimeUnixNano": nanoseconds["end_time"],
        "status": {"code": 2} if span["status"]["status_code"] == "ERROR" else {},
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in span["attributes"].items()
        ],
    }


CALLS = [
    ("asked", "tools/call", 3, "price", None, None),
    ("answered", "tools/call", 3, "", True, None),
    ("asked", "tools/call", 4, "price", None, None),
    ("answered", "tools/call", 4, "", False, None),
    ("asked", "tools/call", 5, "restock", None, None),
    ("answered", "tools/call", 5, "", True, None),
]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return traced(tmp_path_factory.mktemp("spans") / "spans.jsonl")


def exported(spans, shape):
    if shape == "to_json":
        return "\n".join(map(json.dumps, spans))
    if shape == "console":
        return "\n".join(json.dumps(span, indent=4) for span in spans)
    documents = [{"resourceSpans": [{"scopeSpans": [{"spans": [otlp(span)]}]}]} for span in spans]
    return "\n".join(map(json.dumps, documents)) if shape == "otlp" else json.dumps(documents, indent=2)


@pytest.mark.parametrize("shape", ["to_json", "console", "otlp", "otlp in one array"])
def test_a_client_and_a_server_that_are_both_traced_are_one_history(tmp_path, real, shape):
    assert {span["kind"] for span in real} == {"SpanKind.CLIENT", "SpanKind.SERVER"}
    entries = converted(tmp_path, exported(real, shape))
    told = shown(entries)
    assert [each for each in told if each[1] == "tools/call"] == CALLS
    assert [each[:3] for each in told if each[1] == "tools/list"] == [
        (kind, "tools/list", number) for number in (2, 6) for kind in ("asked", "answered")
    ]
    assert (told[0][0], told[1][:3], told[-1][0]) == ("opened", ("asked", "initialize", 1), "closed")
    assert ("told", "notifications/initialized") in [each[:2] for each in told]
    assert ({entry.connection for entry in entries}, {entry.generation for entry in entries}) == ({1}, {None})


def test_what_the_spans_of_the_sdk_do_not_tell_is_not_made_up(tmp_path, real):
    entries = converted(tmp_path, exported(real, "otlp"))
    assert [entry for entry in entries if entry.tools is not None or entry.next or entry.cursor] == []
    assert [entry for entry in entries if entry.arguments or entry.result] == []
    assert [entry for entry in entries if entry.kind in ("noticed", "listened")] == []


def test_of_a_client_alone_it_is_not_known_whether_a_call_was_good(tmp_path):
    spans = traced(tmp_path / "alone.jsonl", "alone")
    assert {span["kind"] for span in spans} == {"SpanKind.CLIENT"}
    told = shown(converted(tmp_path, exported(spans, "to_json")))
    calls = [each for each in told if each[1] == "tools/call"]
    assert calls == [(*each[:4], None, None) for each in CALLS]


def span(method, begin, end=None, *, number=None, side="CLIENT", failed=False, parent=None, **attributes):
    """A span by hand, in seconds since the first."""
    moments = [
        datetime.fromtimestamp(BEGAN + at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        for at in (begin, begin if end is None else end)
    ]
    told = {name.replace("__", "."): value for name, value in attributes.items()}
    if method:
        told["mcp.method.name"] = method
    if number is not None:
        told["jsonrpc.request.id"] = number
    return {
        "name": f"{method} planted",
        "context": {"trace_id": "0x1", "span_id": f"{method} {begin} {side}"},
        "kind": f"SpanKind.{side}",
        "parent_id": parent,
        "start_time": moments[0],
        "end_time": moments[1],
        "status": {"status_code": "ERROR", "description": "planted"} if failed else {"status_code": "UNSET"},
        "attributes": told,
        "events": [{"name": "exception", "attributes": {"exception.message": "planted"}}],
    }


def of(folder, *spans):
    return [each for each in converted(folder, exported(spans, "to_json")) if each.method]


def test_entries_are_in_the_order_of_their_times(tmp_path):
    first = span("tools/list", 0, 5, number="1")
    second = span("resources/list", 1, 2, number="2")
    told = [(entry.kind, entry.id, entry.at) for entry in of(tmp_path, second, first)]
    assert told == [("asked", 1, 0.0), ("asked", 2, 1.0), ("answered", 2, 2.0), ("answered", 1, 5.0)]


def test_a_code_is_that_of_an_error_and_an_end_without_one_is_not_known(tmp_path):
    told = of(
        tmp_path,
        span("tools/list", 0, 1, number="1", failed=True, rpc__response__status_code="-32603"),
        span("tools/list", 2, 3, number="2", failed=True, error__type="TimeoutError"),
        span("tools/list", 4, 5, number="3", failed=True, side="SERVER", error__type="KeyError"),
    )
    assert [(entry.kind, entry.id, entry.code) for entry in told if entry.kind != "asked"] == [
        ("failed", 1, -32603),
        ("failed", 3, None),
    ]


def test_sessions_are_connections_and_without_them_an_id_used_again_begins_one(tmp_path):
    told = of(
        tmp_path,
        span("ping", 0, 1, number="1", mcp__session__id="planted-a"),
        span("ping", 2, 3, number="1", mcp__session__id="planted-b"),
        span("ping", 4, 5, number="1", mcp__session__id="planted-a"),
        span("ping", 6, 7, number="1"),
        span("ping", 8, 9, number="1"),
    )
    assert [entry.connection for entry in told if entry.kind == "asked"] == [1, 2, 1, 3, 4]
    assert [entry.connection for entry in told if entry.kind == "answered"] == [1, 2, 1, 3, 4]


def test_notices_and_requests_of_the_server_are_told_apart(tmp_path):
    told = of(
        tmp_path,
        span("notifications/tools/list_changed", 0),
        span("notifications/initialized", 1),
        span("elicitation/create", 2, 3, number="9"),
    )
    assert [(entry.kind, entry.list) for entry in told] == [
        ("noticed", "tools"),
        ("told", ""),
        ("requested", ""),
        ("replied", ""),
    ]


def test_payloads_that_were_traced_are_digests(tmp_path):
    call = {"number": "1", "gen_ai__tool__name": "a", "gen_ai__tool__call__arguments": '{"key": "planted"}'}
    first, second = span("tools/call", 0, 1, **call), span("tools/call", 2, 3, **{**call, "number": "2"})
    second["attributes"]["gen_ai.tool.call.result"] = "planted"
    told = of(tmp_path, first, second)
    asked = [entry.arguments for entry in told if entry.kind == "asked"]
    assert (len(asked[0]), len(set(asked))) == (16, 1)
    assert [len(entry.result) for entry in told if entry.kind == "answered"] == [0, 16]


def test_no_text_and_no_other_attribute_is_written(tmp_path):
    other = {"url__full": "https://planted/", "mcp__resource__uri": "file:///planted", "user__id": "planted"}
    spans = [
        span("resources/read", 0, 1, number="planted id, which is no short word", failed=True, **other),
        span("initialize", 2, 3, number="1", side="SERVER", failed=True, error__type="planted"),
        span("", 4),
    ]
    assert len(of(tmp_path, *spans)) == 3
    assert b"planted" not in (tmp_path / "one.history.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no span has an attribute mcp.method.name"),
        (json.dumps(span("", 1)), "no span has an attribute mcp.method.name"),
        ("planted", "is no JSON"),
        ('{"a":\n', "is no JSON"),
        ("3", "line 1: no span of OpenTelemetry"),
        ('{"attributes": {"mcp.method.name": "ping"}, "kind": "SpanKind.CLIENT"}', "line 1: no span of"),
        ('{"resourceSpans": {"planted": 1}}', "line 1: no span of OpenTelemetry"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_a_file_of_something_else_is_one_clear_error(tmp_path, text, told):
    path = tmp_path / "spans.jsonl"
    path.write_text(text)
    done = convert(path, tmp_path / "one.history.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "planted" not in done.stderr


VALUES = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["1", "ERROR", 2, 3])
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["", "context", "start_time", "end_time", "kind", "status", "attributes", "name"]
            ),
            st.sampled_from(["mcp.method.name", "jsonrpc.request.id", "mcp.session.id", "gen_ai.tool.name"]),
            st.recursive(
                VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner)
            ),
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_whatever_stands_in_a_file_it_is_a_history_or_one_error(changes, as_otlp):
    spans = []
    for place, attribute, value in changes:
        one = span("tools/call", 0, 1, number="1", gen_ai__tool__name="a")
        one["attributes"][attribute] = value
        one = otlp(one) if as_otlp else one
        if place:
            one[place] = value
        spans.append({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]} if as_otlp else one)
    try:
        found = [*spans_in(map(json.dumps, spans), "a file")]
    except UsageError:
        return
    written = [encode(entry) for entry in entries_of(found, Digests())]
    assert len(written) >= len({each.id for each in found})


def test_a_file_that_is_not_there_is_one_clear_error(tmp_path):
    done = convert(tmp_path / "none.jsonl", tmp_path / "one.history.jsonl")
    assert (done.returncode, "cannot be read: No such file" in done.stderr) == (1, True)
