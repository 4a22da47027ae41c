"""One item: a scenario is played, and the item fails, passes, is skipped or fails as expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mcp_conformance.contract import Adapter, Played
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.plugin.cells import Cell
from pytest_mcp_conformance.plugin.collect import NAME
from pytest_mcp_conformance.plugin.failure import failure_text
from pytest_mcp_conformance.plugin.histories import Recording
from pytest_mcp_conformance.plugin.judging import Judged, judge, unplayed
from pytest_mcp_conformance.reports.text import plain

if TYPE_CHECKING:
    from pytest_mcp_conformance.plugin.active import Conformance

__all__ = ["ATTRIBUTE", "DATA", "blank_of", "cell_of", "data_of", "finish", "judge_cell", "play_item"]

ATTRIBUTE = "mcp_conformance"
"""The attribute of a test report that carries what was played to the process that gathers it."""

DATA = pytest.StashKey[dict[str, Any]]()


def cell_of(item: pytest.Item) -> Cell | None:
    """What an item plays; `None` for an item that is none of ours."""
    callspec = getattr(item, "callspec", None)
    for value in (callspec.params if callspec is not None else {}).values():
        if isinstance(value, Cell):
            return value
    return None


def blank_of(cell: Cell) -> Played:
    """The record of a cell that was not played yet."""
    adapter = cell.found.adapter
    return Played(cell.scenario.name, adapter.name, adapter.version, cell.way, cell.era, cell.variant)


def data_of(played: Played, adapter_claims: dict[str, Any]) -> dict[str, Any]:
    """What a test report carries."""
    return {"played": plain(played.to_dict()), "claims": plain(adapter_claims)}


def play_item(
    kit: Conformance,
    item: pytest.Item,
    cell: Cell,
    adapter: Adapter,
    listeners: Sequence[Callable[[Event], None]] = (),
) -> None:
    """Play `cell` and give the item its outcome. Listeners are told of each event as it happens.

    Raises:
        pytest.fail.Exception: A rule is broken, or another fault was found.
        pytest.skip.Exception: No rule is claimed.
        pytest.xfail.Exception: Every fault is a known gap.
    """
    __tracebackhide__ = True
    with Recording(kit.options.histories, cell, item.nodeid, listeners) as recording:
        judged = judge_cell(kit, cell, adapter, recording.listening)
    item.stash[DATA] = {**data_of(judged.played, adapter.claims.stated()), "unwritten": recording.trouble}
    finish(kit, item, judged)


def judge_cell(kit: Conformance, cell: Cell, adapter: Adapter, listening: dict[str, Any]) -> Judged:
    """Play `cell`, unless its wrapper has ended too many processes already."""
    from pytest_mcp_conformance.scenarios._player import play

    if cell.wrapper in kit.dead:
        reason = "not played: the process died in several scenarios of this wrapper before"
        played = unplayed(blank_of(cell), cell.scenario.rules, reason)
    else:
        played = play(cell.scenario, adapter, era=cell.era, way=cell.way, variant=cell.variant, **listening)
    judged = judge(played, cell.scenario, kit.options)
    return replace(judged, made=not judged.claim or adapter.claims.makes(judged.claim))


def finish(kit: Conformance, item: pytest.Item, judged: Judged) -> None:
    """Turn judgements into the outcome of the running test."""
    __tracebackhide__ = True
    virtual = item.nodeid.startswith(f"{NAME}::")
    if judged.played.adapter_error:
        item.session.shouldstop = "an adapter is wrong: see its failure"
    if judged.outcome == "xfailed":
        if not item.config.getoption("runxfail"):
            # No traceback: CPython 3.11 can fail to parse sources while it finalises what a wrapper left.
            raise pytest.xfail.Exception(judged.reason, pytrace=False)
        judged = judged.unexcused
    if judged.outcome == "skipped":
        pytest.skip(judged.reason)
    if judged.outcome == "failed":
        pytest.fail(failure_text(judged, item.nodeid, kit.options, virtual=virtual), pytrace=False)
