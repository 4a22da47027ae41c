"""An option that cannot be met is one clear error, before anything is played."""

from __future__ import annotations

import sys

import pytest

from tests.plugin.helpers import error_of


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--mcp-era=modren", ["--mcp-era=modren", "did you mean 'modern'?", "handshake"]),
        ("--mcp-transport=http", ["no scenario judges", "for acme", "over http"]),
        ("--mcp-transport=pigeon", ["--mcp-transport=pigeon", "memory, http, stdio, loopback, sse"]),
        ("--mcp-rule=CCX", ["--mcp-rule", "CCX", "did you mean"]),
        ("--mcp-rule=CCH-999", ["--mcp-rule", "CCH-999"]),
        ("--mcp-contract=0.9", ["--mcp-contract=0.9", "1.0"]),
        ("--mcp-explore=5", ["--mcp-explore", "reserved"]),
        ("--mcp-replay=x", ["--mcp-replay", "reserved"]),
        ("--mcp-report=x.html", ["--mcp-report=x.html", ".json"]),
        ("--mcp-report=x.txt", ["--mcp-report=x.txt", ".json"]),
        ("--mcp-report=nowhere/x.json", ["--mcp-report", "there is no folder"]),
        ("--mcp-known-gaps=nowhere.toml", ["--mcp-known-gaps", "nowhere.toml"]),
        ("--mcp-write-known-gaps=nowhere/x.toml", ["--mcp-write-known-gaps", "there is no folder"]),
        ("--assert=plain", ["--assert=plain"]),
        ("mcp-conformance::overtaken_listing[acne-memory-modern]", ["no such item", "acme-memory-modern"]),
        ("mcp-conformance::zzz", ["no such item", "--collect-only"]),
    ],
)
def test_an_option_is_refused_with_the_remedy(adapter, run, option, words):
    adapter()
    said = error_of(run(option))
    for word in words:
        assert word in said


def test_rules_that_no_scenario_judges_are_told_as_that(adapter, run):
    adapter()
    said = error_of(run("--mcp-rule=CCH-5"))
    assert "no scenario judges" in said


def test_an_era_that_no_wrapper_speaks_is_told_as_that(adapter, run):
    adapter(claims="eras=('handshake',)")
    assert "acme in the era modern" in error_of(run("--mcp-era=modern"))


def test_optimised_python_is_refused(adapter, pytester):
    adapter()
    result = pytester.run(sys.executable, "-O", "-m", "pytest", "--mcp-conformance")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "without -O" in result.stderr.str()


def test_the_contract_of_this_kit_can_be_named(adapter, run):
    adapter()
    run("--mcp-contract=1.0", "--mcp-transport=memory").assert_outcomes(passed=11)


def test_a_table_of_the_project_with_an_unknown_key_is_refused(adapter, run, pytester):
    adapter()
    pytester.makepyprojecttoml('[tool.mcp-conformance]\nknown-gap = "gaps.toml"\n')
    said = error_of(run())
    assert "[tool.mcp-conformance]" in said
    assert "did you mean 'known-gaps'?" in said


@pytest.mark.parametrize("line", ["known-gaps = 3", 'known-gaps = ""'])
def test_a_baseline_of_the_project_that_is_no_path_is_refused(adapter, run, pytester, line):
    adapter()
    pytester.makepyprojecttoml(f"[tool.mcp-conformance]\n{line}\n")
    assert "no path" in error_of(run())


def test_no_option_is_looked_at_without_the_flag(adapter, run, pytester):
    adapter()
    pytester.makepyfile("def test_own(): pass")
    run("--mcp-era=modren", flag=False).assert_outcomes(passed=1)
