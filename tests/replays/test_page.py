"""The page of the replays is what the table and the results say."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.adapters import BUNDLED
from pytest_mcp_conformance.contract import RULES
from pytest_mcp_conformance.scenarios import CATALOGUE
from tests.replays.results import PAGE, Result, page, read_results, separates
from tests.replays.table import Replay, plays_of, read_table

TABLE = read_table()


def test_the_page_is_what_was_seen():
    assert PAGE.read_text(encoding="utf-8") == page(TABLE, read_results())


def test_every_replay_was_played_and_tells_its_releases_apart():
    results = read_results()
    assert [each.report for each in TABLE.replay if each.report not in results] == []
    assert [each.report for each in TABLE.replay if not separates(results[each.report])] == []


def test_the_table_names_adapters_and_rules_that_there_are():
    assert {each.adapter for each in TABLE.replay} <= {*BUNDLED}
    assert {each.rule for each in TABLE.replay} <= {*RULES}
    judging = {(rule.id, scenario.name) for scenario in CATALOGUE for rule in scenario.rules}
    assert {(each.rule, each.scenario) for each in TABLE.replay if each.scenario} <= judging
    variants = {(scenario.name, variant) for scenario in CATALOGUE for variant in scenario.variants}
    assert {(each.scenario, each.variant) for each in TABLE.replay if each.variant} <= variants
    reports = [each.report for each in (*TABLE.replay, *TABLE.apart)]
    assert len(reports) == len(set(reports))


def test_a_release_is_played_once_by_the_rules_of_all_its_reports():
    plays = plays_of(TABLE.replay)
    assert len({play.key for play in plays}) == len(plays)
    told = {(each.adapter, each.affected, each.scenario, each.rule) for each in TABLE.replay}
    assert told <= {
        (play.row.adapter, play.row.version, play.scenario, rule) for play in plays for rule in play.rules
    }


def test_a_scenario_is_played_by_itself():
    given = {"report": "r", "fault": "f", "package": "p", "affected": "1", "fixed": "2", "adapter": "a"}
    whole, one = (
        Replay(rule="CCH-18", **given),
        Replay(rule="CCH-18", scenario="caller_edits_a_list", **given),
    )
    assert [(play.key, play.words) for play in plays_of((whole, one))] == [
        ("a-1", ["--mcp-rule=CCH-18"]),
        ("a-2", ["--mcp-rule=CCH-18"]),
        ("a-1-caller_edits_a_list", ["--mcp-rule=CCH-18", "-k", "caller_edits_a_list"]),
        ("a-2-caller_edits_a_list", ["--mcp-rule=CCH-18", "-k", "caller_edits_a_list"]),
    ]
    variant = Replay(rule="TOOL-8", scenario="unusual_entry", variant="closed", **given)
    assert [(play.key, play.words[1:]) for play in plays_of((variant,))] == [
        ("a-1-unusual_entry-closed", ["-k", "unusual_entry and closed"]),
        ("a-2-unusual_entry-closed", ["-k", "unusual_entry and closed"]),
    ]


@pytest.mark.parametrize(
    ("affected", "fixed", "good"),
    [
        ("broken", "kept", True),
        ("broken", "broken", False),
        ("kept", "kept", False),
        ("broken", "not-claimed", False),
        ("not judged", "kept", False),
    ],
)
def test_a_pair_is_told_apart_where_one_is_broken_and_the_other_kept(affected, fixed, good):
    assert separates({"affected": Result(affected), "fixed": Result(fixed)}) is good
