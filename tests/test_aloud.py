"""What counts as said aloud: warnings for users, and log records that are warnings."""

from __future__ import annotations

import logging
import warnings

import pytest

from pytest_mcp_conformance.scenarios._aloud import listening


def test_warnings_and_records_of_that_level_are_heard():
    with listening() as aloud:
        logging.getLogger("a.wrapper").warning("%s pages", 100)
        logging.getLogger("a.wrapper").info("a page")
        warnings.warn("a part of the list", UserWarning, stacklevel=1)
    assert aloud.words == ["100 pages", "a part of the list"]
    assert not aloud.deaf


@pytest.mark.parametrize("kind", [DeprecationWarning, PendingDeprecationWarning, ResourceWarning])
def test_what_is_for_programmers_is_not(kind):
    with listening() as aloud:
        warnings.warn("old", kind, stacklevel=1)
    assert aloud.words == []


def test_nothing_is_heard_afterwards():
    with listening() as aloud:
        pass
    logging.getLogger("a.wrapper").warning("late")
    assert aloud.words == []


def test_where_logging_is_switched_off_nobody_knows():
    logging.disable(logging.WARNING)
    try:
        with listening() as aloud:
            pass
    finally:
        logging.disable(logging.NOTSET)
    assert aloud.deaf
