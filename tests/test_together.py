"""What the kit makes of an adapter's verb `together` that does not do as it should, or is not there."""

from __future__ import annotations

from contextlib import asynccontextmanager

from pytest_mcp_conformance.contract import Claims, Verdict, Wrapper, adapter
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play

[LISTS] = [each for each in CATALOGUE if each.name == "lists_of_one_object"]


def played(together):
    """The scenario against a session of the SDK beside this verb."""

    @adapter("odd", claims=Claims(eras=("handshake",)))
    async def odd(dial):
        async with dial.session() as session:
            yield Wrapper(list_tools=session.list_tools, call_tool=session.call_tool, together=together)

    return play(LISTS, odd, era="handshake", way="memory", compare=False)


def test_without_the_verb_nothing_is_claimed():
    [judgement] = played(None).judgements
    assert judgement.verdict is Verdict.NOT_CLAIMED
    assert judgement.detail == "together"


def test_what_gives_no_wrapper_is_a_fault_of_the_adapter():
    @asynccontextmanager
    async def together(dials):
        yield list(dials)

    said = played(together).adapter_error
    assert "gives a list; yield Wrapper(...)" in said
    assert "test_together.py:" in said


def test_what_cannot_be_built_is_not_testable_and_says_why():
    @asynccontextmanager
    async def together(dials):
        raise OSError("no route")
        yield

    [judgement] = played(together).judgements
    assert judgement.verdict is Verdict.NOT_TESTABLE
    assert "no route" in judgement.detail
