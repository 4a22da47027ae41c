"""When the transport before streamable HTTP is played: where it is declared, in the era that has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_mcp_conformance.contract import Claims, Verdict, adapter, way_into, ways_of
from pytest_mcp_conformance.plugin.cells import cells_of, planned
from pytest_mcp_conformance.plugin.gaps import Gaps
from pytest_mcp_conformance.plugin.options import Options
from pytest_mcp_conformance.plugin.sources import Found
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play

ALL = Options((), frozenset({"CONN-6"}), True, ("handshake", "modern"), None, False, Gaps(), None, ())
OVER_SSE = replace(ALL, way="sse")
OLDER = {("handshake", "sse")}
LOSS = next(scenario for scenario in CATALOGUE if scenario.name == "verbs_after_a_loss")


def of(*transports, eras=None):
    @adapter("some", claims=Claims(transports=transports or None, eras=eras))
    async def some(dial):
        yield hand_on(dial)

    return some


def hand_on(dial):
    raise NotImplementedError


def cells(subject, options):
    return {(cell.era, cell.way) for cell in cells_of(LOSS, [Found(subject, "here")], options)}


def test_it_is_the_last_way_in_and_tried_only_where_it_is_declared():
    assert ways_of(of("sse", "http")) == ("http", "sse")
    assert ways_of(of()) == ("memory", "http", "stdio", "loopback")


def test_it_is_chosen_in_the_older_era_alone():
    both = of("http", "sse")
    assert way_into(both, LOSS.ways, "handshake") == "sse"
    assert way_into(both, LOSS.ways, "modern") == "http"
    assert cells(both, ALL) == {("handshake", "sse"), ("modern", "http")}
    assert cells(of("sse"), ALL) == OLDER


@pytest.mark.parametrize(("eras", "found"), [(None, OLDER), (("handshake",), OLDER), (("modern",), set())])
def test_asked_for_it_is_played_in_the_older_era_alone(eras, found):
    assert cells(of("http", "sse", eras=eras), OVER_SSE) == found
    assert {era for _, era, _ in planned("CONN-6", ("handshake", "modern"), "sse")} == {"handshake"}


def test_in_the_modern_era_nothing_is_judged_over_it():
    (judgement,) = play(LOSS, of("sse"), era="modern", way="sse").judgements
    assert judgement.verdict is Verdict.NOT_CLAIMED
    assert "sse is of handshake only" in judgement.detail
