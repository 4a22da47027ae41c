"""What a wrapper was refused in one play: whatever is not on this machine."""

from __future__ import annotations

from pytest_mcp_conformance.history import Recorder
from pytest_mcp_conformance.server.ways._home import Home
from pytest_mcp_conformance.server.ways.http import DOMAIN

__all__ = ["Refusals"]

_LATE = "asked for the scripted server when the play was over: something that it opened was not closed"


class Refusals:
    """The attempts to leave this machine in one play, from whichever thread, as events and as trouble.

    Args:
        history: Of the play.
    """

    def __init__(self, history: Recorder) -> None:
        self._history = history
        self._said: list[str] = []
        self._home: Home | None = None

    def live_here(self) -> None:
        """Write events in the loop that runs now."""
        self._home = Home()

    def add(self, what: str) -> None:
        """Take one attempt, in any thread."""
        self._said.append(what)
        if self._home is not None:
            self._home.call(lambda: self._write(what))

    def _write(self, what: str) -> None:
        self._history.record("astray", text=what)

    def told(self, *, leaky: bool) -> list[str]:
        """One line for each attempt, those in the history first.

        Args:
            leaky: Something was left after the play. It still asks for the server, whose address is no more,
                and is told of as left.
        """
        seen = (event.text for event in self._history if event.kind == "astray")
        lines = dict.fromkeys(_LATE if f".{DOMAIN}:" in line else line for line in [*seen, *self._said])
        return [line for line in lines if not (leaky and line == _LATE)]
