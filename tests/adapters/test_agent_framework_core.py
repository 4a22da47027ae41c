"""The adapter `agent-framework-core` on the package that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke


@smoke("agent-framework-core")
def test_a_verb_does_what_it_says(play):
    play()
