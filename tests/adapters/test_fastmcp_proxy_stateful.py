"""The adapter `fastmcp-proxy-stateful` on the release that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke


@smoke("fastmcp-proxy-stateful")
def test_a_verb_does_what_it_says(play):
    play()
