"""`mcp-conformance matrix` as its users meet it: real environments, Ctrl-C, and what it refuses."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner
from filelock import FileLock

from pytest_mcp_conformance import cli
from pytest_mcp_conformance.matrix import judging
from pytest_mcp_conformance.matrix.judging import Setting
from pytest_mcp_conformance.matrix.kit import kit_of
from pytest_mcp_conformance.matrix.table import read_table
from pytest_mcp_conformance.matrix.work import environment
from tests.wrappers_matrix.places import ROOT, ready, written

MCP = version("mcp")
NARROW = """
from functools import partial
from pytest_mcp_conformance.cli import main
from pytest_mcp_conformance.matrix import judging
judging.Setting = partial(judging.Setting, more=("--mcp-rule=CALL-3",))
main(prog_name="mcp-conformance")
"""
KIT = "pytest-mcp-conformance"


@pytest.fixture
def invoke(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner(env={"COLUMNS": "200"}).invoke(cli.main, ["matrix", *map(str, words)])


def table_of(folder, *rows):
    """A table of (adapter, package, version, module)."""
    text = "".join(
        f'[[wrapper]]\nadapter = "{name}"\npackage = "{package}"\nversion = "{number}"\nfrom = "{module}"\n'
        for name, package, number, module in rows
    )
    path = folder / "wrappers.toml"
    path.write_text(text, encoding="utf-8")
    return path


def wheel(folder, name, number, module, text):
    """A wheel of one module, as an index would have it."""
    info = f"{name}-{number}.dist-info"
    files = {
        f"{module}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={digest(said)},{len(said)}" for path, said in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    with zipfile.ZipFile(folder / f"{name}-{number}-py3-none-any.whl", "w") as packed:
        for path, said in files.items():
            packed.writestr(path, said)


def digest(text):
    """As the record of a wheel has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def test_two_runs_do_not_share_a_folder(invoke, tmp_path):
    table = table_of(tmp_path, ("quiet", "acme_mcp", "1.0", "acme_quiet:adapter_"))
    (tmp_path / "envs").mkdir()
    with FileLock(tmp_path / "envs" / ".lock"):
        result = invoke("--table", table, "--kit", KIT, "--environments", "envs", "--output", "out")
    assert result.exit_code == 2
    assert "--environments envs: another run is at work there" in result.output
    assert not (tmp_path / "out").exists()


def test_real_environments_are_made_and_used_again(invoke, tmp_path, monkeypatch):
    """Pip and all: only what the kit itself needs is lent by this interpreter."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    source = (written(tmp_path, "quiet") / "acme_quiet.py").read_text(encoding="utf-8")
    wheel(wheels, "acme_mcp", "1.0", "acme_quiet", source)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    really = environment._must

    def lending(folder, what, command, stop):
        really(folder, what, command, stop)
        if what == "venv":
            (site,) = (folder / "venv").glob("lib/python*/site-packages")
            lent = [ROOT, ROOT / "reference", sysconfig.get_path("purelib")]
            (site / "lent.pth").write_text("".join(f"{each}\n" for each in lent), encoding="utf-8")

    monkeypatch.setattr(environment, "_must", lending)
    monkeypatch.setattr(judging, "Setting", partial(Setting, more=("--mcp-rule=CALL-3",)))
    table = table_of(
        tmp_path, ("quiet", "acme_mcp", "1.0", "acme_quiet:adapter_"), ("gone", "acme_mcp", "2.0", "acme:a")
    )
    words = ("--table", table, "--kit", KIT, "--environments", "envs", "--output", "out", "--jobs", 2)
    result = invoke(*words)
    assert result.exit_code == 1, result.output
    entries = {each["adapter"]: each for each in json.loads(Path("out/matrix.json").read_text())["wrappers"]}
    assert entries["quiet"]["state"] == "judged", entries["quiet"]
    assert entries["quiet"]["counts"]["kept"] == 1
    assert entries["gone"]["state"] == "not-installed"
    assert "Could not find a version that satisfies the requirement acme_mcp==2.0" in entries["gone"]["why"]
    assert str(tmp_path) not in Path("out/matrix.json").read_text()
    assert "quiet-1.0: judged: 1 kept" in result.output
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    again = invoke(*words, "quiet")
    assert (again.exit_code, "quiet-1.0: is known" in again.output) == (0, True)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl_c", "terminated"])
def test_an_interrupt_ends_what_is_under_way_and_keeps_what_is_done(tmp_path, how):
    rows = [(name, "mcp", MCP, f"acme_{name}:adapter_") for name in ("quiet", "hanging")]
    table = table_of(tmp_path, *rows)
    setting = Setting(tmp_path / "envs", kit_of(KIT), sys.executable)
    for row in read_table(table):
        folder = written(tmp_path / row.adapter, row.adapter)
        marked = (folder / f"acme_{row.adapter}.py").read_text(encoding="utf-8")
        pid = f"import os, pathlib\npathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        (folder / f"acme_{row.adapter}.py").write_text(pid + marked, encoding="utf-8")
        ready(setting, row, folder)
    words = ["--table", table, "--kit", KIT, "--environments", "envs", "--output", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", NARROW, "matrix", *map(str, words)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'reference'}", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # ignored in the background
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(f"hanging-{MCP}: playing"):
            break
    first = (tmp_path / "pid").read_text()
    end = time.monotonic() + 60
    while (tmp_path / "pid").read_text() == first and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(how)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert "interrupted; what was judged is kept" in rest
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    told = json.loads((tmp_path / "out" / "matrix.json").read_text())
    assert [each["state"] for each in told["wrappers"]] == ["judged", "not-run"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nobody"], "'nobody' fits no wrapper of the table"),
        (["--table", "none.toml"], "the table of wrappers: cannot read none.toml"),
        (["--kit", "a b c"], "--kit 'a b c' is neither a folder nor a file nor a requirement"),
        (["--on", "what=ever"], "--on what=ever: no gateway"),
        (["--jobs", "0"], "0 is not in the range x>=1"),
        (["--time-limit", "0"], "0.0 is not in the range x>0"),
    ],
)
def test_what_cannot_be_met_is_a_usage_error_of_one_line(invoke, words, told):
    result = invoke(*words)
    assert result.exit_code == 2, result.output
    assert told in " ".join(result.output.split())
    assert "Traceback" not in result.output


def test_an_interpreter_that_is_none_is_a_line_of_the_matrix(invoke, tmp_path):
    table = table_of(tmp_path, ("quiet", "mcp", MCP, "acme_quiet:adapter_"))
    result = invoke("--table", table, "--kit", KIT, "--python", tmp_path / "none")
    assert result.exit_code == 1
    (entry,) = json.loads(Path("mcp-matrix/matrix.json").read_text())["wrappers"]
    assert entry["state"] == "not-installed"
    assert entry["why"] == "…/none cannot be run: No such file or directory"
