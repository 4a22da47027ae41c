"""The catalogue stands in a run like a module of the user's own."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

OVERTAKEN = "mcp-conformance::overtaken_listing[acme-memory-handshake]"
ALL = 11
"""The items of the stand-in catalogue for a wrapper that speaks both eras."""


def test_a_conftest_of_few_lines_in_an_empty_folder_is_enough(adapter, run):
    adapter()
    result = run("-v")
    result.assert_outcomes(passed=ALL)
    result.stdout.fnmatch_lines(["*collected 11 items", f"{OVERTAKEN.replace('[', '[[]')} PASSED*"])
    assert result.ret == 0


def test_without_the_flag_nothing_is_added_and_nothing_is_said(adapter, run, pytester):
    adapter()
    pytester.makepyfile("def test_own(): pass")
    result = run(flag=False)
    result.assert_outcomes(passed=1)
    assert "conformance" not in result.stdout.str().split("plugins:")[-1].partition("\n")[2]


def test_the_items_stand_beside_the_tests_of_the_user(adapter, run, pytester):
    adapter()
    pytester.makepyfile("def test_own(): pass")
    run().assert_outcomes(passed=ALL + 1)
    run("-m", "mcp_conformance").assert_outcomes(passed=ALL, deselected=1)
    run("-m", "not mcp_conformance").assert_outcomes(passed=1, deselected=ALL)


def test_rules_and_areas_are_keywords(adapter, run):
    adapter()
    run("-k", "CCH").assert_outcomes(passed=3, deselected=ALL - 3)
    run("-k", "CCH-15").assert_outcomes(passed=1, deselected=ALL - 1)
    run("-k", "caches_listings").assert_outcomes(passed=2, deselected=ALL - 2)


def test_every_era_that_is_claimed_is_played(adapter, run):
    adapter(claims="eras=('modern',)")
    result = run("--collect-only", "-q")
    assert "handshake" not in result.stdout.str()
    result.stdout.fnmatch_lines(["mcp-conformance::one_request_a_call[[]acme-memory-modern]"])


def test_one_era_can_be_asked_for(adapter, run):
    adapter()
    run("--mcp-era=modern").assert_outcomes(passed=5)


def test_variants_stand_at_the_end_of_the_name(adapter, run):
    adapter()
    result = run("--collect-only", "-q")
    result.stdout.fnmatch_lines(["mcp-conformance::list_changed[[]acme-memory-modern-while_idle]"])


def test_collecting_alone_plays_nothing(adapter, run, pytester):
    adapter("exit=")
    result = run("--collect-only", "-q", "--mcp-report=out.json")
    result.stdout.fnmatch_lines(["11 tests collected*"])
    assert result.ret == 0
    assert not (pytester.path / "out.json").exists()


def test_only_what_failed_is_run_again(adapter, run, pytester):
    adapter("CCH-15=broken")
    pytester.makepyfile("def test_own(): assert False")
    run().assert_outcomes(failed=2, passed=ALL - 1)
    run("--lf").assert_outcomes(failed=2, deselected=ALL - 1)
    result = run("--ff", "-v")
    result.assert_outcomes(failed=2, passed=ALL - 1)
    pytester.makepyfile("def test_own(): pass")
    run("--lf").assert_outcomes(failed=1, passed=1, deselected=ALL - 1)
    run("--lf").assert_outcomes(failed=1, deselected=ALL)


def test_new_first_finds_a_file_to_look_at(adapter, run):
    adapter()
    run("--nf").assert_outcomes(passed=ALL)


def test_no_cache_is_needed(adapter, run):
    adapter("CCH-15=broken")
    run("-p", "no:cacheprovider").assert_outcomes(failed=1, passed=ALL - 1)


def test_stepwise_stops_at_the_first_failure_and_goes_on_there(adapter, run):
    adapter("CCH-15=broken")
    run("--stepwise").assert_outcomes(passed=4, failed=1)
    adapter("")
    run("--stepwise").assert_outcomes(passed=ALL - 4, deselected=4)


def test_junit_reads_the_items_as_one_class(adapter, run, pytester):
    adapter("CCH-15=broken CALL-1=not-claimed")
    run("--junitxml=out.xml")
    cases = list(ElementTree.parse(pytester.path / "out.xml").iter("testcase"))
    assert {case.get("classname") for case in cases} == {"mcp-conformance"}
    failures = [case.find("failure") for case in cases if case.find("failure") is not None]
    assert len(failures) == 1
    assert failures[0].get("message", "").startswith("CCH-15 MUST")
    assert [case.get("name") for case in cases if case.find("skipped") is not None] == [
        "one_request_a_call[acme-memory-modern]"
    ]


def test_a_node_id_runs_just_that_item(adapter, run, pytester):
    adapter()
    pytester.makepyfile("def test_own(): pass")
    run(OVERTAKEN).assert_outcomes(passed=1)


def test_a_node_id_needs_no_flag(adapter, run):
    adapter()
    run(OVERTAKEN, flag=False).assert_outcomes(passed=1)


def test_a_node_id_is_not_stopped_by_a_test_file_that_cannot_be_imported(adapter, run, pytester):
    adapter()
    pytester.makepyfile("import nothing_of_this_name")
    run(OVERTAKEN).assert_outcomes(passed=1)


def test_node_ids_stand_beside_files(adapter, run, pytester):
    adapter()
    pytester.makepyfile(test_own="def test_own(): pass", test_other="def test_other(): pass")
    run(OVERTAKEN, "test_own.py").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("name", "number"), [("mcp-conformance", ALL), ("mcp-conformance::overtaken_listing", 2)]
)
def test_a_node_id_may_name_a_scenario_or_all(adapter, run, name, number):
    adapter()
    run(name).assert_outcomes(passed=number)


def test_a_node_id_can_be_deselected(adapter, run):
    adapter()
    run(f"--deselect={OVERTAKEN}").assert_outcomes(passed=ALL - 1, deselected=1)


def test_a_rule_selects_the_scenarios_that_judge_it(adapter, run):
    adapter()
    result = run("--mcp-rule=CALL-*", "--mcp-rule=CCH-13", "--collect-only", "-q")
    names = [line for line in result.outlines if "::" in line]
    assert names == [
        "mcp-conformance::overtaken_listing[acme-memory-handshake]",
        "mcp-conformance::overtaken_listing[acme-memory-modern]",
        "mcp-conformance::two_listings[acme-memory-handshake]",
        "mcp-conformance::one_request_a_call[acme-memory-modern]",
    ]


def test_a_rule_that_rests_on_a_claim_brings_the_claims_probe(adapter, run):
    adapter()
    run("--mcp-rule=CCH-15").assert_outcomes(passed=3)


def test_rules_that_are_not_selected_are_not_judged(adapter, run, report):
    adapter("CCH-15=broken")
    run("--mcp-rule=CCH-13").assert_outcomes(passed=3)
    assert list(report("--mcp-rule=CCH-13")["wrappers"][0]["rules"]) == ["CCH-13"]


def test_fixtures_of_the_user_apply_to_the_items(adapter, run):
    adapter(
        more="""
import pytest

@pytest.fixture(autouse=True, params=["first", "second"])
def everywhere(request):
    print("set up for", request.param)
    yield
"""
    )
    run().assert_outcomes(passed=2 * ALL)


def test_hooks_of_the_users_conftest_see_the_items(adapter, run):
    adapter(
        more="""
def pytest_runtest_setup(item):
    print("about to run", item.nodeid)
"""
    )
    result = run("-s", OVERTAKEN)
    result.stdout.fnmatch_lines([f"*about to run {OVERTAKEN.replace('[', '[[]')}"])


def test_warnings_as_errors_do_no_harm(adapter, run, pytester):
    adapter("TOOL-2=broken")
    pytester.makeini("[pytest]\nfilterwarnings = error\nxfail_strict = true\naddopts = --strict-markers\n")
    run().assert_outcomes(passed=ALL)
