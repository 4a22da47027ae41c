"""A recorder between a client and a server over stdio: the two hear each other as if it were not there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.recording.running import PATIENCE, PROGRAM, environment, python, read, recorder, running

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
ANSWERS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": [{"name": "a"}]}}), flush=True)
"""
LISTS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def line(frame):
    return json.dumps(frame).encode() + b"\n"


def through(path, command, said, **environ):
    """What comes out of the recorded command when the client says this and closes stdin."""
    done = subprocess.run(
        recorder(path, command),
        input=said,
        capture_output=True,
        env=environment(**environ),
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout, done.stderr


def kinds(entries):
    return [entry.kind for entry in entries]


def test_a_request_and_its_answer_are_recorded(tmp_path):
    path = tmp_path / "one.history.jsonl"
    code, out, _ = through(path, python(ANSWERS), line(LISTS))
    history, entries = read(path)
    assert (code, json.loads(out)["id"]) == (0, 1)
    assert (history.header.sees, history.header.clock, history.unfinished) == ("wire", "real", False)
    assert kinds(entries) == ["opened", "asked", "answered", "closed"]
    _, asked, answered, closed = entries
    assert (asked.method, asked.id, asked.list, asked.generation) == ("tools/list", 1, "tools", None)
    assert (answered.method, answered.id, answered.tools[0].name) == ("tools/list", 1, "a")
    assert (closed.how, {entry.connection for entry in entries}) == ("client", {1})


@pytest.mark.parametrize(
    "said",
    [
        b"no frame\n",
        b"\xff\xfe caf\xe9\n",
        b'{"jsonrpc": "2.0",   "id": 1,\t"method": "ping"}\r\n',
        b"\n\n  \n",
        b"without an end",
        b"\x00\x1b[31m\x07\n" * 3,
        b'{"id": 1, "method": "ping"' + b"}" * 10_000 + b"\n",
        b"[" * 100_000 + b"\n",
        b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "ping"}\n',
    ],
    ids=[*"abcdefghi"],
)
def test_every_byte_goes_through_unchanged(tmp_path, said):
    path = tmp_path / "one.history.jsonl"
    code, out, _ = through(path, python(ECHO), said)
    assert (code, out) == (0, said)
    assert not read(path)[0].unfinished


def test_what_is_no_frame_is_recorded_as_such_from_either_side(tmp_path):
    path = tmp_path / "one.history.jsonl"
    through(path, python(ECHO), b"caf\xe9\n" + line({"level": "info"}))
    garbled = [entry.how for entry in read(path)[1] if entry.kind == "garbled"]
    assert sorted(garbled) == ["client", "client", "server", "server"]


def test_a_line_of_a_hundred_megabytes_goes_through(tmp_path):
    path = tmp_path / "one.history.jsonl"
    size = 100 * 1024 * 1024
    code, out, _ = through(path, python(ECHO), b'"' + b"x" * size + b'"\n' + line(LISTS))
    assert (code, len(out)) == (0, size + 3 + len(line(LISTS)))
    assert set(kinds(read(path)[1])) == {"opened", "garbled", "asked", "requested", "closed"}
    assert path.stat().st_size < 2_000


def test_a_frame_of_several_megabytes_is_read(tmp_path):
    path = tmp_path / "one.history.jsonl"
    call = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "a", "arguments": {"x": "y" * 5_000_000}},
    }
    _, out, _ = through(path, python(ECHO), line(call))
    assert out == line(call)
    asked = next(entry for entry in read(path)[1] if entry.kind == "asked")
    assert (asked.tool, len(asked.arguments)) == ("a", 16)


def test_a_batch_is_recorded_frame_by_frame(tmp_path):
    path = tmp_path / "one.history.jsonl"
    through(path, python(ECHO), line([LISTS, {"jsonrpc": "2.0", "method": "notifications/initialized"}]))
    entries = read(path)[1]
    assert [entry.kind for entry in entries if entry.kind in ("asked", "told")] == ["asked", "told"]


def test_stderr_the_arguments_and_the_environment_reach_the_other_side(tmp_path):
    server = "import os, sys; sys.stderr.write(os.environ['WORD'] + sys.argv[1]); sys.exit(3)"
    path = tmp_path / "one.history.jsonl"
    code, _, err = through(path, python(server, "--to"), b"", WORD="heard ")
    assert (code, err) == (3, b"heard --to")
    assert read(path)[1][-1].kind == "closed"


def test_an_answer_comes_before_anything_else_is_said(tmp_path):
    path = tmp_path / "one.history.jsonl"
    with running(recorder(path, python(ANSWERS))) as child:
        for number in range(1, 4):
            child.stdin.write(line({**LISTS, "id": number}))
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["id"] == number
            assert kinds(read(path)[1])[-2:] == ["asked", "answered"]  # in the file before it is passed on
        assert read(path)[0].unfinished


