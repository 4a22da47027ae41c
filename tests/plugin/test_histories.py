"""`--mcp-history` leaves a file of each item that was played."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance import History
from pytest_mcp_conformance.plugin.histories import file_name


@pytest.fixture
def files(pytester):
    """The histories in the folder `seen`, by their names."""

    def read():
        return {path.name: History.load(path) for path in (pytester.path / "seen").iterdir()}

    return read


def test_each_item_has_a_file_of_its_own(adapter, run, files):
    adapter("CCH-13=broken")
    run("--mcp-history=seen", "--mcp-rule=CCH-13", "-k", "overtaken_listing")
    assert {name: history.unfinished for name, history in files().items()} == {
        "overtaken_listing[acme-memory-handshake].history.jsonl": False,
        "overtaken_listing[acme-memory-modern].history.jsonl": False,
    }
    history = files()["overtaken_listing[acme-memory-modern].history.jsonl"]
    assert [entry.kind for entry in history] == ["opened"]
    assert history.header.name == "overtaken_listing[acme-memory-modern]"
    assert (history.header.era, history.header.clock, history.header.sees) == (
        "modern",
        "virtual",
        "wire and wrapper",
    )
    assert history.header.kit
    assert history.header.sdk


def test_the_folder_is_made_and_may_be_there(adapter, run, pytester):
    adapter()
    for _ in range(2):
        assert run("--mcp-history=deep/down", "-k", "weak_promise").ret == 0
    assert len([*(pytester.path / "deep" / "down").iterdir()]) == 1


def test_what_was_not_played_has_no_file(adapter, run, files):
    adapter("silent=")
    run("--mcp-history=seen", "-k", "weak_promise")
    assert files() == {}


def test_without_the_option_nothing_is_written(adapter, run, pytester):
    adapter()
    run("-k", "weak_promise")
    assert [*pytester.path.rglob("*.jsonl")] == []


def test_an_item_that_ends_the_process_leaves_an_unfinished_history(adapter, run, files):
    adapter("exit=weak_promise")
    run("--mcp-history=seen", "-k", "weak_promise", alone=True)
    (history,) = files().values()
    assert history.unfinished
    assert [entry.kind for entry in history] == ["opened"]


def test_a_place_that_is_no_folder_is_a_usage_error(adapter, run, pytester):
    adapter()
    pytester.path.joinpath("seen").write_text("a file")
    result = run("--mcp-history=seen")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--mcp-history=seen: no folder can be made there, *; name another"])


def test_what_cannot_be_written_is_told_and_is_no_verdict(adapter, run, pytester):
    adapter()
    name = "weak_promise[acme-memory-handshake].history.jsonl"
    (pytester.path / "seen" / name).mkdir(parents=True)
    result = run("--mcp-history=seen", "-k", "weak_promise")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(passed=1, deselected=10)
    result.stdout.fnmatch_lines([f"history not written to *{name.partition('[')[0]}*: Is a directory"])


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("mcp-conformance::a[acme-http-modern-late]", "a[acme-http-modern-late]"),
        (
            "tests/test_mcp.py::test_mcp[a-acme-http-modern]",
            "tests_test_mcp.py__test_mcp[a-acme-http-modern]",
        ),
        ("mcp-conformance::a[../../etc/x\x1b\n\u202e-http-modern]", "a[.._.._etc_x___-http-modern]"),
    ],
)
def test_a_name_is_one_that_every_file_system_takes(nodeid, name):
    assert file_name(nodeid) == f"{name}.history.jsonl"


def test_a_long_name_is_cut_and_stays_its_own():
    names = {file_name(f"mcp-conformance::a[{'x' * 500}{end}]") for end in "ab"}
    assert len(names) == 2
    assert all(len(name) < 200 for name in names)
