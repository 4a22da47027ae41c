"""An exception in words, and what was handed out as an outcome."""

from __future__ import annotations

from pytest_mcp_conformance.contract._outcome import describe, outcome_of


class Group(Exception):
    """As an exception group, which Python 3.10 has not."""

    def __init__(self, *members: BaseException) -> None:
        super().__init__("several")
        self.exceptions = members


def test_members_and_causes_are_told_in_their_order() -> None:
    error = Group(ValueError("one"), ValueError("two"))
    error.__cause__ = OSError("why")
    assert describe(error) == "Group: several; ValueError: one; ValueError: two; OSError: why"


def test_a_cause_that_holds_whom_it_caused_is_told_once() -> None:
    told = ConnectionError("no way in")
    told.__cause__ = Group(told, OSError("refused"))
    assert describe(told) == "ConnectionError: no way in; Group: several; OSError: refused"


def test_parts_that_are_plain_text_are_read() -> None:
    told = outcome_of(
        {"isError": True, "content": [object(), "no such page", {"type": "text", "text": "here"}]}
    )
    assert told.text == "no such page\nhere"
