"""The steps of the how-to, run: a client of the TypeScript SDK, recorded before a server in Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_mcp_conformance import check
from tests.docs.examples import DOCS, ROOT
from tests.recording.running import listening, read, recorded_http

PAGE = (DOCS / "how-to" / "record-any-client.md").read_text(encoding="utf-8")
SECTION = PAGE.split("\n## From TypeScript, for example\n")[1].split("\n## ")[0]
SECONDS = 240
INSTALL = ["install", "--no-audit", "--no-fund", "--prefer-offline"]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)


def ran(command, folder):
    """A command that the page shows, with the kit and the SDK of this run."""
    words = command.split()
    words[0] = shutil.which(words[0], path=environment(folder)["PATH"])
    done = subprocess.run(
        words, cwd=folder, env=environment(folder), capture_output=True, encoding="utf-8", timeout=SECONDS
    )
    return done.returncode, done.stdout, done.stderr


def environment(folder):
    here = Path(sys.executable).parent  # where `python` is the one that has the SDK
    return {**os.environ, "PATH": os.pathsep.join([str(folder / "bin"), str(here), os.environ["PATH"]])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files of the page, and the package from npm."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing or os.name != "posix":
        pytest.skip(f"{' and '.join(missing) or 'a POSIX shell'} not installed here: no client of TypeScript")
    tmp_path = tmp_path_factory.mktemp("visit")
    (tmp_path / "server.py").write_text(blocks("python")[0], encoding="utf-8")
    (tmp_path / "visit.mjs").write_text(blocks("js")[0], encoding="utf-8")
    script = tmp_path / "bin" / "mcp-conformance"
    script.parent.mkdir()
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from pytest_mcp_conformance.cli import main\nmain()\n"
    )
    script.chmod(0o755)
    package = commands()[0].removeprefix("npm install ")
    try:
        code, _, told = ran(" ".join(["npm", *INSTALL, package]), tmp_path)
    except subprocess.TimeoutExpired:
        code, told = 1, f"no answer within {SECONDS} s"
    if code:
        pytest.skip(f"{package} cannot be had from npm: {told.strip().splitlines()[:1]}")
    return tmp_path


def commands():
    return re.findall(r"^\$ (.*)$", blocks("console")[0], re.MULTILINE)


def test_the_page_shows_two_commands():
    assert [command.split()[0] for command in commands()] == ["npm", "node"]


def test_a_client_of_the_typescript_sdk_is_recorded_as_the_page_says(folder):
    code, out, told = ran(commands()[1], folder)
    assert (code, out) == (0, blocks("console")[0].splitlines(keepends=True)[-1]), told
    history, entries = read(folder / "visit.history.jsonl")
    assert (history.header.sees, history.header.clock, history.unfinished) == ("wire", "real", False)
    assert (entries[-1].how, {entry.connection for entry in entries}) == ("client", {1})
    shown = [
        f"{entry.kind} {entry.method} {entry.tool} {[tool.name for tool in entry.tools or ()]}"
        for entry in entries
    ]
    assert shown == blocks("text")[0].splitlines()
    asked = {entry.id for entry in entries if entry.kind == "asked"}
    assert asked == {entry.id for entry in entries if entry.kind == "answered"}


RESTOCKS = """\
await client.callTool({ name: "restock", arguments: {} });
await changed;
"""
RESTOCKS_UNTIL_HEARD = """\
let heard = false;
changed.then(() => (heard = true));
while (!heard) await client.callTool({ name: "restock", arguments: {} });
"""
OVER_HTTP = {
    "StdioClientTransport({ command, args })": "T(new URL(command))",
    "{ StdioClientTransport }": "{ StreamableHTTPClientTransport as T }",
    "stdio.js": "streamableHttp.js",
    RESTOCKS: RESTOCKS_UNTIL_HEARD,  # the stream that carries notices opens beside the first calls
}


def test_the_same_client_is_recorded_over_http(folder):
    path = folder / "http.history.jsonl"
    script = blocks("js")[0]
    for word, other in OVER_HTTP.items():
        assert script.count(word) == 1
        script = script.replace(word, other)
    (folder / "http.mjs").write_text(script, encoding="utf-8")
    with listening() as shop, recorded_http(path, shop) as url:
        code, out, told = ran(f"node http.mjs {url}", folder)
    assert (code, out) == (0, "2 3 3\n"), told
    entries = read(path)[1]
    asked = [entry.tool or entry.method for entry in entries if entry.kind == "asked"]
    assert [*dict.fromkeys(asked)] == ["initialize", "tools/list", "price", "restock"]
    assert (asked[-1], asked.count("tools/list")) == ("tools/list", 2)
    assert {entry.list for entry in entries if entry.kind == "noticed"} == {"tools"}
    ids = [[entry.id for entry in entries if entry.kind == kind] for kind in ("asked", "answered")]
    assert (ids[0], {entry.connection for entry in entries}) == (ids[1], {1})


def test_the_checker_finds_nothing_wrong_with_it(folder):
    assert ran(commands()[1], folder)[0] == 0
    history, entries = read(folder / "visit.history.jsonl")
    assert [each for each in check(entries, history.header) if each.kind == "fault"] == []


def test_the_page_reads_the_history_as_it_says(folder):
    assert ran(commands()[1], folder)[0] == 0
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{blocks('python')[1]}"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    assert done.stdout == blocks("text")[0], done.stderr
