"""Text from wrappers is shown, never obeyed."""

from __future__ import annotations

import json

import pytest

from pytest_mcp_conformance.contract import RULES
from pytest_mcp_conformance.reports.text import clean, closest, one_line, plain, short, source_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, häßlich, 日本", "plain text, häßlich, 日本"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("bell\x07 nul\x00 del\x7f c1\x9b", r"bell\x07 nul\x00 del\x7f c1\x9b"),
        ("turned \u202e round", r"turned \u202e round"),
        ("half \ud800 a pair", r"half \ud800 a pair"),
        ("private \U000f0000", r"private \U000f0000"),
        ("two\nlines\r", "two\nlines\\x0d"),
        ("wide\u00a0space", "wide space"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text, shown):
    assert clean(text) == shown
    assert clean(shown) == shown


def test_one_line_is_one_line():
    assert one_line(" a\nb ") == "a b"
    assert short("word " * 100, 20) == "word word word word…"
    assert short("short") == "short"


def test_data_is_made_plain_in_depth():
    held = {"a": (1, 2.5, None, True), "\x1b": {"set"}, "object": Ellipsis, "deep": [{"\x00": "\x07"}]}
    assert plain(held) == {
        "a": [1, 2.5, None, True],
        r"\x1b": ["set"],
        "object": "Ellipsis",
        "deep": [{r"\x00": r"\x07"}],
    }
    assert json.loads(json.dumps(plain(held)))


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("acne", ["acme", "other"], "did you mean 'acme'?"),
        ("zzz", ["acme", "b"], "there is acme, b"),
        ("x", [], "there is none"),
    ],
)
def test_a_misspelt_word_gets_a_hint(word, known, hint):
    assert closest(word, known) == hint


def test_every_source_can_be_printed():
    printed = [source_of(rule) for rule in RULES.values()]
    assert all(printed)
    assert not any("#interaction" in each for each in printed)
