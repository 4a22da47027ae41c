"""A first baseline, written from today's verdicts."""

from __future__ import annotations

import sys
from datetime import date

import pytest

from tests.plugin.helpers import error_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ALL = 11
WRITE = "--mcp-write-known-gaps=gaps.toml"


@pytest.fixture
def written(pytester):
    """The entries of the file."""
    return lambda: tomllib.loads((pytester.path / "gaps.toml").read_text()).get("gap", [])


def test_what_is_broken_today_is_written_and_the_run_is_green(adapter, run, written):
    adapter("CALL-1=broken NTC-1@modern=broken")
    result = run(WRITE)
    assert result.ret == 0
    result.assert_outcomes(passed=ALL - 3, xfailed=3)
    result.stdout.fnmatch_lines(["known gaps (2) written to *gaps.toml"])
    reason = f"adopted on {date.today().isoformat()}: assert ['old'] == ['new']"
    assert written() == [
        {"rule": "NTC-1", "wrapper": "acme", "reason": reason, "era": "modern"},
        {"rule": "CALL-1", "wrapper": "acme", "reason": reason},
    ]


def test_the_next_run_under_the_file_is_green_and_closes_nothing(adapter, run):
    adapter("CALL-1=broken NTC-1@modern=broken")
    run(WRITE)
    result = run("--mcp-known-gaps=gaps.toml")
    assert result.ret == 0
    result.assert_outcomes(passed=ALL - 3, xfailed=3)


def test_the_verdict_of_that_day_stays_broken(adapter, report):
    adapter("CALL-1=broken")
    assert report(WRITE)["wrappers"][0]["rules"]["CALL-1"]["verdict"] == "broken"


@pytest.mark.parametrize(("arguments", "number"), [((), 0), (("--mcp-strict",), 1)])
def test_a_broken_should_is_adopted_where_it_would_fail(adapter, run, written, arguments, number):
    adapter("TOOL-2=broken")
    assert run(WRITE, *arguments).ret == 0
    assert len(written()) == number


def test_what_is_no_broken_rule_is_not_adopted(adapter, run, written):
    adapter("CALL-1=not-testable CCH-15=broken")
    run(WRITE).assert_outcomes(failed=1, xfailed=1, passed=ALL - 2)
    assert [each["rule"] for each in written()] == ["CCH-15"]


def test_an_existing_file_is_not_overwritten(adapter, run, pytester):
    adapter("CALL-1=broken")
    pytester.path.joinpath("gaps.toml").write_text("# mine\n")
    assert "exists" in error_of(run(WRITE))
    assert (pytester.path / "gaps.toml").read_text() == "# mine\n"


def test_entries_that_are_in_force_are_taken_over(adapter, run, pytester, written):
    adapter("CALL-1=broken CCH-15=broken")
    pytester.path.joinpath("old.toml").write_text(
        '[[gap]]\nrule = "CALL-1"\nwrapper = "ac*"\nreason = "a \\"known\\" one"\n'
        'link = "https://example.org/7"\nsdk = "mcp>=1"\n'
    )
    assert run(WRITE, "--mcp-known-gaps=old.toml").ret == 0
    assert [each["rule"] for each in written()] == ["CCH-15", "CALL-1"]
    assert written()[1] == {
        "rule": "CALL-1",
        "wrapper": "acme",
        "reason": 'a "known" one',
        "link": "https://example.org/7",
        "sdk": "mcp>=1",
    }


def test_a_gap_of_each_era_is_taken_over(adapter, run, pytester, written):
    adapter("NTC-1=broken")
    entry = '[[gap]]\nrule = "NTC-1"\nwrapper = "acme"\nreason = "{0}"\nera = "{0}"\n'
    pytester.path.joinpath("old.toml").write_text(entry.format("modern") + entry.format("handshake"))
    run(WRITE, "--mcp-known-gaps=old.toml").assert_outcomes(passed=ALL - 4, xfailed=4)
    assert [each["era"] for each in written()] == ["handshake", "modern"]


def test_a_gap_that_has_closed_is_left_out(adapter, run, pytester, written):
    adapter()
    pytester.path.joinpath("old.toml").write_text('[[gap]]\nrule="CALL-1"\nwrapper="acme"\nreason="x"\n')
    assert run(WRITE, "--mcp-known-gaps=old.toml").ret == 0
    assert written() == []


@pytest.mark.parametrize("says", ["", "CALL-1=broken"])
def test_a_race_of_the_wrapper_is_taken_over_seen_or_not(adapter, run, pytester, written, says):
    adapter(says)
    race = '[[gap]]\nrule = "CALL-1"\nwrapper = "acme"\nreason = "x"\nconfirmed = "y"\nstrict = false\n'
    pytester.path.joinpath("old.toml").write_text(race)
    assert run(WRITE, "--mcp-known-gaps=old.toml").ret == 0
    assert [each["strict"] for each in written()] == [False]


@pytest.mark.parametrize(("says", "taken"), [("trouble", 1), ("", 0)])
def test_trouble_that_is_still_there_is_taken_over(adapter, run, pytester, written, says, taken):
    adapter(says)
    trouble = '[[gap]]\ntrouble = "task * is still running"\nwrapper = "ac*"\nreason = "x"\n'
    pytester.path.joinpath("old.toml").write_text(trouble)
    assert run(WRITE, "--mcp-known-gaps=old.toml").ret == 0
    assert [each["trouble"] for each in written()] == ["task * is still running"] * taken


def test_an_interrupted_run_writes_no_baseline(adapter, run, pytester):
    adapter("CCH-13=not-testable")
    result = run(WRITE, "-x")
    assert not (pytester.path / "gaps.toml").exists()
    result.stdout.fnmatch_lines(["known gaps not written to *: the run was interrupted"])


def test_nothing_broken_gives_a_file_without_entries(adapter, run, written):
    adapter()
    assert run(WRITE).ret == 0
    assert written() == []
