"""The pool where the catalogue cannot look: broken transports, bad dials, and who leaves in which task."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp_conformance_reference import ConnectionLost, ConnectionPool, Lease, PooledSession, pooled_session

from tests.reference.peer import Peer
from tests.reference.virtual import passes, play, settle


class Dials:
    """Dials of clients that are nothing but themselves."""

    def __init__(self) -> None:
        self.begun = 0
        self.left: list[Any] = []
        self.tasks: list[Any] = []
        self.goes_on = anyio.Event()
        self.goes_on.set()
        self.client: Any = object()

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Any]:
        self.begun += 1
        self.tasks.append(asyncio.current_task())
        await self.goes_on.wait()
        try:
            yield self.client
        finally:
            self.tasks.append(asyncio.current_task())
            self.left.append(self.client)


async def leased(pool: ConnectionPool, dial: Any, **how: Any) -> Lease:
    lease = await pool.acquire("k", dial, **how)
    assert lease is not None
    return lease


def test_sessions_of_both_eras_are_shared_and_know_their_end(era: Any) -> None:
    async def script() -> None:
        peer, told = Peer(era, "a"), []
        pool = ConnectionPool()

        def dial() -> Any:
            return pooled_session(peer.streams, era=era)

        first, second = await leased(pool, dial), await leased(pool, dial)
        assert first.client is second.client
        assert isinstance(first.client, PooledSession)
        assert [tool["name"] for tool in (await second.client.ask("tools/list"))["tools"]] == ["a"]
        first.on_close(lambda: told.append("closed"))
        peer.line.cut()
        await settle()
        assert told == ["closed"]
        assert (pool.live, peer.live) == (0, 0)
        third = await leased(pool, dial)
        assert (peer.dials, peer.live, pool.live) == (2, 1, 1)
        async with third:
            assert third.client is not first.client
        assert (peer.live, pool.live) == (0, 0)

    play(script)


def test_a_write_that_finds_nobody_ends_the_connection(era: Any) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        pool = ConnectionPool()
        lease = await leased(pool, lambda: pooled_session(peer.streams, era=era))
        peer.line.open = False
        with pytest.raises(Exception):  # noqa: B017, PT011
            await lease.client.ask("tools/list")
        await settle()
        assert (pool.live, lease.client.closed.is_set()) == (0, True)

    play(script)


def test_a_connection_is_entered_and_left_in_one_task_that_is_no_legs() -> None:
    async def script() -> None:
        pool, dials = ConnectionPool(), Dials()
        lease = await leased(pool, dials)
        await asyncio.create_task(lease.release())
        entered, left = dials.tasks
        assert entered is left is not asyncio.current_task()

    play(script)


@pytest.mark.parametrize("closed", [None, False, "yes"])
def test_a_client_without_an_event_is_taken_for_open_until_it_is_released(closed: Any) -> None:
    class Client:
        pass

    async def script() -> None:
        pool, dials = ConnectionPool(), Dials()
        dials.client = Client()
        if closed is not None:
            dials.client.closed = closed
        lease = await leased(pool, dials)
        await passes(3600)
        assert pool.live == 1
        await lease.release()
        assert dials.left == [dials.client]

    play(script)


def test_a_transport_that_breaks_inside_its_context_is_a_close(caplog: pytest.LogCaptureFixture) -> None:
    async def script() -> None:
        breaks, told = anyio.Event(), []

        @asynccontextmanager
        async def dial() -> AsyncIterator[Any]:
            async with anyio.create_task_group() as group:

                async def crash() -> None:
                    await breaks.wait()
                    raise OSError("cable")

                group.start_soon(crash)
                yield object()
                group.cancel_scope.cancel()

        pool = ConnectionPool()
        first, second = await leased(pool, dial), await leased(pool, dial)
        first.on_close(lambda: told.append(1))
        second.on_close(lambda: told.append(2))
        breaks.set()
        await settle()
        assert (told, pool.live) == ([1, 2], 0)
        assert "did not close in good order" in caplog.text
        await first.release()

    play(script)


def test_a_connection_that_closes_as_soon_as_it_is_open_is_leased_to_nobody() -> None:
    class Client:
        def __init__(self) -> None:
            self.closed = anyio.Event()
            self.closed.set()

    async def script() -> None:
        pool, dials = ConnectionPool(), Dials()
        dials.client = Client()
        for _ in range(2):
            with pytest.raises(ConnectionLost, match="as soon as it was open"):
                await pool.acquire("k", dials)
        await settle()
        assert (dials.begun, len(dials.left), pool.live) == (2, 2, 0)

    play(script)


def test_a_dial_that_cannot_even_be_made_fails_its_waiters() -> None:
    async def script() -> None:
        pool = ConnectionPool()

        def dial() -> Any:
            raise LookupError("no such transport")

        for _ in range(2):
            with pytest.raises(LookupError):
                await pool.acquire("k", dial)
        assert pool.live == 0

    play(script)


def test_a_dial_that_is_cut_short_from_outside_fails_its_waiters() -> None:
    async def script() -> None:
        pool, dials = ConnectionPool(), Dials()
        dials.goes_on = anyio.Event()
        waiting = asyncio.ensure_future(pool.acquire("k", dials))
        await settle()
        dials.tasks[0].cancel()
        with pytest.raises(ConnectionLost):
            await waiting

    play(script)


def test_a_release_that_is_cancelled_gives_the_hold_back_all_the_same() -> None:
    async def script() -> None:
        pool, dials = ConnectionPool(), Dials()
        lease = await leased(pool, dials)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await lease.release()
        await settle()
        assert (pool.live, len(dials.left)) == (0, 1)

    play(script)


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_close_that_hangs_is_waited_for_within_bounds(stubborn: bool) -> None:
    async def script() -> None:
        goes_on = anyio.Event()

        @asynccontextmanager
        async def dial() -> AsyncIterator[Any]:
            yield object()
            with anyio.CancelScope(shield=stubborn):
                await goes_on.wait()

        pool = ConnectionPool(close_limit=5)
        lease = await leased(pool, dial)
        start = anyio.current_time()
        await lease.release()
        assert anyio.current_time() - start == (10 if stubborn else 5)
        assert pool.live == (1 if stubborn else 0)
        goes_on.set()
        await settle()
        assert pool.live == 0

    play(script)


def test_a_dial_that_does_not_heed_its_cancellation_opens_nothing_for_anybody() -> None:
    async def script() -> None:
        pool, dials = ConnectionPool(), Dials()

        @asynccontextmanager
        async def dial() -> AsyncIterator[Any]:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(5)
            async with dials() as client:
                yield client

        waiting = asyncio.ensure_future(pool.acquire("k", dial))
        await settle()
        pool.close()
        assert await waiting is None
        await passes(10)
        assert (pool.live, pool._all, dials.left) == (0, set(), [])

    play(script)


def test_a_lease_taken_between_the_dial_and_its_waiters_shares_with_them() -> None:
    async def script() -> None:
        pool, dials = ConnectionPool(), Dials()
        dials.goes_on = anyio.Event()
        waiting = [asyncio.ensure_future(pool.acquire("k", dials)) for _ in range(3)]
        await settle()
        waiting[0].cancel()
        dials.goes_on.set()
        waiting[1].cancel()
        third = await waiting[2]
        assert third is not None
        async with third, await leased(pool, dials) as fourth:
            assert fourth.client is third.client
        assert (dials.begun, len(dials.left)) == (1, 1)

    play(script)


def test_a_listener_on_a_dead_connection_is_told_at_once_and_after_the_release_never(era: Any) -> None:
    async def script() -> None:
        peer, told = Peer(era, "a"), []
        pool = ConnectionPool()
        lease = await leased(pool, lambda: pooled_session(peer.streams, era=era))
        peer.line.cut()
        await settle()
        lease.on_close(lambda: told.append("at once"))
        assert told == ["at once"]
        await lease.release()
        lease.on_close(lambda: told.append("never"))
        await settle()
        assert told == ["at once"]

    play(script)


def test_it_runs_on_trio_as_well(era: Any) -> None:
    trio_testing = pytest.importorskip("trio.testing")

    async def script() -> None:
        peer = Peer(era, "a")
        pool = ConnectionPool()
        first, second = [await leased(pool, lambda: pooled_session(peer.streams, era=era)) for _ in range(2)]
        await first.release()
        assert pool.live == 1
        await second.release()
        assert (pool.live, peer.live) == (0, 0)

    clock = trio_testing.MockClock(autojump_threshold=0)
    anyio.run(script, backend="trio", backend_options={"clock": clock})
