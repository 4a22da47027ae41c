"""A client with somebody who answers what servers ask. By itself it breaks nothing."""

from __future__ import annotations

from dataclasses import replace

from tests.wrong._client import Client

__all__ = ["Answers"]


class Answers(Client):
    """Declines whatever a server asks."""

    def enter(self):
        async def decline(key, question):
            return {"action": "decline"}

        self._settings = replace(self._settings, on_input=decline)
