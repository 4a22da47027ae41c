"""The checker on calls that raise: which of them may be about another call."""

from __future__ import annotations

from pytest_mcp_conformance.history import Listed
from tests.history.telling import Telling


def schema_gone():
    """A holder was handed a tool with an output schema, and then the same without."""
    told = Telling()
    for output in ("0" * 16, ""):
        op, id, tools = told.want(), told.ask(), (Listed("a", output=output),)
        told.add(kind="answered", connection=1, method="tools/list", id=id, tools=tools)
        told.add(kind="served", who=1, op=op, tools=tools)
        told.settle()
    return told


CALL = {"tool": "a", "verb": "call_tool", "who": 1}


def called(told, op):
    """A call goes out."""
    shown = max(entry.n for entry in told.entries if entry.kind == "served")
    told.add(kind="called", op=op, shown=shown, arguments=f"{op:016d}", **CALL)
    request = {"method": "tools/call", "id": op, "tool": "a", "arguments": f"{op:016d}"}
    told.add(kind="asked", connection=1, **request)


def raised(told, op, **answer):
    """It is answered, and its caller gets an exception."""
    told.add(connection=1, method="tools/call", id=op, **answer)
    told.add(kind="returned", op=op, outcome="raised", error="Odd", **CALL)


GOOD = {"kind": "answered", "result": "1" * 16, "ok": True}
FAILED = {"kind": "failed", "code": -32000}


def test_a_call_that_failed_alone_excuses_no_later_one():
    told = schema_gone()
    for op, answer in ((91, FAILED), (92, GOOD)):
        called(told, op)
        raised(told, op, **answer)
    assert told.found() == [("judged-by-another-listing", "CHK-3")]


def test_what_a_call_raises_beside_one_that_failed_may_be_about_that():
    told = schema_gone()
    for op in (91, 92):
        called(told, op)
    raised(told, 91, **FAILED)
    raised(told, 92, **GOOD)
    assert told.found() == []
    called(told, 93)
    raised(told, 93, **GOOD)
    assert told.found() == [("judged-by-another-listing", "CHK-3")]


def test_what_a_call_raises_after_one_that_was_given_up_may_be_about_that():
    told = schema_gone()
    called(told, 91)
    told.add(kind="abandoned", op=91, **CALL)
    called(told, 92)
    raised(told, 92, **GOOD)
    assert told.found() == []


def test_what_a_call_raises_behind_a_listing_that_failed_may_be_about_that():
    told = schema_gone()
    called(told, 91)
    id = told.ask()
    told.add(kind="failed", connection=1, method="tools/list", id=id, code=-32000)
    raised(told, 91, **GOOD)
    assert told.found() == []
