"""A strict baseline: it excuses what is broken, and what is no longer broken must leave it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest

ALL = 11
Baseline = Callable[..., pytest.RunResult]


@pytest.fixture
def baseline(adapter, run, pytester) -> Baseline:
    """Run `acme` under a baseline of entries, each given as its keys."""

    def play(
        says: str, *entries: dict[str, Any], arguments: tuple[str, ...] = (), claims: str = ""
    ) -> pytest.RunResult:
        adapter(says, claims=claims)
        text = "".join(
            "[[gap]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in each.items())
            for each in entries
        )
        pytester.path.joinpath("gaps.toml").write_text(text)
        return run("--mcp-known-gaps=gaps.toml", *arguments)

    return play


def gap(rule: str, **more: Any) -> dict[str, Any]:
    return {"rule": rule, "wrapper": "acme", "reason": f"{rule} waits for 2.0", **more}


def closed(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("known gap closed: ")]


def test_a_known_gap_is_an_expected_failure_with_its_reason(baseline):
    result = baseline("CALL-1=broken", gap("CALL-1"), arguments=("-rx",))
    result.assert_outcomes(passed=ALL - 1, xfailed=1)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["XFAIL mcp-conformance::one_request_a_call* - CALL-1 waits for 2.0"])


def test_the_verdict_is_known_gap(baseline, report):
    baseline("CALL-1=broken", gap("CALL-1"))
    assert report("--mcp-known-gaps=gaps.toml")["wrappers"][0]["rules"]["CALL-1"]["verdict"] == "known-gap"


def test_an_item_with_another_fault_fails(baseline):
    result = baseline("CCH-13@handshake=broken CCH-15=broken", gap("CCH-15"))
    result.assert_outcomes(failed=2, passed=ALL - 2)
    assert "CCH-15 MUST (kit)  An older" not in result.stdout.str()


def test_two_gaps_of_one_item_give_both_reasons(baseline):
    result = baseline("CCH-13=broken CCH-15=broken", gap("CCH-13"), gap("CCH-15"), arguments=("-rx",))
    result.assert_outcomes(passed=ALL - 3, xfailed=3)
    result.stdout.fnmatch_lines(
        ["XFAIL *two_listings* - CCH-13: CCH-13 waits for 2.0; CCH-15: CCH-15 waits for 2.0"]
    )


@pytest.mark.parametrize("verdict", ["not-testable", "unknown"])
def test_a_gap_excuses_a_broken_rule_and_nothing_else(baseline, verdict):
    baseline(f"CALL-1={verdict}", gap("CALL-1")).assert_outcomes(failed=1, passed=ALL - 1)


def test_trouble_is_not_excused_by_the_gap_of_a_rule(baseline):
    baseline("CALL-1=broken trouble", gap("CALL-1"), arguments=("--mcp-rule=CALL-1",)).assert_outcomes(
        failed=1
    )


HANGS = {"trouble": "task * is still running", "wrapper": "acme", "reason": "its poller is never stopped"}


def test_trouble_may_be_a_known_gap_of_its_own(baseline, report):
    only = ("--mcp-rule=CALL-1",)
    result = baseline("CALL-1=broken trouble", gap("CALL-1"), HANGS, arguments=("-rx", *only))
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(
        [
            "  known gap     task 'poller' is still running  *",
            "XFAIL * - CALL-1: CALL-1 waits for 2.0; trouble: its poller is never stopped",
        ]
    )
    told = report("--mcp-known-gaps=gaps.toml", *only)["wrappers"][0]
    assert [each["detail"] for each in told["borne"]] == ["task 'poller' is still running"]
    assert told["trouble"] == []


def test_other_trouble_fails(baseline):
    other = {**HANGS, "trouble": "task * is"}
    baseline("trouble", other).assert_outcomes(failed=ALL)


def test_trouble_that_does_not_come_is_a_gap_that_has_closed(baseline):
    result = baseline("", HANGS)
    [line] = closed(result)
    assert "trouble 'task * is still running' of acme: the gap is closed, nothing like it went wrong" in line
    assert "take entry 1 out of" in line
    assert result.ret == 1
    assert closed(baseline("", HANGS, arguments=("--mcp-rule=CALL-1",))) == []


def test_a_broken_should_can_be_a_known_gap(baseline):
    baseline("TOOL-2=broken", gap("TOOL-2")).assert_outcomes(passed=ALL - 1, xfailed=1)


def test_a_gap_may_name_wrappers_by_a_glob(baseline):
    result = baseline("CALL-1=broken", gap("CALL-1", wrapper="ac?e"), gap("NTC-1", wrapper="other"))
    result.assert_outcomes(passed=ALL - 1, xfailed=1)
    assert result.ret == 0


def test_a_gap_of_one_era_excuses_that_era_alone(baseline):
    baseline("NTC-1=broken", gap("NTC-1", era="modern")).assert_outcomes(failed=2, passed=ALL - 4, xfailed=2)


@pytest.mark.parametrize(
    ("sdk", "fails"), [("mcp<1", True), ("mcp>=1", False), ("nothing-of-this-name>=1", True)]
)
def test_a_gap_of_other_releases_excuses_nothing(baseline, sdk, fails):
    result = baseline("CALL-1=broken", gap("CALL-1", sdk=sdk))
    assert result.parseoutcomes().get("failed", 0) == fails
    assert not closed(result)
    assert version("mcp")


def test_a_gap_that_has_closed_fails_the_run(baseline):
    result = baseline("", gap("NTC-1"), gap("CALL-1"))
    result.assert_outcomes(passed=ALL)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [line.partition("; take")[0] for line in closed(result)] == [
        "known gap closed: NTC-1 of acme: the gap is closed, the rule is kept",
        "known gap closed: CALL-1 of acme: the gap is closed, the rule is kept",
    ]
    assert closed(result)[1].endswith("take entry 2 out of " + str(result_path(result)))


def result_path(result: pytest.RunResult) -> str:
    return closed(result)[1].rpartition(" out of ")[2]


RACE = {"strict": False, "confirmed": "source: acme.stop has no lock"}


def test_a_race_of_the_wrapper_is_no_gap_that_has_closed(baseline):
    assert baseline("", gap("CALL-1", **RACE), {**HANGS, **RACE}).ret == 0
    baseline("CALL-1=broken", gap("CALL-1", **RACE)).assert_outcomes(passed=ALL - 1, xfailed=1)


def test_a_race_in_a_rule_that_no_item_judges_fails_the_run(baseline):
    assert "no item judges this rule" in closed(baseline("", gap("CCH-5", **RACE)))[0]


def test_a_gap_that_is_broken_in_one_item_of_many_is_not_closed(baseline):
    result = baseline("NTC-1@modern=broken", gap("NTC-1"))
    assert not closed(result)
    assert result.ret == 0


def test_a_gap_of_one_era_closes_by_itself(baseline):
    assert len(closed(baseline("NTC-1@handshake=broken", gap("NTC-1", era="modern")))) == 1


def test_an_entry_whose_rule_no_item_judges_fails_the_run(baseline):
    result = baseline("", gap("CCH-5"))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "no item judges this rule" in closed(result)[0]


def test_an_entry_whose_rule_is_not_claimed_fails_the_run(baseline):
    assert "no item judges this rule" in closed(baseline("CALL-1=not-claimed", gap("CALL-1")))[0]


def test_an_entry_of_a_wrapper_that_took_no_part_is_left_alone(baseline):
    assert baseline("", gap("CALL-1", wrapper="other")).ret == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("-k", "handshake"),
        ("mcp-conformance::list_changed[acme-memory-modern-while_idle]",),
        ("--mcp-era=modern",),
        ("--mcp-rule=CALL-1",),
        ("--deselect=mcp-conformance::list_changed[acme-memory-modern-while_idle]",),
    ],
)
def test_a_run_that_left_items_out_closes_nothing(baseline, arguments):
    result = baseline("", gap("NTC-1"), arguments=arguments)
    assert not closed(result)
    assert result.ret == 0


def test_a_run_that_was_stopped_closes_nothing(baseline):
    assert not closed(baseline("CCH-13=broken", gap("NTC-1"), arguments=("-x",)))


def test_a_run_narrowed_to_the_rule_itself_closes_its_gap(baseline):
    assert len(closed(baseline("", gap("NTC-1"), gap("CALL-1"), arguments=("--mcp-rule=NTC-1",)))) == 1


def test_an_era_that_is_not_claimed_is_not_waited_for(baseline):
    assert len(closed(baseline("", gap("NTC-1"), claims="eras=('handshake',)"))) == 1


def test_what_failed_last_closes_nothing_by_itself(baseline, run, adapter):
    baseline("NTC-1@modern=broken")
    baseline("", gap("NTC-1"), arguments=("--lf",)).assert_outcomes(passed=2, deselected=ALL - 2)
    assert not closed(run("--mcp-known-gaps=gaps.toml", "-k", "modern"))


def test_the_project_may_name_its_baseline(adapter, run, pytester):
    adapter("CALL-1=broken")
    pytester.mkdir("quality").joinpath("gaps.toml").write_text(
        '[[gap]]\nrule="CALL-1"\nwrapper="acme"\nreason="x"\n'
    )
    pytester.makepyprojecttoml('[tool.mcp-conformance]\nknown-gaps = "quality/gaps.toml"\n')
    run().assert_outcomes(passed=ALL - 1, xfailed=1)
    pytester.path.joinpath("none.toml").write_text("")
    run("--mcp-known-gaps=none.toml").assert_outcomes(passed=ALL - 1, failed=1)
