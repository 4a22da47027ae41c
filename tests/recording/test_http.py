"""The recorder before a server over HTTP: what goes through, what is refused, and what is written."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.recording.running import PATIENCE, environment, read, recorded_http

JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}},
}
LISTS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
LISTED = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


class Upstream(ThreadingHTTPServer):
    """A server whose next replies are functions of the handler; what it was asked is in `asked`."""

    daemon_threads = True

    def __init__(self):
        self.plays = []
        self.asked = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/mcp?key=planted-query"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def play(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(self)
        self.server.plays.pop(0)(self)

    do_GET = do_POST = do_DELETE = play

    def log_message(self, *told):
        pass


def gives(status, body=b"", kind="application/json", **headers):
    """A play: one whole reply."""

    def play(handler):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return play


def event(frame, number=""):
    return f"{f'id: {number}' if number else ': no id'}\ndata: {json.dumps(frame)}\n\n".encode()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An upstream, the recorder before it, and the file."""
    path = tmp_path_factory.mktemp("http") / "one.history.jsonl"
    upstream = Upstream()
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    with recorded_http(path, upstream.url) as url:
        assert "planted" not in url
        yield upstream, url, path
    upstream.shutdown()
    upstream.server_close()
    assert b"planted" not in path.read_bytes()
    assert not read(path)[0].unfinished


@pytest.fixture
def asks(place):
    """Send one request through the recorder; gives the reply with its body."""
    upstream, url, _ = place
    upstream.plays.clear()
    upstream.asked.clear()
    port = int(url.split(":")[2].partition("/")[0])

    def ask(method="POST", body=LISTS, path="/mcp", **headers):
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as one:
            one.request(method, path, content, {**JSON, **named})
            reply = one.getresponse()
            reply.content = reply.read()
            return reply

    ask.port = port
    return ask


@contextmanager
def recorded_in(place):
    """The entries that are written inside the block."""
    before, entries = len(read(place[2])[1]), []
    yield entries
    entries += read(place[2])[1][before:]


def told(entries):
    return [(entry.kind, entry.method, entry.id) for entry in entries]


def test_a_session_is_one_connection_from_initialize_to_delete(place, asks):
    upstream = place[0]
    initialized = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}}
    session = {"Mcp_Session_Id": "planted-session"}
    upstream.plays += [gives(200, initialized, **session), gives(200, LISTED), gives(200)]
    with recorded_in(place) as entries:
        asks(body=INITIALIZE)
        asks(**session)
        asks("DELETE", None, **session)
    assert told(entries) == [
        ("opened", "", None),
        ("asked", "initialize", 0),
        ("answered", "initialize", 0),
        ("asked", "tools/list", 1),
        ("answered", "tools/list", 1),
        ("closed", "", None),
    ]
    assert (len({entry.connection for entry in entries}), entries[-1].how) == (1, "client")
    assert entries[2].headers["mcp-session-id"] == entries[3].headers["mcp-session-id"]


def test_bodies_headers_and_the_query_go_through_unchanged(place, asks):
    upstream = place[0]
    content = b'{"jsonrpc":"2.0",  "id": 1, "result": {"caf\\u00e9": "\xc3\xa9"}}'
    upstream.plays += [gives(207, content, X_One="1", Set_Cookie="a=b")]
    said = b'{"id":1,\n "jsonrpc" : "2.0","method":"tools/list"}'
    reply = asks(body=said, Authorization="Bearer planted", X_Two="2")
    asked = upstream.asked[0]
    assert (reply.status, reply.content, reply.headers["X-One"]) == (207, content, "1")
    assert (asked.body, asked.path) == (said, "/mcp?key=planted-query")
    assert (asked.headers["Authorization"], asked.headers["X-Two"]) == ("Bearer planted", "2")
    assert asked.headers["Host"] == f"127.0.0.1:{upstream.server_address[1]}"
    assert asked.headers["Accept-Encoding"] == "identity"


