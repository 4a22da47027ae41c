"""Fifty legs lease, use, give back and give up at random, while servers die, until nothing may be left."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp_conformance_reference import ConnectionLost, ConnectionPool, Lease, PooledSession, pooled_session

from pytest_mcp_conformance.clock import run, settle
from pytest_mcp_conformance.server import ScriptedServer

LEGS = 50
STEPS = 10_000
KEYS = ("a", "b", "c", "d")


class CloseFails(Exception):
    """What some closes raise."""


class Run:
    """One run of all legs, from one seed."""

    def __init__(self, era: str, seed: int) -> None:
        self.random = Random(seed)
        self.era: Any = era
        self.server = ScriptedServer(era)
        self.pools = [ConnectionPool()]
        self.done: Counter[str] = Counter()
        self.told = 0
        self.leaving: set[PooledSession] = set()

    @property
    def pool(self) -> ConnectionPool:
        return self.pools[-1]

    @asynccontextmanager
    async def dial(self) -> AsyncIterator[PooledSession]:
        """A dial and a close that take their time; some are refused, and some closes fail or hang."""
        await anyio.sleep(self.random.random())
        if self.random.random() < 0.1:
            raise ConnectionRefusedError("not now")
        async with pooled_session(self.server.dial().streams, era=self.era) as session:
            yield session
            self.leaving.add(session)
            await anyio.sleep(self.random.choice((0.0, 0.1, 1.0, 3600.0)))
            if self.random.random() < 0.1:
                raise CloseFails

    async def leg(self) -> None:
        """One leg: it holds some leases, and takes one step after the other."""
        held: list[Lease] = []
        while self.done.total() < STEPS:
            step = self.random.choices(*zip(*self.odds(held), strict=True))[0]
            self.done[step] += 1
            await getattr(self, step)(held)
            if self.random.random() < 0.5:
                await anyio.sleep(self.random.random() / 4)
        for lease in held:
            await lease.release()

    def odds(self, held: list[Lease]) -> list[tuple[str, int]]:
        steps = [("acquire", 12), ("give_up", 6), ("detach", 2), ("die", 3), ("close", 1)]
        return [*steps, ("use", 8), ("release", 24), ("release_twice", 6)] if held else steps

    async def leased(self, fresh: bool) -> Lease | None:
        """A lease; looked at in the step in which it is granted."""
        pool = self.pool
        lease = await pool.acquire(self.random.choice(KEYS), self.dial, fresh=fresh)
        if lease is None:
            assert pool.shut
        else:
            assert not pool.shut, "leased after the close"
            assert not lease.client.closed.is_set(), "leased dead"
            assert lease.client not in self.leaving, "leased while it is closed"
            assert pool.live
            lease.on_close(self.tell)
        return lease

    def tell(self) -> None:
        self.told += 1

    async def acquire(self, held: list[Lease]) -> None:
        try:
            lease = await self.leased(fresh=self.random.random() < 0.2)
        except (ConnectionRefusedError, ConnectionLost):
            return
        if lease is not None:
            held.append(lease)

    async def give_up(self, held: list[Lease]) -> None:
        """Acquire, and be cancelled perhaps before there is a lease, and perhaps just after."""
        task = asyncio.create_task(self.leased(fresh=self.random.random() < 0.2))
        await anyio.sleep(self.random.random())
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is None and (lease := task.result()) is not None:
            held.append(lease)

    async def use(self, held: list[Lease]) -> None:
        client = self.random.choice(held).client
        with suppress(Exception):
            await client.ask("ping" if self.era == "handshake" else "tools/list")
            return
        assert client.closed.is_set(), "a live connection does not answer"

    async def release(self, held: list[Lease]) -> None:
        lease = held.pop(self.random.randrange(len(held)))
        if self.random.random() < 0.2:
            with anyio.move_on_after(self.random.random()):
                await lease.release()
            return
        async with lease:
            return

    async def release_twice(self, held: list[Lease]) -> None:
        lease = held.pop(self.random.randrange(len(held)))
        await asyncio.gather(lease.release(), lease.release())

    async def detach(self, held: list[Lease]) -> None:
        self.pool.detach(self.random.choice(KEYS))

    async def die(self, held: list[Lease]) -> None:
        alive = [connection for connection in self.server.connections[-20:] if connection.open]
        if alive:
            self.random.choice(alive).drop()

    async def close(self, held: list[Lease]) -> None:
        if self.random.random() < 0.1:
            pool = self.pool
            self.pools.append(ConnectionPool())
            pool.close()
        await anyio.lowlevel.checkpoint()


def test_ten_thousand_random_steps_leave_nothing(era: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="mcp_conformance_reference")
    left: list[str] = []
    legs = Run(era, seed=7)

    async def main() -> None:
        await asyncio.gather(*(legs.leg() for _ in range(LEGS)))
        await anyio.sleep(60)
        for pool in legs.pools[:-1]:
            assert pool.live == 0
        await settle()

    run(main, leftovers=left)
    assert legs.done.total() >= STEPS
    assert min(legs.done.values()) > 50, legs.done
    assert legs.told > 100
    assert len(legs.pools) > 3
    assert left == []
    assert legs.server.ledger.open_connections() == []
    for pool in legs.pools:
        assert (pool.live, pool._all, pool._current, pool._dialling) == (0, set(), {}, {})
