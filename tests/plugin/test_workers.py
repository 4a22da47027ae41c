"""Under pytest-xdist verdicts cross processes, and a process that dies is a verdict too."""

from __future__ import annotations

import json

import pytest

from tests.plugin.helpers import declared, error_of, hook

pytest.importorskip("xdist")

ALL = 11


def test_two_workers_say_what_one_process_says(adapter, run, pytester):
    adapter(
        "CCH-13=broken CALL-1=not-claimed TOOL-2=broken",
        claims="caches_listings=True, resends_calls=('dropped',)",
    )
    run("--mcp-report=alone.json", "--junitxml=alone.xml").assert_outcomes(
        failed=3, passed=ALL - 4, skipped=1
    )
    run("-n", "2", "--mcp-report=shared.json").assert_outcomes(failed=3, passed=ALL - 4, skipped=1)
    alone, shared = (json.loads((pytester.path / f"{name}.json").read_text()) for name in ("alone", "shared"))
    for each in (alone, shared):
        for rule in each["wrappers"][0]["rules"].values():
            rule["items"].sort()
    assert shared == alone


def test_a_closed_gap_is_seen_over_all_workers(adapter, run, pytester):
    adapter()
    pytester.path.joinpath("gaps.toml").write_text('[[gap]]\nrule="NTC-1"\nwrapper="acme"\nreason="x"\n')
    result = run("-n", "2", "--mcp-known-gaps=gaps.toml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["known gap closed: NTC-1 of acme*"])


def test_a_node_id_is_found_by_the_workers(adapter, run):
    adapter()
    run("-n", "1", "mcp-conformance::list_changed").assert_outcomes(passed=4)


def test_no_adapter_is_one_usage_error(run):
    assert "there is no adapter" in error_of(run("-n", "1"))


def test_an_adapter_of_the_wrong_shape_is_told_of_once(adapter, run):
    adapter("error=")
    result = run("-n", "2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    output = result.stdout.str() + result.stderr.str()
    assert output.count("yields twice; write one") == 1
    assert "Traceback" not in output


def test_a_process_that_dies_in_one_scenario_costs_that_item_alone(adapter, run, pytester):
    adapter("exit=one_request_a_call")
    pytester.path.joinpath("gaps.toml").write_text('[[gap]]\nrule="CALL-1"\nwrapper="acme"\nreason="x"\n')
    # A known gap excuses a broken rule, not a death.
    result = run("-n", "1", "--mcp-known-gaps=gaps.toml")
    result.assert_outcomes(failed=1, passed=ALL - 1)
    result.stdout.fnmatch_lines(
        [
            "CALL-1 MUST*",
            "     verdict   not-testable",
            "     found     the process died while playing one_request_a_call",
            "acme 1.0: 4 kept, 1 not testable",
        ]
    )


def test_a_wrapper_that_dies_everywhere_is_soon_left_alone(run, pytester):
    pytester.makeconftest(declared("exit=") + declared(name="other") + hook("acme", "other"))
    result = run("-n", "1", "--mcp-report=out.json")
    result.assert_outcomes(failed=ALL, passed=ALL)
    output = result.stdout.str()
    assert output.count("replacing crashed worker") == 3
    acme, other = json.loads((pytester.path / "out.json").read_text())["wrappers"]
    assert acme["counts"]["not-testable"] == 5
    assert other["counts"]["kept"] == 5


def test_the_limit_of_the_user_on_restarts_stands(adapter, run):
    adapter("exit=")
    result = run("-n", "1", "--max-worker-restart=0")
    assert "worker restarting disabled" in result.stdout.str()
