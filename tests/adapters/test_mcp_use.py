"""The adapter `mcp-use` on the package that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke

STAYS = "create_session leaves the session that it replaces open"


@smoke("mcp-use", faults={"reconnect": STAYS})
def test_a_verb_does_what_it_says(play):
    play()
