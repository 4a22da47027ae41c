"""A token that was planted wherever a client and a server may put one is in no file that was recorded."""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import closing
from http.client import HTTPConnection

import pytest

from tests.recording.running import PATIENCE, environment, python, read, recorded_http, recorder
from tests.recording.test_http import JSON, Upstream, event, gives

TOKEN = "sk-planted-7c1f"
META = {"_meta": {"progressToken": TOKEN, "k": TOKEN}}
SAID = [
    {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": TOKEN, "version": TOKEN}, **META}},
    {"method": "notifications/initialized", "params": META},
    {"id": 2, "method": "tools/list", "params": {"cursor": TOKEN, **META}},
    {
        "id": f"id {TOKEN}",
        "method": "tools/call",
        "params": {"name": "a", "arguments": {"key": TOKEN}, **META},
    },
    {"id": 4, "method": "tools/call", "params": {"name": "a", "arguments": {"key": TOKEN}}},
    {"id": 5, "method": "resources/read", "params": {"uri": f"file:///{TOKEN}"}},
    {"id": 6, "method": "prompts/get", "params": {"name": "p", "arguments": {"key": TOKEN}}},
    {"method": "notifications/cancelled", "params": {"requestId": 6, "reason": TOKEN}},
    {"id": 90, "result": {"content": TOKEN}},
]
ENTRY = {"name": "a", "description": TOKEN, "inputSchema": {"default": TOKEN}, "title": TOKEN, **META}
ANSWERED = [
    {
        "id": 1,
        "result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": TOKEN}, "instructions": TOKEN},
    },
    {"id": 2, "result": {"tools": [ENTRY], "nextCursor": TOKEN, **META}},
    {"id": f"id {TOKEN}", "result": {"content": [{"type": "text", "text": TOKEN}], **META}},
    {"id": 4, "error": {"code": -32000, "message": TOKEN, "data": {"key": TOKEN}}},
    {"id": 5, "result": {"contents": [{"text": TOKEN}]}},
    {"id": 6, "error": {"code": -32603, "message": TOKEN}},
    {"method": "notifications/message", "params": {"data": TOKEN}},
    {"method": "notifications/resources/updated", "params": {"uri": f"file:///{TOKEN}"}},
    {"id": 90, "method": "elicitation/create", "params": {"message": TOKEN}},
]
NOISE = f"not a frame, {TOKEN}\n".encode()
EXPECTED = {"opened", "asked", "told", "replied", "answered", "failed", "noticed", "requested", "garbled"}


def framed(frames):
    return [{"jsonrpc": "2.0", **frame} for frame in frames]


def is_free_of_the_token(folder, path):
    assert {entry.kind for entry in read(path)[1]} >= EXPECTED
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert path in files
    assert [each.name for each in files if b"planted" in each.read_bytes()] == []


def test_over_stdio(tmp_path):
    path = tmp_path / "one.history.jsonl"
    answers = "".join(json.dumps(frame) + "\n" for frame in framed(ANSWERED)).encode() + NOISE
    server = "import sys; sys.stdin.read(); sys.stderr.write(sys.argv[1]); print(sys.argv[2], end='')"
    asked = b"".join(json.dumps(frame).encode() + b"\n" for frame in framed(SAID))
    done = subprocess.run(
        recorder(path, python(server, f"--token={TOKEN}", answers.decode())),
        input=asked + NOISE,
        capture_output=True,
        env=environment(API_KEY=TOKEN),
        timeout=PATIENCE,
    )
    assert (done.stdout, done.stderr) == (answers, f"--token={TOKEN}".encode())
    is_free_of_the_token(tmp_path, path)


@pytest.mark.parametrize(
    "carrier", ["Authorization", "X-Api-Key", "Cookie", "X-Custom", "Proxy-Authorization", "Last-Event-ID"]
)
def test_over_http(tmp_path, carrier):
    path = tmp_path / "one.history.jsonl"
    upstream = Upstream()
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    url = upstream.url.replace("http://", f"http://{TOKEN}:{TOKEN}@")
    with recorded_http(path, url) as own:
        assert "planted" not in own
        place = own.removeprefix("http://").partition("/")[0]

        def ask(method, body, play, **headers):
            upstream.plays.append(play)
            with closing(HTTPConnection(place, timeout=PATIENCE)) as one:
                one.request(method, "/mcp", body, {**JSON, carrier: TOKEN, **headers})
                one.getresponse().read()

        session = {"Mcp-Session-Id": TOKEN}
        events = enumerate(framed(ANSWERED))
        answers = b"".join(event(frame, f"{TOKEN}-{number}") for number, frame in events)
        first, *rest = framed(SAID)
        ask("POST", json.dumps(first), gives(200, framed(ANSWERED)[0], X_Key=TOKEN, **session))
        for frame in rest:
            ask("POST", json.dumps(frame), gives(202), **session)
        ask("GET", None, gives(200, answers, "text/event-stream", **session), **session)
        ask("POST", NOISE, gives(200, NOISE), **session)
        ask("DELETE", None, gives(200), **session)
    upstream.shutdown()
    upstream.server_close()
    assert any(TOKEN in str(each.headers) for each in upstream.asked)
    is_free_of_the_token(tmp_path, path)
