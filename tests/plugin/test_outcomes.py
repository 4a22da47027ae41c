"""What comes of a verdict: a failure, a skip, an expected failure, or nothing."""

from __future__ import annotations

import pytest

ALL = 11


def test_a_broken_must_fails_its_items(adapter, run):
    adapter("CCH-13=broken")
    result = run()
    result.assert_outcomes(failed=3, passed=ALL - 3)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("verdict", ["unknown", "not-testable"])
def test_what_could_not_be_judged_fails_at_any_level(adapter, run, verdict):
    adapter(f"TOOL-2={verdict}")
    run().assert_outcomes(failed=1, passed=ALL - 1)


def test_a_broken_should_passes_with_a_warning_of_ours(adapter, run):
    adapter("TOOL-2=broken")
    result = run()
    result.assert_outcomes(passed=ALL)
    result.stdout.fnmatch_lines(["  warning       broken: TOOL-2 SHOULD*"])


def test_a_broken_should_fails_a_strict_run(adapter, run):
    adapter("TOOL-2=broken")
    result = run("--mcp-strict")
    result.assert_outcomes(failed=1, passed=ALL - 1)
    result.stdout.fnmatch_lines(["  broken        TOOL-2 SHOULD*"])


def test_what_is_not_claimed_is_skipped_with_the_name_of_what_is_missing(adapter, run):
    adapter("CALL-1=not-claimed")
    result = run("-rs")
    result.assert_outcomes(passed=ALL - 1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED [[]1] mcp-conformance: not claimed: refresh or invalidate"])


def test_an_item_is_not_skipped_while_one_of_its_rules_was_judged(adapter, run):
    adapter("CCH-15=not-claimed")
    run().assert_outcomes(passed=ALL)


def test_a_claim_that_the_wire_contradicts_fails_its_probe(adapter, run):
    adapter("claim:caches_listings=yes")
    result = run()
    result.assert_outcomes(failed=2, passed=ALL - 2)
    result.stdout.fnmatch_lines(
        [
            "caches_listings: claim says no, wire says yes: two listings, one frame",
            "*say so in the adapter, Claims(caches_listings=...), and its rules are judged",
        ]
    )


def test_trouble_beside_the_rules_fails_the_item(adapter, run):
    adapter("trouble")
    result = run("--mcp-rule=CALL-1")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["     found     task 'poller' is still running"])


def test_a_scenario_without_a_word_on_its_rule_is_not_testable(adapter, run, monkeypatch):
    from dataclasses import replace

    from tests.plugin import stand_in

    play = stand_in.play
    monkeypatch.setattr(
        stand_in, "play", lambda *given, **named: replace(play(*given, **named), judgements=())
    )
    adapter()
    run("--mcp-rule=CALL-1").assert_outcomes(failed=1)


def test_an_adapter_of_the_wrong_shape_ends_the_run_with_one_message(adapter, run):
    adapter("error=")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.assert_outcomes(failed=1)
    output = result.stdout.str() + result.stderr.str()
    assert output.count("yields twice; write one") == 1
    assert "Traceback" not in output


def test_a_fixture_of_the_user_that_fails_leaves_the_rule_not_testable(adapter, report):
    adapter(
        more="""
import pytest

@pytest.fixture(autouse=True)
def broken():
    raise OSError("no room")
"""
    )
    rules = report()["wrappers"][0]["rules"]
    assert {each["verdict"] for each in rules.values()} == {"not-testable"}
    assert rules["CALL-1"]["detail"] == "the item's setup failed"


def test_expected_failures_can_be_made_to_fail(adapter, run, pytester):
    adapter("CALL-1=broken")
    pytester.path.joinpath("gaps.toml").write_text(
        '[[gap]]\nrule = "CALL-1"\nwrapper = "acme"\nreason = "known"\n'
    )
    run("--mcp-known-gaps=gaps.toml").assert_outcomes(xfailed=1, passed=ALL - 1)
    result = run("--mcp-known-gaps=gaps.toml", "--runxfail")
    result.assert_outcomes(failed=1, passed=ALL - 1)
    result.stdout.fnmatch_lines(["CALL-1 MUST*"])
