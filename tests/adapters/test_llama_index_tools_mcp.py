"""The adapter `llama-index-tools-mcp` on the package that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke


@smoke("llama-index-tools-mcp", leave_out=["loopback"])  # nothing closes the sockets of its HTTP client
def test_a_verb_does_what_it_says(play):
    play()
