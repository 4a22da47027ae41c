"""The adapter `fastmcp-proxy` on the release that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke


@smoke("fastmcp-proxy")
def test_a_verb_does_what_it_says(play):
    play()
