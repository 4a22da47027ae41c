"""The adapter `semantic-kernel` on the package that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke

FAULTS = {
    "refused_call_is_seen_as_one": "the text of a failed tool is given out as that of a good one",
    "notice": "the handler of a notice lists, and waits for an answer that only it could let in",
    "refresh": "a tool that is gone stays an attribute of the plugin",
}


@smoke("semantic-kernel", FAULTS)
def test_a_verb_does_what_it_says(play):
    play()
