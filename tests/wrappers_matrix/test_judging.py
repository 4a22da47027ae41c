"""Wrappers of every bad kind are a line of the matrix each, and stop nobody else."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import pytest

from pytest_mcp_conformance.matrix.judging import Setting, entries_of, judge
from pytest_mcp_conformance.matrix.kit import Kit
from pytest_mcp_conformance.matrix.places import gateways, here
from pytest_mcp_conformance.matrix.table import Row
from pytest_mcp_conformance.matrix.work import playing
from tests.wrappers_matrix.places import WRAPPERS, ready, written

RULES = ("--mcp-rule=TOOL-1", "--mcp-rule=CALL-3")
MCP = version("mcp")


def setting_in(folder, **more):
    how = {"limit": 60.0, "more": RULES, **more}
    return Setting(folder, Kit(("kit",), "", "state"), sys.executable, **how)


def row_of(name, gaps=None, of=MCP):
    return Row(name, "mcp", of, module=f"acme_{name}:adapter_", gaps=gaps)


def judged(rows, setting, places=None, **how):
    """The entries, by adapter, and what was told on the way."""
    found, steps = {}, []
    finished = judge(
        rows,
        setting,
        here(2) if places is None else places,
        tell=lambda key, what: steps.append((key, what)),
        done=lambda row, entry: found.__setitem__(row.adapter, entry),
        **how,
    )
    assert finished
    return found, steps


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    """Every wrapper there is, judged together."""
    folder = tmp_path_factory.mktemp("matrix")
    setting = setting_in(folder / "environments", limit=45.0)
    rows = [row_of(name) for name in WRAPPERS]
    for row in rows:
        ready(setting, row, written(folder / row.adapter, row.adapter))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(playing, "_GRACE", 15.0)
        return judged(rows, setting)[0]


def test_each_has_an_entry(entries):
    assert sorted(entries) == sorted(WRAPPERS)
    for entry in entries.values():
        assert (entry["package"], entry["version"], entry["sdk"]) == ("mcp", MCP, MCP)
        json.dumps(entry)


def test_one_that_breaks_a_rule_differs_and_says_what_was_seen(entries):
    entry = entries["quiet"]
    assert (entry["state"], entry["why"]) == ("differs", "broken, and no known gap: TOOL-1")
    assert entry["counts"]["kept"] == 1
    rule = entry["rules"]["TOOL-1"]
    assert (rule["verdict"], rule["level"], rule["inherited"], rule["clock"]) == (
        "broken",
        "MUST",
        True,
        "virtual",
    )
    assert rule["item"] == "caller_edits_a_definition[quiet-memory-handshake]"
    assert rule["detail"].startswith("judged by what its caller wrote into the schema")
    assert [each["kind"] for each in rule["drawn"]][-3:] == ["asked", "answered", "returned"]
    assert rule["drawn"][-1]["result"] == rule["drawn"][-2]["result"] == "out1"
    assert entry["rules"]["CALL-3"] == {"verdict": "kept", "level": "MUST"}


def test_one_that_cannot_be_imported_says_so(entries):
    assert entries["absent"]["state"] == "not-imported"
    assert "No module named 'a_module_that_is_not_there'" in entries["absent"]["why"]
    assert entries["absent"]["rules"] == {}


def test_one_that_prints_is_judged_and_it_is_noted(entries):
    entry = entries["talking"]
    assert entry["rules"]["TOOL-1"]["verdict"] == "broken"
    assert [each["detail"] for each in entry["printed"]] == ["calling"]
    assert entry["printed"][0]["items"] > 0
    assert entries["quiet"]["printed"] == []


@pytest.mark.parametrize(("name", "how"), [("aborting", "by SIGABRT"), ("leaving", "with code 0")])
def test_one_that_ends_its_process_is_named_with_what_was_played(entries, name, how):
    assert entries[name]["state"] == "crashed"
    assert f"ended {how}, and gave no report while it was playing " in entries[name]["why"]
    assert f"[{name}-memory-handshake" in entries[name]["why"]


def test_one_whose_threads_hold_the_process_is_judged_all_the_same(entries):
    entry = entries["lingering"]
    assert entry["state"] == "lingers"
    assert "a thread holds it" in entry["why"]
    assert entry["rules"]["TOOL-1"]["verdict"] == "broken"


def test_one_that_hangs_is_ended_by_the_limit(entries):
    assert entries["hanging"]["state"] == "hangs"
    assert entries["hanging"]["why"].startswith("it did not end within 45 s while it was playing ")


def test_one_that_goes_elsewhere_is_told_of(entries):
    entry = entries["roaming"]
    assert entry["state"] == "differs"
    assert "tried to connect to example.org:80" in entry["why"]
    assert entry["trouble"][0]["items"] >= 1


def test_another_version_than_that_of_the_table_is_not_played(tmp_path):
    setting = setting_in(tmp_path / "environments")
    row = row_of("quiet", of="0.1")
    ready(setting, row)
    entry = judged([row], setting)[0]["quiet"]
    assert entry["state"] == "other-version"
    assert entry["why"] == f"the table says mcp==0.1, and version {MCP} is installed"


def test_known_gaps_are_expected_and_give_their_reasons(tmp_path):
    gaps = tmp_path / "quiet.toml"
    gaps.write_text(
        '[[gap]]\nrule = "TOOL-1"\nwrapper = "quiet"\nreason = "it hands out what it keeps"\n'
        'link = "https://example.org/7"\n'
    )
    setting = setting_in(tmp_path / "environments")
    row = row_of("quiet", gaps)
    ready(setting, row, written(tmp_path, "quiet"))
    entry = judged([row], setting)[0]["quiet"]
    assert (entry["state"], entry["why"]) == ("judged", "")
    rule = entry["rules"]["TOOL-1"]
    assert (rule["verdict"], rule["reason"], rule["link"]) == (
        "known-gap",
        "it hands out what it keeps",
        "https://example.org/7",
    )
    gaps.write_text(gaps.read_text().replace("TOOL-1", "CALL-3"))
    entry = judged([row_of("quiet", gaps)], setting)[0]["quiet"]  # another file of gaps: it is played again
    assert entry["why"] == (
        "broken, and no known gap: TOOL-1; "
        "known gap closed: CALL-3 of quiet: the gap is closed, the rule is kept"
    )


def test_what_is_known_is_not_played_again_and_says_the_same(tmp_path):
    setting = setting_in(tmp_path / "environments")
    row = row_of("quiet")
    ready(setting, row, written(tmp_path, "quiet"))
    first, steps = judged([row], setting)
    assert [what for _, what in steps] == ["preparing its environment", "playing"]
    again, steps = judged([row], setting, places=[])
    assert [what for _, what in steps] == ["is known"]
    assert json.dumps(again) == json.dumps(first)
    assert entries_of([row], setting, {}, lambda *_: None) == [first["quiet"]]
    result = setting.folder / row.key / "result.json"
    result.unlink()
    anew, _ = judged([row], setting)  # played once more, with other keys of digests, ids and addresses
    assert json.dumps(anew) == json.dumps(first)


def test_a_gateway_does_the_same_as_this_process(tmp_path):
    setting = setting_in(tmp_path / "environments", workers=1)
    row = row_of("quiet")
    ready(setting, row, written(tmp_path, "quiet"))
    here_, _ = judged([row], setting)
    (setting.folder / row.key / "result.json").unlink()
    with gateways(["popen"]) as places:
        there, steps = judged([row], setting, places=places)
    assert [what for _, what in steps] == ["preparing its environment", "playing"]
    assert json.dumps(there) == json.dumps(here_)


def test_nothing_of_the_user_reaches_a_wrapper(tmp_path, monkeypatch):
    (tmp_path / "conftest.py").write_text("raise SystemExit('a conftest of the user')")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--collect-only'\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    monkeypatch.setenv("ACME_TOKEN", "a-secret-of-the-user")
    at_home = "assert 'ACME_TOKEN' not in os.environ and os.path.expanduser('~').endswith('home')"
    monkeypatch.setitem(WRAPPERS, "asking", ("import os", at_home))
    setting = setting_in(tmp_path / "environments")
    row = row_of("asking")
    ready(setting, row, written(tmp_path / "asking", "asking"))
    assert judged([row], setting)[0]["asking"]["rules"]["CALL-3"]["verdict"] == "kept"