@posix
def test_a_recorder_that_is_killed_leaves_a_file_that_can_be_read(tmp_path):
    path = tmp_path / "one.history.jsonl"
    with running(recorder(path, python(ANSWERS))) as child:
        child.stdin.write(line(LISTS))
        child.stdin.flush()
        child.stdout.readline()
        child.kill()
        child.wait(PATIENCE)
    history, entries = read(path)
    assert (kinds(entries), history.unfinished) == (["opened", "asked", "answered"], True)


@posix
def test_a_signal_is_passed_on_and_so_is_its_end(tmp_path):
    path = tmp_path / "one.history.jsonl"
    waits = "import signal, sys; print('ready', flush=True); signal.pause()"
    with running(recorder(path, python(waits))) as child:
        assert child.stdout.readline() == b"ready\n"
        child.terminate()
        assert child.wait(PATIENCE) == -signal.SIGTERM
    assert read(path)[1][-1].how == "server"
    assert not read(path)[0].unfinished


@posix
def test_a_server_that_dies_is_seen_to_die(tmp_path):
    path = tmp_path / "one.history.jsonl"
    dies = "import os, sys; sys.stdin.readline(); os.kill(os.getpid(), 9)"
    with running(recorder(path, python(dies))) as child:
        child.stdin.write(line(LISTS))
        child.stdin.flush()
        assert child.stdout.read() == b""
        assert child.wait(PATIENCE) == -signal.SIGKILL
    entries = read(path)[1]
    assert (kinds(entries), entries[-1].how) == (["opened", "asked", "closed"], "server")


@posix
def test_a_server_that_closes_its_stdout_and_lives_on_is_heard_to_close(tmp_path):
    path = tmp_path / "one.history.jsonl"
    mute = "import os, sys; os.close(1); sys.stdin.readline()"
    with running(recorder(path, python(mute))) as child:
        assert child.stdout.read() == b""
        assert child.poll() is None
        child.stdin.close()
        child.wait(PATIENCE)
    assert read(path)[1][-1].how == "server"


@posix
def test_a_client_that_vanishes_takes_the_server_with_it(tmp_path):
    path = tmp_path / "one.history.jsonl"
    floods = (
        "import os\nos.write(2, str(os.getpid()).encode() + b'\\n')\nwhile True: os.write(1, b'x' * 65536)"
    )
    with running(recorder(path, python(floods))) as child:
        child.stderr.readline()
        child.stdout.close()
        child.stdin.close()
        child.wait(PATIENCE)  # its server has ended by then
    assert read(path)[1][-1].how == "client"


@posix
def test_a_server_that_does_not_end_is_ended(tmp_path):
    path = tmp_path / "one.history.jsonl"
    deaf = (
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True)\n"
        "while True: signal.pause()"
    )
    script = (
        "import pathlib, sys; from pytest_mcp_conformance.recording import Record, record_stdio\n"
        "record = Record(pathlib.Path(sys.argv[1]), 'x')\n"
        "print(record_stdio(sys.argv[2:], record, grace=0.1), file=sys.stderr)"
    )
    with running([sys.executable, "-c", script, str(path), *python(deaf)]) as child:
        assert child.stdout.readline() == b"deaf\n"
        child.stdin.close()
        assert child.stderr.readline() == b"-9\n"
    assert read(path)[1][-1].how == "client"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give the server's command after --"),
        (["--url", "http://127.0.0.1:1/mcp"], "--url and --port belong together"),
        (["--port", "0"], "give the server's command after --"),
        (["--", "no-such-command-anywhere"], "no-such-command-anywhere: No such file or directory"),
        (["--to", "no/such/folder/x.jsonl", "--", "true"], "name another file with --to"),
    ],
)
def test_what_cannot_be_recorded_is_one_clear_error(tmp_path, arguments, told):
    done = subprocess.run(
        [*PROGRAM, "record", *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=environment(),
        timeout=PATIENCE,
    )
    assert done.returncode not in (0, None)
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", [".", "not-there-yet"])
def test_in_a_folder_each_run_has_a_file_of_its_own(tmp_path, name):
    for _ in range(2):
        through(tmp_path / name, python(ANSWERS), line(LISTS))
    written = [*(tmp_path / name).glob("*.history.jsonl")]
    assert [kinds(read(path)[1])[1] for path in written] == ["asked", "asked"]


def test_a_file_that_takes_no_more_does_not_disturb_the_two(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    code, out, err = through("/dev/full", python(ANSWERS), line(LISTS))
    assert (code, json.loads(out)["id"]) == (0, 1)
    assert b"is not whole: No space left" in err
