"""The adapter `agno` on the package that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke

STAYS = "build_tools takes no tool out that the server no longer has"


@smoke("agno", faults={"refresh": STAYS})
def test_a_verb_does_what_it_says(play):
    play()
