"""The adapter `langchain-mcp-adapters-session` on the package that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke


@smoke("langchain-mcp-adapters-session")
def test_a_verb_does_what_it_says(play):
    play()
