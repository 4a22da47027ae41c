"""Every scenario over every way in, against the reference: the same verdicts, and the page of them."""

from __future__ import annotations

import os

import pytest

from pytest_mcp_conformance.adapters import bundled, sdk_major
from tests.coverage import COLUMNS, ROWS, page, places, said
from tests.pages import REFERENCE

PAGE = (REFERENCE / "coverage.md").read_text(encoding="utf-8")
SPOKEN = bundled()["reference"].claims.eras or ()
ONE_IN = 1 if os.environ.get("EVERY_PLACE") else 4
"""Sockets and children take their time, and the transport before streamable HTTP says little more: how
many of their places are played; all of them by `tox -e ways`."""

OVER_HTTP = [place for place in places() if place[1] in SPOKEN and place[2] == "http"]
OUTSIDE = [place for place in places() if place[1] in SPOKEN and place[2] in ("stdio", "loopback", "sse")]
OVER_OTHERS = [*OVER_HTTP, *OUTSIDE[::ONE_IN]]


def written():
    """The cells of the page, by scenario, era and way in."""
    header, _, *rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    columns = [tuple(reversed(cell.split())) for cell in header.split("|")[3:-1]]
    found = {}
    for row in rows:
        name, _, *cells = [cell.strip() for cell in row.split("|")[1:-1]]
        for (era, way), cell in zip(columns, cells, strict=True):
            if cell:
                found[name.strip("`"), era, way] = cell
    return found


WRITTEN = written()


@pytest.mark.skipif(sdk_major() < 2, reason="mcp 1.x speaks one era; the page is about both")
def test_the_page_is_fresh():
    assert set(WRITTEN) == set(places()), "stale: run tox -e docs"
    assert page(WRITTEN) == PAGE, "stale: run tox -e docs"
    assert set(WRITTEN.values()) <= {"kept", "left out"}


# mcp 1.x leaves its streams open where the start of a child is cancelled.
@pytest.mark.filterwarnings(
    "ignore:.*MemoryObject(Send|Receive)Stream:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("place", OVER_OTHERS, ids="-".join)
def test_the_verdicts_are_those_of_the_page(place):
    assert said(*place) == WRITTEN[place], (
        "another verdict than the page's, or docs/reference/coverage.md is stale"
    )


@pytest.mark.parametrize("name", ROWS)
def test_a_scenario_that_is_played_over_memory_says_the_same_over_other_ways(name):
    places = [(name, era, way) for way, era in COLUMNS if era in ROWS[name].eras and way in ROWS[name].ways]
    assert {WRITTEN[place] for place in places} - {"left out"} <= {"kept"}
