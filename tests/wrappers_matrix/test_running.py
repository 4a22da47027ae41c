"""Jobs over places, and processes that have to be ended."""

from __future__ import annotations

import os
import sys
import threading
import time

import pytest

from pytest_mcp_conformance.matrix.places import PlaceLost, gateways
from pytest_mcp_conformance.matrix.running import run_all
from pytest_mcp_conformance.matrix.work.process import run
from tests.wrappers_matrix.places import ready, written
from tests.wrappers_matrix.test_judging import row_of, setting_in


class Doing:
    """A place that does what it is told, and remembers it."""

    def __init__(self, does=lambda job: {"state": "played"}):
        self.done, self.does = [], does

    def do(self, job, tell, stop):
        tell("playing")
        self.done.append(job["key"])
        return self.does(job)


def lost(job):
    raise PlaceLost("gone")


def broken(job):
    raise KeyError("a fault")


def played(places, keys="abcd"):
    kept = {}
    jobs = [{"key": key} for key in keys]
    assert run_all(jobs, places, tell=lambda *_: None, keep=kept.__setitem__)
    return kept


def test_every_job_is_done_once():
    places = [Doing(), Doing()]
    assert sorted(played(places)) == [*"abcd"]
    assert sorted(places[0].done + places[1].done) == [*"abcd"]


def test_the_job_of_a_place_that_is_lost_is_done_by_another():
    there = Doing(lambda job: time.sleep(0.3) or {"state": "played"})
    kept = played([Doing(lost), there])
    assert {said["state"] for said in kept.values()} == {"played"}
    assert sorted(there.done) == [*"abcd"]


def test_where_every_place_is_lost_that_is_said_of_each():
    kept = played([Doing(lost), Doing(lost)])
    assert {said["why"] for said in kept.values()} == {"every gateway was lost"}
    assert sorted(kept) == [*"abcd"]


def test_a_fault_of_ours_stops_nobody():
    kept = played([Doing(lambda job: broken(job) if job["key"] == "a" else {"state": "played"})])
    assert kept["a"] == {"state": "not-run", "why": "a fault of the kit: KeyError: 'a fault'"}
    assert kept["d"] == {"state": "played"}


@pytest.fixture
def process(tmp_path):
    def started(source, **how):
        given = {"limit": 60.0, "stop": threading.Event(), "environ": os.environ, **how}
        return run([sys.executable, "-c", source], folder=tmp_path, log=tmp_path / "log", **given)

    return started


FAMILY = """
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("child").write_text(str(child.pid))
{then}
"""


def is_gone(path):
    """Whether a process has ended; one that nobody has waited for yet has."""
    pid = int(path.read_text())
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="Linux tells of processes there")
@pytest.mark.parametrize(
    ("then", "how", "ended"),
    [
        ("", {}, (0, "")),
        ("time.sleep(600)", {"limit": 3.0}, (None, "limit")),
        ("time.sleep(600)", {"limit": 60.0, "done": lambda: True, "grace": 3.0}, (None, "lingers")),
    ],
)
def test_nothing_of_a_group_is_left(process, tmp_path, then, how, ended):
    found = process(FAMILY.format(then=then), **how)
    assert (found.code, found.why) == ended
    assert is_gone(tmp_path / "child")


def test_a_gateway_ends_what_is_under_way_when_it_is_told(tmp_path):
    setting = setting_in(tmp_path / "environments")
    row = row_of("hanging")
    folder = written(tmp_path, "hanging")
    module = folder / "acme_hanging.py"
    pid = f"import os, pathlib\npathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
    module.write_text(pid + module.read_text(encoding="utf-8"), encoding="utf-8")
    ready(setting, row, folder)
    stop = threading.Event()

    def when_it_plays():
        while not (tmp_path / "pid").exists():
            time.sleep(0.1)
        stop.set()

    threading.Thread(target=when_it_plays, daemon=True).start()
    with gateways(["popen"]) as (place,):
        said = place.do(setting.job(row), lambda what: None, stop)
    assert said["state"] == "stopped"
    assert is_gone(tmp_path / "pid")
