"""What differs from run to run is no part of the matrix."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.matrix.drawing import picture, shown
from pytest_mcp_conformance.matrix.steady import steady, steady_line
from tests.history.test_normal import KEPT


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<Tool object at 0x7f3a2b1c4d50>", "<Tool object at 0x…>"),
        ("http://127.0.0.1:43117/mcp refused", "http://127.0.0.1:…/mcp refused"),
        ("/tmp/pytest-3/env/lib/python3.11/site-packages/acme/a.py:12", "…/acme/a.py:12"),
        ("in /home/ann/project/a.py", "in …/a.py"),
        (r"in C:\Users\ann\a.py", "in …/a.py"),
        ("Task-1234 and Thread-7", "Task-… and Thread-…"),
        ("session 8f14e45f-ceea-467f-a8d2-91e3b7d2c1aa", "session …"),
        ("left: pid 4711, fd 23", "left: pid …, fd …"),
        ("at 2026-11-30T18:10:11.123Z", "at …"),
        ("after 1.23456 s", "after … s"),
        ("\x1b[31mred\u202e", "\\x1b[31mred\\u202e"),
    ],
)
def test_moments_and_places_are_gone(said, kept):
    assert steady(said) == kept


@pytest.mark.parametrize(
    "said",
    [
        "assert 1 == 2",
        "tools/list",
        "notifications/tools/list_changed",
        "text/event-stream",
        "3.5 s",
        "CALL-2",
    ],
)
def test_everything_else_is_as_it_was(said):
    assert steady(said) == said


def test_a_line_is_one_and_short():
    assert steady_line("a\n\n b\tc") == "a b\\x09c"
    assert len(steady_line("x" * 1000)) == 240
    assert len(steady("x" * 9000)) == 2000


def test_digests_have_names_and_a_real_clock_no_times():
    text = KEPT.read_text(encoding="utf-8")
    by_virtual = shown(text, range(8, 15), virtual=True)
    assert by_virtual[0]["n"] == 8
    assert {each.get("arguments", "in1")[:2] for each in by_virtual} == {"in"}
    by_real = shown(text, range(8, 15), virtual=False)
    assert [each["n"] for each in by_real] == list(range(1, len(by_real) + 1))
    assert {each["at"] for each in by_real} == {0.0}
    assert shown("no history", [1], virtual=True) == []


def test_what_is_no_entry_is_no_picture():
    how = {"title": "a", "told": "b", "virtual": True}
    assert picture([], **how) == ""
    assert picture([{"n": "<script>"}], **how) == ""
    assert picture([{"n": 1, "at": 0, "kind": "served", "who": 1, "x": 1}], **how) == ""
