"""Events as the short lines of a failure text."""

from __future__ import annotations

from pytest_mcp_conformance.history import Recorder, telling


def played():
    recorder = Recorder()
    recorder.record("opened", connection=1)
    recorder.record("asked", method="initialize", connection=1)
    for generation in range(20):
        recorder.record("asked", method="tools/list", connection=1, generation=generation)
    recorder.record("wanted", who=1)
    recorder.record("served", who=1, text="['old']")
    return recorder


def test_the_last_events_that_tell_something_are_told():
    told = telling(played())
    assert len(told) == 15
    assert told[0] == "(8 earlier events)"
    assert told[1] == "#10 asked tools/list (generation 7)"
    assert told[-1] == "#24 served ['old']"


def test_of_a_finding_its_proof_alone_is_told():
    assert telling(played(), proof=(2, 5, 23, 24)) == (
        "#2 asked initialize (generation 0)",
        "#5 asked tools/list (generation 2)",
        "#23 wanted",
        "#24 served ['old']",
    )
