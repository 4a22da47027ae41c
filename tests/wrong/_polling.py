"""A client that lists by a timer, as the specification asks whoever does so. By itself it breaks nothing."""

from __future__ import annotations

import asyncio
from random import Random

from mcp_conformance_reference.errors import ClientError

from tests.wrong._client import Client

__all__ = ["EVERY", "Polls"]

EVERY = 60.0


class Polls(Client):
    """Polls with jitter, and half as often with each failure."""

    def enter(self):
        self.polling = None
        self.failures = 0
        self.chance = Random(7)

    async def connect(self):
        await super().connect()
        if self.polling is None:
            self.polling = asyncio.get_running_loop().create_task(self.poll(), name="polls")

    async def close(self):
        if self.polling is not None:
            self.polling.cancel()
            await asyncio.wait({self.polling})
            self.polling = None
        await super().close()

    def pause(self):
        return EVERY * 2 ** min(self.failures, 4) * self.chance.uniform(0.8, 1.2)

    async def poll(self):
        while True:
            await asyncio.sleep(self.pause())
            try:
                await self.refresh()
                self.failures = 0
            except ClientError:
                self.failures += 1
