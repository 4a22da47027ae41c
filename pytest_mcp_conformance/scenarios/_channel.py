"""Wrappers that open no channel for notices in the modern era: NTC-1 and NTC-2 tell it, and no other rule."""

from __future__ import annotations

from pytest_mcp_conformance.scenarios._judge import NotClaimed, reached
from pytest_mcp_conformance.server import ScriptedServer

__all__ = ["must_have_a_channel"]

NO_CHANNEL = "opens no channel on which a notice may be sent, which is about NTC-1"


def must_have_a_channel(server: ScriptedServer, channels: object) -> None:
    """Go on where there are channels on which a notice may be sent.

    Args:
        server: The script.
        channels: How many, or which.

    Raises:
        NotClaimed: The wrapper never asked for one.
        NotReached: It asked, and there is none; or every connection would be one, and none is open.
    """
    if not channels and server.era == "modern" and not server.ledger.frames("subscriptions/listen"):
        raise NotClaimed(NO_CHANNEL)
    reached(channels, "no channel on which a notice may be sent")
