"""The adapter `autogen-ext` on the package that is installed."""

from __future__ import annotations

from tests.adapters.smoke import smoke


@smoke("autogen-ext")
def test_a_verb_does_what_it_says(play):
    play()
