"""`mcp-conformance show`, `check` and `diff`: histories at a terminal, in a pipe and for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pytest_mcp_conformance import Finding, cli
from pytest_mcp_conformance.cli.differing import differing
from pytest_mcp_conformance.history import Entry, Footer, Header, History, Listed
from pytest_mcp_conformance.history.codec import encode
from tests.history.plays import written
from tests.history.test_explaining import HOSTILE
from tests.history.test_normal import KEPT, with_fields

ROOT = Path(__file__).parents[2]
CHECK = sys.modules["pytest_mcp_conformance.cli.check"]  # the command has the name of its module
SCRIPT = "from pytest_mcp_conformance.cli import main; main(prog_name='mcp-conformance')"
STALE = Finding("stale-after-notice", "CCH-12", "It served a, old, after notice #16.", (9, 16, 20))
LOST = Finding("result-lost", "CALL-1", "A \x1b[31mresult\n was lost.", (12, 14))
DOUBT = Finding("never-closed", "CONN-9", "It may still be open.", (2,), "unknown")


@pytest.fixture
def invoke():
    return lambda *arguments: CliRunner(env={"COLUMNS": "80"}).invoke(cli.main, [*map(str, arguments)])


@pytest.fixture
def finds(monkeypatch):
    """Let a checker be there that finds these, at the end of each history."""

    def make(*findings, after=1):
        seen = []

        def check(entries, header):
            assert isinstance(header, Header)
            seen.append(entries.unfinished)
            for entry in entries:
                if entry.n == after:
                    yield from findings

        monkeypatch.setattr(CHECK, "judge", check)
        return seen

    return make


@pytest.fixture
def file(tmp_path):
    """Write a history that is the kept one, changed."""

    def make(name, change=lambda entries: entries, key="0" * 16, **how):
        entries = [with_fields(entry, n=n) for n, entry in enumerate(change([*History.load(KEPT)]), 1)]
        path = written(tmp_path / name, *entries, **how)
        header = Header(1, key, era="handshake")
        path.write_bytes(encode(header) + path.read_bytes().partition(b"\n")[2])
        return path

    return make


def told(result, code):
    """The one line that a command ends with."""
    assert (result.exit_code, result.exception.__class__) == (code, SystemExit)
    lines = result.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].isprintable()
    return lines[0]


def test_a_history_is_shown_as_lanes(invoke):
    result = invoke("show", KEPT)
    lines = result.output.splitlines()
    assert result.exit_code == 0
    assert len(lines) == 28
    assert lines[0] == "recorded, handshake era, wire and wrapper, virtual time"
    assert lines[9] == "     8    0.000  │                 ● asked tools/list (id 2, generation 1)"
    assert max(map(len, lines)) <= 80


def test_a_part_of_it_is_shown_by_number_and_by_kind(invoke):
    def numbers(*options):
        return [int(line.split()[0]) for line in invoke("show", KEPT, *options).output.splitlines()[2:]]

    assert numbers("--from", 24) == [24, 25, 26]
    assert numbers("--to", 2) == [1, 2]
    assert numbers("--only", "served", "--only", "changed") == [1, 10, 15, 20]
    assert numbers("--from", 2, "--to", 15, "--only", "changed") == [15]


def test_a_file_without_an_end_says_so(invoke, file, finds):
    seen = finds()
    unfinished = file("one", events=-1)
    assert "has no end" in invoke("show", unfinished).output
    assert "has no end" in invoke("check", unfinished).output
    assert json.loads(invoke("check", "--json", unfinished).output)["files"][0]["unfinished"] is True
    assert "has no end" not in invoke("show", KEPT).output
    invoke("check", KEPT)
    assert seen == [True, True, False]  # a checker must not take what is missing for lost


@pytest.mark.parametrize("command", [("show",), ("check",), ("diff", KEPT)], ids=lambda each: each[0])
def test_a_file_that_cannot_be_read_is_one_line_and_no_traceback(invoke, tmp_path, command, finds):
    finds()
    broken = tmp_path / "broken"
    broken.write_bytes(encode(Header(1, "0" * 16)) + b'{"n":1,"at":0.0,"kind":"\\u001b[2J"}\n')
    line = told(invoke(*command, broken), 2)
    assert line.startswith(f"Error: {broken}, line 2: an unknown kind of event")
    assert "read it with the version of the kit that wrote it" in line
    nowhere = tmp_path / "\x1b[2Jnowhere"
    assert r"\x1b[2Jnowhere: cannot be read: No such file" in told(invoke(*command, nowhere), 2)


@pytest.mark.parametrize(
    "arguments",
    [("show",), ("show", KEPT, "--only", "what"), ("show", KEPT, "--from", 0), ("check",), ("diff", KEPT)],
)
def test_a_usage_error_has_the_code_2(invoke, arguments):
    assert invoke(*arguments).exit_code == 2


def test_a_clean_history_is_told_as_that(invoke, finds):
    finds()
    result = invoke("check", KEPT)
    assert (result.exit_code, result.output) == (0, f"{KEPT}: no fault in 26 events\n")


def test_each_finding_is_explained(invoke, finds):
    finds(STALE, LOST)
    result = invoke("check", KEPT)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[:3] == [f"{KEPT}: 2 faults in 26 events", "", "stale-after-notice (CCH-12)"]
    assert lines[7] == "    16    0.000  │                 │                    ● tools/list_changed"
    assert lines[11:13] == ["result-lost (CALL-1)", r"  A \x1b[31mresult was lost."]


def test_what_a_history_does_not_tell_is_shown_and_is_no_fault(invoke, finds):
    finds(DOUBT)
    result = invoke("check", KEPT)
    assert result.exit_code == 0
    assert "no fault and 1 that it does not tell in 26 events" in result.output
    assert "never-closed (CONN-9), which this history does not tell" in result.output


def test_of_many_findings_the_first_are_drawn_and_all_are_counted(invoke, finds):
    finds(*[STALE] * 3, *[LOST] * 2)
    output = invoke("check", KEPT, "--most", 2).output
    assert output.count("stale-after-notice (CCH-12)") == 2
    assert (
        output.splitlines()[-1]
        == "3 more are not drawn; in all there are 2 result-lost, 3 stale-after-notice"
    )


def test_programs_get_every_finding(invoke, finds, tmp_path):
    finds(STALE, LOST, DOUBT)
    result = invoke("check", "--json", KEPT, KEPT, tmp_path)
    assert result.exit_code == 2
    assert result.stdout.isascii()
    one, two, three = json.loads(result.stdout)["files"]
    assert one == two
    assert (one["file"], one["events"], one["unfinished"], one["error"]) == (str(KEPT), 26, False, "")
    assert one["findings"][0] == {
        "name": "stale-after-notice",
        "rule": "CCH-12",
        "kind": "fault",
        "text": "It served a, old, after notice #16.",
        "proof": [9, 16, 20],
    }
    assert [each["kind"] for each in one["findings"]] == ["fault", "fault", "unknown"]
    assert three["findings"] == []
    assert three["error"].startswith(f"{tmp_path}: cannot be read")


def test_what_was_found_before_a_file_breaks_is_told(invoke, file, finds):
    finds(Finding("x", "CALL-1", "It is so.", (1,)))
    short = file("short", events=99)
    result = invoke("check", short, KEPT)
    assert result.exit_code == 2
    assert "counts 99 events" in result.stderr
    assert result.output.count("x (CALL-1)") == 2
    assert f"{KEPT}: 1 fault in 26 events" in result.output


def test_findings_are_drawn_into_a_folder(invoke, finds, tmp_path):
    finds(STALE, LOST)
    folder = tmp_path / "deep" / "pictures"
    assert invoke("check", KEPT, KEPT, "--svg", folder, "--json").exit_code == 1
    names = [f"lists_and_calls.{file}-{number}.svg" for file in (1, 2) for number in (1, 2)]
    assert sorted(each.name for each in folder.iterdir()) == names
    for name in names:
        assert ElementTree.fromstring((folder / name).read_text(encoding="utf-8")).tag.endswith("svg")


def test_a_folder_that_cannot_be_made_is_one_line(invoke, finds, tmp_path):
    finds(STALE)
    (tmp_path / "taken").write_text("")
    line = told(invoke("check", KEPT, "--svg", tmp_path / "taken"), 2)
    assert "cannot be written" in line
    assert "name a folder that can" in line


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_stands_in_a_file_comes_out_harmless(invoke, finds, tmp_path, name):
    name = name.encode("utf-8", "backslashreplace").decode()
    finds(Finding(name, name, name, (1, 2)), after=2)
    path = written(
        tmp_path / "one",
        Entry(1, 0.0, "asked", method=name, tool=name, principal=name, id=name, arguments=name),
        Entry(2, 0.0, "served", who=1, server=name, tools=(Listed(name, name, name), Listed(name))),
        Entry(3, 0.0, "raised", who=1, verb=name, error=name),
    )
    header = encode(Header(1, name, name=name, kit=name, sdk=name))
    path.write_bytes(header + path.read_bytes().partition(b"\n")[2])
    for arguments in (("show", path), ("check", path), ("check", "--json", path), ("diff", KEPT, path)):
        output = invoke(*arguments).output
        assert len(output.splitlines()) > 3
        assert output.replace("\n", "").isprintable()


def test_whoever_waits_at_a_terminal_sees_events_go_by(monkeypatch):
    class Terminal(StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(CHECK, "_STEP", 10)
    for stream, told in ((Terminal(), "\r10 events\r20 events\n"), (StringIO(), "")):
        monkeypatch.setattr(sys, "stderr", stream)
        assert len([*CHECK._Counted(History.load(KEPT), CHECK.Checked())]) == 26
        assert stream.getvalue() == told


def test_a_history_of_the_reference_is_without_fault(invoke):
    """By the checker itself; `docs/how-to/read-a-history.md` has one of a wrapper with a fault."""
    done = invoke("check", KEPT)
    assert (done.exit_code, "no fault in 26 events" in done.output) == (0, True), done.output


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_memory_does_not_grow_with_the_file_and_its_findings(monkeypatch, tmp_path, form):
    def check(entries, header):
        return (Finding("x", "CALL-1", f"It is so: {entry.n}.", (entry.n,)) for entry in entries)

    monkeypatch.setattr(CHECK, "judge", check)
    path = long(tmp_path / "long", 10_000)
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        tracemalloc.start()
        with pytest.raises(SystemExit) as left:
            cli.main(["check", str(path), *form], prog_name="mcp-conformance")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert left.value.code == 1
    assert most < 900_000


def long(path, events):
    """A history of so many events."""
    with path.open("wb") as file:
        file.write(encode(Header(1, "0" * 16)))
        for n in range(1, events + 1):
            file.write(encode(Entry(n, 0.0, "asked", connection=1, id=n, method="tools/list")))
        file.write(encode(Footer(events)))
    return path


def test_equal_histories_are_equal_whatever_their_ids_times_and_keys(invoke, file):
    def otherwise(entries):
        return [
            with_fields(entry, at=7.0, id=None if entry.id is None else entry.id + 3) for entry in entries
        ]

    result = invoke("diff", KEPT, file("other", otherwise))
    assert (result.exit_code, result.output) == (0, "")


def test_two_lines_that_changed_places_are_two_lines(invoke, file):
    def swapped(entries):
        return [*entries[:14], entries[15], entries[14], *entries[16:]]

    result = invoke("diff", file("a"), file("b", swapped))
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert [line for line in lines if line[0] in "-+" and line[:3] not in ("---", "+++")] == [
        "+connection 1: noticed notifications/tools/list_changed",
        "-connection 1: noticed notifications/tools/list_changed",
    ]
    assert "\x1b" not in result.output


def test_colours_are_for_a_terminal_alone(file, monkeypatch):
    def shorter(entries):
        return entries[:-1]

    arguments = ["diff", str(file("a")), str(file("b", shorter))]
    for there in (False, True):
        monkeypatch.setattr(Console, "is_terminal", there)
        output = CliRunner(env={"TERM": "xterm", "NO_COLOR": None}).invoke(cli.main, arguments).output
        assert ("\x1b[31m-holder 1: left" in output) == there


def test_payloads_are_compared_where_the_key_is_one(invoke, file):
    def otherwise(entries):
        return [with_fields(entry, result=entry.result and "7" * 16) for entry in entries]

    assert invoke("diff", file("a"), file("b", otherwise)).exit_code == 1
    assert invoke("diff", file("a"), file("b", otherwise, key="1" * 16)).exit_code == 0


def test_a_letter_that_the_terminal_lacks_ends_no_command():
    done = run("show", KEPT, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u25cf asked tools/list" in done.stdout


def test_a_reader_who_goes_away_is_no_error(tmp_path):
    path = long(tmp_path / "long", 20_000)
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "show", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout.readline().startswith(b"long, ")
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) in (0, 1)


def run(*arguments, **variables):
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env={**environment(), **variables}, timeout=60)


def environment():
    return {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}


texts = st.lists(st.sampled_from("abcd"), max_size=30)


@given(texts, texts, st.integers(1, 40))
def test_a_difference_is_whole_whatever_the_window(before, after, window):
    """Both texts can be made of what is told, where everything is told."""
    shown = [*differing(before, after, window)]
    assert (shown == []) == (before == after)
    signs = [line[0] for line in shown]
    gone, new = signs.count("-"), signs.count("+")
    assert len(before) - gone == len(after) - new
    assert [line[1:] for line in shown if line[0] in "-+ "] != [] or before == after
    for sign, text in (("-", before), ("+", after)):
        left = iter(text)
        assert all(line[1:] in left for line in shown if line[0] in (sign, " "))


def test_a_difference_of_long_texts_takes_the_lines_around_it():
    before = [f"line {n}" for n in range(5000)]
    after = [*before[:2500], "new", *before[2500:4000], *before[4001:]]
    assert [*differing(iter(before), iter(after))] == [
        "@@ -2497 +2497 @@",
        " line 2497",
        " line 2498",
        " line 2499",
        "+new",
        " line 2500",
        " line 2501",
        " line 2502",
        "@@ -3997 +3998 @@",
        " line 3997",
        " line 3998",
        " line 3999",
        "-line 4000",
        " line 4001",
        " line 4002",
        " line 4003",
    ]
