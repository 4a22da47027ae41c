"""A wrapper that lives in a thread and a loop of its own is judged as any other, and always alike.

Its own timers run on a real clock. Whatever it does is waited for, on the ledger and by asking its thread.
"""

from __future__ import annotations

import os
from functools import cache

import pytest

from pytest_mcp_conformance.contract import Verdict
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.ways.facade import NeverRenews, SyncClient, blocking_facade, facade

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


def verdicts(client_type, name, way, facade=facade):
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


@every_way
@pytest.mark.parametrize("name", KEPT)
def test_an_adapter_that_blocks_is_judged_as_one_that_does_not(name, way):
    said = verdicts(SyncClient, name, way, blocking_facade)
    given_up = {key for key in said if name in ("cancellations", "dial_given_up") and key[0] == "connect"}
    assert {verdict for key in given_up for verdict in said.pop(key)} <= {Verdict.NOT_CLAIMED}
    assert {key: said[key] for key in said if said[key] != verdicts_of_the_other(name, way).get(key)} == {}


@cache
def verdicts_of_the_other(name, way):
    return verdicts(SyncClient, name, way)


def test_the_client_of_an_adapter_that_blocks_is_told_as_broken_as_well():
    said = verdicts(NeverRenews, "overtaken_listing", "http", blocking_facade)
    assert {Verdict.BROKEN} in said.values()


def test_what_a_tear_down_that_blocks_raises_is_trouble():
    class Raises(SyncClient):
        def close(self):
            super().close()
            raise OSError("no such file")

    [scenario] = [each for each in CATALOGUE if each.name == "overtaken_listing"]
    variant = scenario.variants[0]
    played = play(scenario, blocking_facade(Raises), era="handshake", way="http", variant=variant)
    assert played.trouble == ("tear-down raised OSError: no such file",)
