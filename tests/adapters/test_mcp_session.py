"""The adapter `mcp-session` on the SDK that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke


@smoke("mcp-session")
def test_a_verb_does_what_it_says(play):
    play()