def test_each_event_goes_through_at_once_and_is_written_before(place, asks):
    upstream, _, path = place
    read_by_client = threading.Event()

    def play(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(event(CHANGED))
        handler.wfile.flush()
        assert read_by_client.wait(PATIENCE)
        whole = event(LISTED)
        handler.wfile.write(whole[:20])
        handler.wfile.flush()
        handler.wfile.write(whole[20:])
        handler.close_connection = True

    upstream.plays.append(play)
    with closing(http.client.HTTPConnection("127.0.0.1", asks.port, timeout=PATIENCE)) as one:
        one.request("POST", "/mcp", json.dumps(LISTS), JSON)
        reply = one.getresponse()
        assert reply.read1().count(b"list_changed") == 1
        last = read(path)[1][-1]
        assert (last.kind, last.list) == ("noticed", "tools")
        read_by_client.set()
        assert reply.read().endswith(b"}\n\n")
    last = read(path)[1][-1]
    assert (last.kind, last.method, last.tools[0].name) == ("answered", "tools/list", "a")


def test_a_stream_that_is_not_written_goes_through_at_once_as_well(place, asks):
    upstream = place[0]
    read_by_client = threading.Event()

    def play(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("X-Umlaut", "\u00fc")
        handler.end_headers()
        handler.wfile.write(b"event: endpoint\ndata: /messages?session=planted\n\n")
        handler.wfile.flush()
        assert read_by_client.wait(PATIENCE)
        handler.close_connection = True

    upstream.plays.append(play)
    with (
        recorded_in(place) as entries,
        closing(http.client.HTTPConnection("127.0.0.1", asks.port, timeout=PATIENCE)) as one,
    ):
        one.request("GET", "/mcp", headers=JSON)
        reply = one.getresponse()
        assert (reply.read1(), reply.headers["X-Umlaut"]) == (
            b"event: endpoint\ndata: /messages?session=planted\n\n",
            "\u00fc",
        )
        read_by_client.set()
        assert reply.read() == b""
    assert entries == []


def test_what_a_resumed_stream_says_again_is_written_once(place, asks):
    upstream = place[0]
    events = event(CHANGED, "1") + event(CHANGED, "2")
    upstream.plays += [
        gives(200, events, "text/event-stream"),
        gives(200, events + event(CHANGED, "3"), "text/event-stream"),
    ]
    with recorded_in(place) as entries:
        asks("GET", None, Mcp_Session_Id="resumed")
        asks("GET", None, Mcp_Session_Id="resumed", Last_Event_ID="1")
    assert [entry.kind for entry in entries] == ["opened", "noticed", "noticed", "noticed"]


def test_an_error_of_http_ends_the_request_without_a_code(place, asks):
    place[0].plays += [gives(503, b"busy", "text/plain", Retry_After="7")]
    with recorded_in(place) as entries:
        assert asks(body={**LISTS, "id": 71}).status == 503
    failed = entries[-1]
    assert (failed.kind, failed.method, failed.id, failed.code) == ("failed", "tools/list", 71, None)
    assert failed.headers["retry-after"] == "7"


@pytest.mark.parametrize("number", [None, "server-error"])
def test_an_error_that_names_no_request_is_that_of_the_request(place, asks, number):
    error = {"jsonrpc": "2.0", "id": number, "error": {"code": -32600, "message": "planted"}}
    place[0].plays += [gives(400, error)]
    with recorded_in(place) as entries:
        asks(body={**LISTS, "id": f"of-{number}"})
    failed = [entry for entry in entries if entry.kind == "failed"]
    assert [(entry.id, entry.code) for entry in failed] == [(f"of-{number}", -32600)]


@pytest.mark.parametrize("body", [b"Not Found", b""])
def test_a_session_that_the_server_does_not_know_any_more_is_closed_by_it(place, asks, body):
    place[0].plays += [gives(404, body, "text/plain")]
    with recorded_in(place) as entries:
        asks(Mcp_Session_Id=f"forgotten {len(body)}")
    assert [entry.kind for entry in entries] == ["opened", "asked", "failed", "closed"]
    assert entries[-1].how == "server"


def test_what_is_no_frame_is_written_as_such(place, asks):
    place[0].plays += [gives(200, b'{"no": "frame"}')]
    with recorded_in(place) as entries:
        asks(body=b"\xff planted")
    assert [(entry.kind, entry.how) for entry in entries if entry.kind == "garbled"] == [
        ("garbled", "client"),
        ("garbled", "server"),
    ]


def test_a_response_that_the_server_cuts_is_cut_for_the_client(place, asks):
    def play(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"jsonrpc"')
        handler.close_connection = True

    place[0].plays.append(play)
    with recorded_in(place) as entries, pytest.raises((http.client.HTTPException, OSError)):
        asks(body={**LISTS, "id": 72})
    assert told(entries)[-1] == ("asked", "tools/list", 72)


def test_a_modern_response_that_the_client_leaves_is_a_cancellation(place, asks):
    upstream, _, path = place
    gone = threading.Event()

    def play(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        try:
            while True:  # until the recorder has hung up as well
                handler.wfile.write(b": still here\n\n")
                handler.wfile.flush()
        except OSError:
            handler.close_connection = True
            gone.set()

    upstream.plays.append(play)
    with closing(http.client.HTTPConnection("127.0.0.1", asks.port, timeout=PATIENCE)) as one:
        said = json.dumps({**LISTS, "id": 73})
        one.request("POST", "/mcp", said, {**JSON, "MCP-Protocol-Version": "2026-07-28"})
        one.getresponse().read1()
    assert gone.wait(PATIENCE)
    upstream.plays.append(gives(200, {**LISTED, "id": 74}))
    asks(body={**LISTS, "id": 74})
    cancelled = next(entry for entry in read(path)[1] if entry.kind == "cancelled")
    assert (cancelled.id, cancelled.how) == (73, "client")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "example.com"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "https://example.com"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_a_request_that_was_meant_for_somebody_else_is_refused(place, asks, headers, status):
    with recorded_in(place) as entries:
        assert asks(**headers).status == status
    assert (entries, place[0].asked) == ([], [])


def test_other_pages_of_the_server_go_through_and_are_not_written(place, asks):
    place[0].plays += [gives(200, b'{"issuer": "x"}')]
    with recorded_in(place) as entries:
        reply = asks("GET", None, "/.well-known/oauth-authorization-server?a=%20b")
    assert (reply.content, entries) == (b'{"issuer": "x"}', [])
    assert place[0].asked[0].path == "/.well-known/oauth-authorization-server?a=%20b"


def test_only_this_machine_reaches_it(asks):
    with pytest.raises(OSError):  # noqa: PT011 (each system says it in its own way)
        socket.create_connection(("127.0.0.2", asks.port), PATIENCE).close()


def record(*arguments, before=""):
    script = f"import sys; {before}\nfrom pytest_mcp_conformance.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", script, "record", *arguments],
        capture_output=True,
        encoding="utf-8",
        env=environment(),
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("url", ["ftp://a/b", "no address", "http://", "http://a:planted/", "//a/b"])
def test_an_address_that_is_none_is_refused(tmp_path, url):
    done = record("--to", str(tmp_path), "--url", url, "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    assert "write it as https://example.com/mcp" in done.stderr
    assert "planted" not in done.stderr


def test_a_port_that_is_taken_is_one_clear_error(tmp_path, asks):
    done = record("--to", str(tmp_path), "--url", "http://127.0.0.1:1/mcp", "--port", str(asks.port))
    assert done.returncode == 1
    assert f"--port {asks.port}: Address already in use; take another one, or 0" in done.stderr


def test_a_library_that_is_missing_is_named_with_the_extra(tmp_path):
    done = record(
        "--to",
        str(tmp_path),
        "--url",
        "http://127.0.0.1:1/mcp",
        "--port",
        "0",
        before="sys.modules['uvicorn'] = None",
    )
    assert done.returncode == 1
    assert "needs uvicorn: install pytest-mcp-conformance[http]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_is_a_bad_gateway(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        with recorded_http(tmp_path / "one.history.jsonl", url) as own:
            place = own.removeprefix("http://").partition("/")[0]
            with closing(http.client.HTTPConnection(place, timeout=PATIENCE)) as one:
                one.request("POST", "/mcp", json.dumps(LISTS), JSON)
                reply = one.getresponse()
                assert (reply.status, b"gives no answer" in reply.read()) == (502, True)
    entries = read(tmp_path / "one.history.jsonl")[1]
    assert told(entries) == [("opened", "", None), ("asked", "tools/list", 1), ("closed", "", None)]
    assert entries[-1].how == ""
