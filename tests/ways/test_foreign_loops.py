"""A wrapper that lives in a thread and a loop of its own is judged as any other, and always alike.

Its own timers run on a real clock. Whatever it does is waited for, on the ledger and by asking its thread.
"""

from __future__ import annotations

import os

import pytest

from pytest_mcp_conformance.contract import Verdict
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.ways.facade import NeverRenews, SyncClient, facade

TIMES = 5

KEPT = (
    "overtaken_listing",
    "notice_on_each_channel",
    "notice_while_a_call_is_out",
    "refresh_after_a_notice_fails",
    "notice_for_one_of_two",
    "answer_of_the_wrong_type",
    "ids_of_many_requests",
    "first_use_at_once",
    "cancellations",
    "dial_given_up",
    "closes_twice",
    "close_under_a_verb",
    "principals_that_look_alike",
    "siblings_of_a_failed_call",
)
"""What the facade keeps, though not each variant of it is for a client of plain functions."""

BROKEN = ("overtaken_listing", "notice_on_each_channel", "notice_for_one_of_two")
"""What one that serves its old list breaks."""

every_way = pytest.mark.parametrize(
    "way", ["http", "loopback", "stdio"] if os.environ.get("EVERY_PLACE") else ["http"]
)
"""The others are played by `tox -e ways`."""


def verdicts(client_type, name, way):
    """What is said of each rule, over the variants and each time: sets of verdicts, by variant and rule."""
    [scenario] = [each for each in CATALOGUE if each.name == name]
    said = {}
    for variant in scenario.variants:
        for _ in range(TIMES):
            played = play(
                scenario, facade(client_type), era="handshake", way=way, variant=variant, compare=False
            )
            assert not played.adapter_error
            assert not played.trouble
            for judgement in played.judgements:
                said.setdefault((variant, judgement.rule), set()).add(judgement.verdict)
    return said


@every_way
@pytest.mark.parametrize("name", KEPT)
def test_a_right_one_keeps_its_promises_each_time(name, way):
    said = verdicts(SyncClient, name, way)
    assert {verdict for each in said.values() for verdict in each} <= {Verdict.KEPT, Verdict.NOT_CLAIMED}
    assert {Verdict.KEPT} in said.values()
    assert [each for each in said.items() if len(each[1]) > 1] == []


@every_way
@pytest.mark.parametrize("name", BROKEN)
def test_one_that_serves_its_old_list_is_caught_each_time(name, way):
    said = verdicts(NeverRenews, name, way)
    assert {frozenset(each) for each in said.values()} == {frozenset({Verdict.BROKEN})}
