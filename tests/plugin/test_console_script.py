"""`mcp-conformance rules` and `kills`: the contract, for readers and for programs."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from pytest_mcp_conformance import cli
from pytest_mcp_conformance.cli import contract
from pytest_mcp_conformance.contract import RULES
from pytest_mcp_conformance.scenarios import CATALOGUE


@pytest.fixture
def invoke():
    """Run the script; the width is that of a wide terminal."""
    return lambda *arguments: CliRunner(env={"COLUMNS": "160"}).invoke(cli.main, arguments)


def test_programs_get_every_rule(invoke):
    rules = json.loads(invoke("rules", "--json").output)["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    assert {tuple(rule) for rule in rules} == {
        ("id", "level", "source", "text", "needs", "core", "untested", "scenarios", "wrong_wrappers")
    }


def test_a_rule_is_told_as_the_contract_has_it(invoke):
    (rule,) = json.loads(invoke("rules", "--json", "CCH-13").output)["rules"]
    assert (rule["level"], rule["source"], rule["core"], rule["untested"]) == ("MUST", "kit", True, "")
    assert rule["needs"] == ["reacts_to_list_changed or invalidate"]
    assert rule["scenarios"] == [each.name for each in CATALOGUE if RULES["CCH-13"] in each.rules] != []


def test_a_rule_has_scenarios_or_says_why_not(invoke):
    for rule in json.loads(invoke("rules", "--json").output)["rules"]:
        assert bool(rule["scenarios"]) != bool(rule["untested"]), rule["id"]


def test_readers_get_tables_by_area(invoke):
    output = invoke("rules", "CCH-13", "PAG").output
    assert "CCH  Response caching" in output
    assert "PAG  Pagination" in output
    assert "MUST (kit)" in output
    assert "Notices" not in output


def test_a_pattern_that_fits_nothing_is_a_usage_error(invoke):
    result = invoke("rules", "CCX")
    assert result.exit_code == 2
    assert "'CCX' fits no rule" in result.output
    assert "--mcp-rule" not in result.output


def test_wrong_wrappers_are_listed_where_they_were_recorded(invoke, monkeypatch):
    monkeypatch.setattr(contract, "_wrong_wrappers", lambda: {"CCH-13": ["keeps_the_late_answer"]})
    (rule,) = json.loads(invoke("rules", "--json", "CCH-13").output)["rules"]
    assert rule["wrong_wrappers"] == ["keeps_the_late_answer"]
    output = invoke("kills", "CCH").output
    assert "keeps_the_late_answer" in output
    assert "CALL-1" not in output


def test_a_kill_matrix_that_was_not_recorded_is_told_as_that(invoke, monkeypatch):
    monkeypatch.setattr(contract, "_wrong_wrappers", dict)
    result = invoke("kills")
    assert result.exit_code == 1
    assert "no record" in result.output
