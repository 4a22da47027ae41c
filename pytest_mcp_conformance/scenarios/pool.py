"""Scenarios of POOL: who gets which connection of a pool, and when each is dialled and closed."""

from __future__ import annotations

import asyncio
import gc
import pickle
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any
from weakref import ref

import anyio

from pytest_mcp_conformance.contract import HANDSHAKE
from pytest_mcp_conformance.contract.pool import (
    BAD_CLOSE_WEDGES_NOTHING,
    CANCELLED_WAITER_LEAVES_ALONE,
    CLOSE_DURING_A_DIAL_GRANTS_NOTHING,
    CLOSE_SPARES_HELD_CONNECTIONS,
    CLOSED_POOL_GRANTS_NOTHING,
    CLOSING_CONNECTION_IS_NOT_LEASED,
    DEAD_CONNECTION_IS_NOT_LEASED,
    DETACH_MAKES_THE_NEXT_LEASE_DIAL,
    DETACHED_DIAL_IS_NOT_JOINED,
    DETACHED_DIAL_IS_NOT_PUBLISHED,
    DETACHED_DIAL_IS_ONE_CONNECTION,
    DIAL_UNDER_WAY_IS_SHARED,
    DISPOSE_ALWAYS_RELEASES,
    ELICITATION_IS_NEVER_POOLED,
    EVERY_HOLDER_IS_TOLD_OF_THE_CLOSE,
    FAILED_DIAL_FAILS_ITS_WAITERS_ALONE,
    FAILED_FRESH_DIAL_BRINGS_NOTHING_BACK,
    FRESH_CONNECTION_IS_THE_CURRENT_ONE,
    FRESH_DIALS_AT_ONCE_LEAVE_NO_ORPHAN,
    FRESH_REPLACES_AND_SPARES_HOLDERS,
    KEYS_SHARE_NOTHING,
    LAST_RELEASE_CLOSES,
    LISTENERS_STAND_ALONE,
    LIVE_COUNTS_OPEN_CONNECTIONS,
    NO_DIAL_IS_MADE_UNASKED,
    NO_HANDLE_OUTLIVES_THE_RUN,
    NOTHING_IS_HELD_BETWEEN_LEASES,
    ONE_KEY_IS_ONE_CONNECTION,
    ONLY_THE_CONNECTION_IS_SHARED,
    OWN_RELEASE_TELLS_NOBODY,
    RELEASE_AFTER_THE_DEATH_IS_NOTHING,
    RELEASE_OF_THE_OLD_SPARES_THE_DIAL,
    RELEASE_OF_THE_OLD_SPARES_THE_NEW,
    RELEASE_TWICE_IS_ONCE,
    RELEASES_AT_ONCE_ARE_ONE,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import VerbFailed, check, leave_out, reached
from pytest_mcp_conformance.scenarios._legs import Legs, legs_of
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import elapsed
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import ScriptedServer

DIAL = "initialize"
"""The request that a dial is held up at."""


class Boom(Exception):
    """What a scripted dial or close raises."""


# -- sharing and giving back -------------------------------------------------------------------------------


@scenario(ONE_KEY_IS_ONE_CONNECTION, LAST_RELEASE_CLOSES, NOTHING_IS_HELD_BETWEEN_LEASES, eras=HANDSHAKE)
async def legs_with_one_key(server: ScriptedServer, connect: Connect) -> None:
    """Three legs lease one key; they end one after the other, and a fourth one comes later."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        leases = [await legs.lease() for _ in range(3)]
        with check(ONE_KEY_IS_ONE_CONNECTION):
            assert legs.dials == 1
            assert [await legs.reaches(lease) for lease in leases] == legs.open * 3
        with check(LAST_RELEASE_CLOSES):
            with elapsed() as spent:
                await legs.release(*leases[:2])
                assert legs.open, "closed while a leg still holds it"
                assert not spent.seconds, "a release that closes nothing takes its time"
            await legs.reaches(leases[2])
            legs.closing = anyio.Event()
            releasing = legs.start_release(leases[2])
            await asyncio.sleep(0.5)
            assert not releasing.done, "the last release ended before the connection was closed"
            legs.closing.set()
            await releasing.result()
            assert legs.open == []
        with check(NOTHING_IS_HELD_BETWEEN_LEASES):
            await legs.release(leases[2])
            assert legs.open == []
        again = await legs.lease()
        with check(NOTHING_IS_HELD_BETWEEN_LEASES):
            assert legs.dials == 2
            assert await legs.reaches(again) == legs.clients[-1].number
        with check(LAST_RELEASE_CLOSES), elapsed() as spent:
            await legs.release(again)
            assert not spent.seconds, "the close has ended, and the release waits on"


@scenario(DIAL_UNDER_WAY_IS_SHARED, eras=HANDSHAKE)
async def legs_that_start_together(server: ScriptedServer, connect: Connect) -> None:
    """Two legs lease one key at once, and a third one while it is being dialled."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        with server.holding(DIAL) as gate, check(DIAL_UNDER_WAY_IS_SHARED):
            waiting = [legs.start(), legs.start()]
            await gate.arrived()
            waiting.append(legs.start())
            await server.settle()
            assert legs.dials == 1
            assert not any(each.done for each in waiting), "leased before it was dialled"
            gate.release_all()
            gate.open()
            leases = [await each.result() for each in waiting]
            assert [await legs.reaches(lease) for lease in leases] == legs.open * 3


@scenario(KEYS_SHARE_NOTHING, eras=HANDSHAKE)
async def one_server_under_two_keys(server: ScriptedServer, connect: Connect) -> None:
    """Two principals lease one server, at once; then each leases it again."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        with server.holding(DIAL) as gate, check(KEYS_SHARE_NOTHING):
            waiting = [legs.start(f"server|{who}", principal=who) for who in ("ann", "bob")]
            await gate.arrived()
            await server.settle()
            assert legs.dials == 2
            gate.release_all()
            gate.open()
            await asyncio.gather(*(each.result() for each in waiting))
            for who in ("ann", "bob"):
                lease = await legs.lease(f"server|{who}", principal=who)
                assert legs.connection(lease).principal == who


@scenario(FAILED_DIAL_FAILS_ITS_WAITERS_ALONE, NO_DIAL_IS_MADE_UNASKED, eras=HANDSHAKE)
async def dial_that_fails(server: ScriptedServer, connect: Connect) -> None:
    """Three legs wait for a dial that fails; an hour later the server is well."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        legs.failing, legs.waits = Boom("no such server"), anyio.Event()
        waiting = [legs.start() for _ in range(3)]
        await server.settle()
        reached(legs.dials, "the pool dialled nothing")
        legs.waits.set()
        with check(FAILED_DIAL_FAILS_ITS_WAITERS_ALONE):
            for each in waiting:
                assert await each.ended(), "still waits for a dial that has failed"
            assert [each.error is legs.failing for each in waiting] == [True] * 3, "not the dial's error"
        with check(NO_DIAL_IS_MADE_UNASKED):
            await asyncio.sleep(3600)
            assert legs.dials == 1
        legs.failing = None
        with check(FAILED_DIAL_FAILS_ITS_WAITERS_ALONE):
            before = legs.dials
            lease = await legs.lease()
            assert legs.dials == before + 1
            assert await legs.reaches(lease) == legs.clients[-1].number
            assert legs.pool.live == 1
        reached(legs.clients, "no dial succeeded")
        legs.connection(lease).drop()
        with check(NO_DIAL_IS_MADE_UNASKED):
            await asyncio.sleep(3600)
            assert len(legs.clients) == 1, "a dead connection was dialled again, and nobody had asked"


@scenario(FAILED_DIAL_FAILS_ITS_WAITERS_ALONE, eras=HANDSHAKE)
async def retry_as_soon_as_a_dial_has_failed(server: ScriptedServer, connect: Connect) -> None:
    """Of the legs that wait for a dial that fails, the first one acquires again in the very same step."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        legs.failing, legs.waits = Boom("no such server"), anyio.Event()
        retrying = Pending(_tries_again(legs), "a leg that tries again")
        waiting = [legs.start(), legs.start()]
        await server.settle()
        reached(legs.dials, "the pool dialled nothing")
        legs.waits.set()
        with check(FAILED_DIAL_FAILS_ITS_WAITERS_ALONE):
            assert await legs.reaches(await retrying.result()) in legs.open
            for each in waiting:
                assert await each.ended()
                assert isinstance(each.error, Boom)


@scenario(RELEASE_TWICE_IS_ONCE, RELEASES_AT_ONCE_ARE_ONE, eras=HANDSHAKE)
async def release_that_comes_twice(server: ScriptedServer, connect: Connect) -> None:
    """Of two legs one releases twice, one after the other; on another key it does so at once."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        for rule, key in ((RELEASE_TWICE_IS_ONCE, "one"), (RELEASES_AT_ONCE_ARE_ONE, "other")):
            first, second = await legs.lease(key), await legs.lease(key)
            number = await legs.reaches(second)
            with check(rule):
                if rule is RELEASE_TWICE_IS_ONCE:
                    await legs.release(first, first)
                else:
                    both = [legs.start_release(first), legs.start_release(first)]
                    await asyncio.gather(*(each.result() for each in both))
                assert number in legs.open, "the other leg's connection is closed"
                assert await legs.reaches(second) == number
                await legs.release(second)
                assert number not in legs.open


@scenario(CLOSING_CONNECTION_IS_NOT_LEASED, eras=HANDSHAKE)
async def acquire_under_the_last_release(server: ScriptedServer, connect: Connect) -> None:
    """The last leg releases, the close takes its time, and another leg comes."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first = await legs.lease()
        number = await legs.reaches(first)
        legs.closing = anyio.Event()
        releasing = legs.start_release(first)
        await server.settle()
        with check(CLOSING_CONNECTION_IS_NOT_LEASED):
            second = await legs.lease()
            assert await legs.reaches(second) != number
            assert legs.dials == 2
            legs.closing.set()
            await releasing.result()
            assert await legs.reaches(await legs.lease()) == await legs.reaches(second)
            assert legs.dials == 2


@scenario(BAD_CLOSE_WEDGES_NOTHING, variants=("raises", "hangs"), eras=HANDSHAKE)
async def close_that_goes_wrong(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A close raises, or does not end; meanwhile and afterwards legs lease this key and another one."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first = await legs.lease()
        if how == "raises":
            legs.close_raises = Boom("the process does not end")
        else:
            legs.closing = anyio.Event()
        releasing = legs.start_release(first)
        await server.settle()
        with check(BAD_CLOSE_WEDGES_NOTHING):
            other = legs.start("another")
            assert await other.ended(within=0.1), "another key has to wait for the close"
            assert await legs.reaches(await other.result()) == legs.clients[-1].number
            second = legs.start()
            assert await second.ended(within=0.1), "the key has to wait for the close"
            assert await legs.reaches(await second.result()) == legs.clients[-1].number
            assert legs.dials == 3
            assert await releasing.ended(), "the release did not end"
            await asyncio.sleep(60)
            assert legs.pool.live == 2


# -- closing the pool --------------------------------------------------------------------------------------


@scenario(CLOSED_POOL_GRANTS_NOTHING, CLOSE_SPARES_HELD_CONNECTIONS, eras=HANDSHAKE)
async def pool_that_is_closed(server: ScriptedServer, connect: Connect) -> None:
    """The pool is closed while a leg holds a connection; others ask for that key, and for another one."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        lease = await legs.lease()
        legs.pool.close()
        await server.settle()
        with check(CLOSED_POOL_GRANTS_NOTHING):
            assert await legs.lease() is None
            assert await legs.lease(fresh=True) is None
            assert await legs.lease("another") is None
            assert legs.dials == 1
        with check(CLOSE_SPARES_HELD_CONNECTIONS):
            assert await legs.reaches(lease) in legs.open
            await legs.release(lease)
            assert legs.open == []


@scenario(CLOSE_DURING_A_DIAL_GRANTS_NOTHING, variants=("plain", "detached"), eras=HANDSHAKE)
async def pool_closed_during_a_dial(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The pool is closed while two legs wait for a dial; then the dial succeeds."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        with server.holding(DIAL) as gate:
            waiting = [legs.start(), legs.start()]
            await gate.arrived()
            if how == "detached":
                legs.pool.detach("k")
            legs.pool.close()
            await server.settle()
            gate.release_all()
            gate.open()
            await server.settle()
        with check(CLOSE_DURING_A_DIAL_GRANTS_NOTHING):
            for each in waiting:
                assert await each.ended(), "still waits for a pool that is closed"
                assert await each.result() is None
            assert legs.open == [], "what was dialled is still open"
            assert legs.pool.live == 0


# -- replacing a connection --------------------------------------------------------------------------------


@scenario(DETACH_MAKES_THE_NEXT_LEASE_DIAL, eras=HANDSHAKE)
async def key_that_is_detached(server: ScriptedServer, connect: Connect) -> None:
    """A key is detached while a leg holds its connection; another leg leases the key."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first = await legs.lease()
        number = await legs.reaches(first)
        legs.pool.detach("k")
        legs.pool.detach("nobody ever leased this")
        await server.settle()
        with check(DETACH_MAKES_THE_NEXT_LEASE_DIAL):
            assert await legs.reaches(first) == number
            second = await legs.lease()
            assert await legs.reaches(second) != number
            assert len(legs.open) == 2
            await legs.release(first)
            assert legs.open == [await legs.reaches(second)]


@scenario(
    DETACHED_DIAL_IS_NOT_PUBLISHED,
    DETACHED_DIAL_IS_NOT_JOINED,
    DETACHED_DIAL_IS_ONE_CONNECTION,
    variants=("acquired at once", "acquired later"),
    eras=HANDSHAKE,
)
async def detach_during_a_dial(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Two legs wait for a dial when its key is detached; a third one comes before, or after it ends."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        with server.holding(DIAL) as gate:
            waiting = [legs.start(), legs.start()]
            await gate.arrived()
            legs.pool.detach("k")
            third = legs.start() if how == "acquired at once" else None
            await server.settle()
            if third is not None:
                with check(DETACHED_DIAL_IS_NOT_JOINED):
                    assert legs.dials == 2, "waits for the dial that was detached"
            gate.held[0].release()
            leases: list[Any] = []
            with check(DETACHED_DIAL_IS_NOT_PUBLISHED):
                leases = [await each.result() for each in waiting]
            reached(leases, "the detached dial served nobody")
            number = await legs.reaches(leases[0])
            with check(DETACHED_DIAL_IS_ONE_CONNECTION):
                assert await legs.reaches(leases[1]) == number
            gate.open()
            gate.release_all()
            late = await (third.result() if third is not None else legs.lease())
        with check(DETACHED_DIAL_IS_NOT_JOINED):
            assert await legs.reaches(late) != number
        with check(DETACHED_DIAL_IS_NOT_PUBLISHED):
            assert await legs.reaches(await legs.lease()) != number
            assert legs.dials == 2
        with check(DETACHED_DIAL_IS_ONE_CONNECTION):
            await legs.release(leases[0])
            assert await legs.reaches(leases[1]) == number
            await legs.release(leases[1])
            assert number not in legs.open


@scenario(
    FRESH_REPLACES_AND_SPARES_HOLDERS,
    FRESH_CONNECTION_IS_THE_CURRENT_ONE,
    RELEASE_OF_THE_OLD_SPARES_THE_NEW,
    eras=HANDSHAKE,
)
async def fresh_redial(server: ScriptedServer, connect: Connect) -> None:
    """Two legs hold a connection; a third one asks for a fresh one, and a fourth for any."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second = await legs.lease(), await legs.lease()
        old = await legs.reaches(first)
        with check(FRESH_REPLACES_AND_SPARES_HOLDERS):
            third = await legs.lease(fresh=True)
            new = await legs.reaches(third)
            assert new != old
            assert [await legs.reaches(each) for each in (first, second)] == [old, old]
            assert legs.dials == 2
        with check(FRESH_CONNECTION_IS_THE_CURRENT_ONE):
            assert await legs.reaches(await legs.lease()) == legs.clients[-1].number != old
            assert legs.dials == 2
        await legs.release(first)
        with check(FRESH_REPLACES_AND_SPARES_HOLDERS):
            assert await legs.reaches(second) == old
        with check(RELEASE_OF_THE_OLD_SPARES_THE_NEW):
            await legs.release(second)
            assert old not in legs.open
            assert await legs.reaches(await legs.lease()) == await legs.reaches(third)
            assert legs.dials == 2


@scenario(FRESH_CONNECTION_IS_THE_CURRENT_ONE, RELEASE_OF_THE_OLD_SPARES_THE_DIAL, eras=HANDSHAKE)
async def release_during_a_fresh_dial(server: ScriptedServer, connect: Connect) -> None:
    """While a fresh dial is under way the old connection is released, and a plain lease is asked for."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first = await legs.lease()
        old = await legs.reaches(first)
        with server.holding(DIAL) as gate:
            fresh = legs.start(fresh=True)
            await gate.arrived()
            plain = legs.start()
            await server.settle()
            with check(FRESH_CONNECTION_IS_THE_CURRENT_ONE):
                assert not plain.done, "leased the old connection"
                assert legs.dials == 2
            with check(RELEASE_OF_THE_OLD_SPARES_THE_DIAL):
                await legs.release(first)
                assert old not in legs.open
            late = legs.start()
            await server.settle()
            with check(RELEASE_OF_THE_OLD_SPARES_THE_DIAL):
                assert legs.dials == 2
            gate.release_all()
            gate.open()
            with check(RELEASE_OF_THE_OLD_SPARES_THE_DIAL):
                leases = [await each.result() for each in (fresh, plain, late, legs.start())]
                assert {await legs.reaches(each) for each in leases} == set(legs.open)
                assert (legs.dials, len(legs.open)) == (2, 1)
        with check(FRESH_CONNECTION_IS_THE_CURRENT_ONE):
            assert await legs.reaches(await plain.result()) != old


@scenario(FRESH_REPLACES_AND_SPARES_HOLDERS, FRESH_CONNECTION_IS_THE_CURRENT_ONE, eras=HANDSHAKE)
async def fresh_dial_beside_an_older_dial(server: ScriptedServer, connect: Connect) -> None:
    """A leg waits for a dial, another one asks for a fresh one; the older dial ends last."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        with server.holding(DIAL) as gate:
            plain = legs.start()
            await gate.arrived()
            fresh = legs.start(fresh=True)
            await server.settle()
            with check(FRESH_REPLACES_AND_SPARES_HOLDERS):
                assert legs.dials == 2, "takes a dial that began before it"
            for held in reversed(gate.held):
                held.release()
                await server.settle()
            gate.open()
            new = await legs.reaches(await fresh.result())
            with check(FRESH_REPLACES_AND_SPARES_HOLDERS):
                assert await legs.reaches(await plain.result()) != new
            with check(FRESH_CONNECTION_IS_THE_CURRENT_ONE):
                assert await legs.reaches(await legs.lease()) == new


@scenario(FAILED_FRESH_DIAL_BRINGS_NOTHING_BACK, eras=HANDSHAKE)
async def fresh_dial_that_fails(server: ScriptedServer, connect: Connect) -> None:
    """A fresh dial fails while a leg holds the old connection; then a leg asks for any."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first = await legs.lease()
        old = await legs.reaches(first)
        legs.failing = Boom("no such server")
        failed = legs.start(fresh=True)
        await failed.ended()
        reached(failed.error is not None, "no fresh dial failed")
        legs.failing = None
        with check(FAILED_FRESH_DIAL_BRINGS_NOTHING_BACK):
            assert await legs.reaches(first) == old
            second = await legs.lease()
            assert await legs.reaches(second) != old
            assert len(legs.open) == 2


@scenario(FRESH_DIALS_AT_ONCE_LEAVE_NO_ORPHAN, eras=HANDSHAKE)
async def two_fresh_dials_at_once(server: ScriptedServer, connect: Connect) -> None:
    """Two legs hold a connection, and both ask for a fresh one at once."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        held = [await legs.lease(), await legs.lease()]
        old = await legs.reaches(held[0])
        with server.holding(DIAL) as gate, check(FRESH_DIALS_AT_ONCE_LEAVE_NO_ORPHAN):
            waiting = [legs.start(fresh=True), legs.start(fresh=True)]
            await gate.arrived()
            await server.settle()
            assert legs.dials == 2, "each leg dials"
            gate.release_all()
            gate.open()
            leases = [await each.result() for each in waiting]
            assert old not in [await legs.reaches(lease) for lease in leases]
            await legs.release(*held, *leases)
            assert legs.open == []


# -- a connection that closes ------------------------------------------------------------------------------


@scenario(
    EVERY_HOLDER_IS_TOLD_OF_THE_CLOSE,
    DEAD_CONNECTION_IS_NOT_LEASED,
    RELEASE_AFTER_THE_DEATH_IS_NOTHING,
    variants=("the server hangs up", "the transport breaks"),
    eras=HANDSHAKE,
)
async def connection_that_dies(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A connection closes under two legs, a third one comes at once, and the two release."""
    told: list[str] = []
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second = await legs.lease(), await legs.lease()
        for name, lease in (("first", first), ("first again", first), ("second", second)):
            lease.on_close(lambda name=name: told.append(name))
        dead = await legs.reaches(first)
        if how == "the server hangs up":
            legs.connection(first).drop()
        else:
            legs.clients[0].breaks.set()
            await server.settle()
        with check(DEAD_CONNECTION_IS_NOT_LEASED):
            third = await legs.lease_in_this_step()
            assert await legs.reaches(third) != dead
            await server.settle()
            assert await legs.reaches(await legs.lease()) == await legs.reaches(third)
        with check(EVERY_HOLDER_IS_TOLD_OF_THE_CLOSE):
            await asyncio.sleep(60)
            assert sorted(told) == ["first", "first again", "second"]
        with check(RELEASE_AFTER_THE_DEATH_IS_NOTHING):
            held = list(legs.open)
            await legs.release(first, second, first)
            assert legs.open == held
            fourth = await legs.lease()
            assert await legs.reaches(fourth) in held


@scenario(OWN_RELEASE_TELLS_NOBODY, eras=HANDSHAKE)
async def releases_in_good_order(server: ScriptedServer, connect: Connect) -> None:
    """Of three legs one releases before the server hangs up; on another key two legs release in turn."""
    told: list[str] = []
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        early, late = await legs.lease(), await legs.lease()
        early.on_close(lambda: told.append("released before"))
        late.on_close(lambda: told.append("held"))
        connection = legs.connection(late)
        await legs.release(early)
        connection.drop()
        await server.settle()
        reached("held" in told or legs.open == [], "the connection did not close")
        with suppress(Exception):  # it may be refused as well
            early.on_close(lambda: told.append("registered after its release"))
        one, other = await legs.lease("another"), await legs.lease("another")
        one.on_close(lambda: told.append("first to release"))
        other.on_close(lambda: told.append("last to release"))
        with check(OWN_RELEASE_TELLS_NOBODY):
            await legs.release(one, other)
            await asyncio.sleep(60)
            assert [who for who in told if who != "held"] == []


@scenario(LISTENERS_STAND_ALONE, eras=HANDSHAKE)
async def listeners_that_raise_or_come_late(server: ScriptedServer, connect: Connect) -> None:
    """The first listener raises when the server hangs up; another one is registered when all is over."""
    told: list[str] = []

    def raises() -> None:
        raise Boom("a leg's own fault")

    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second = await legs.lease(), await legs.lease()
        first.on_close(raises)
        first.on_close(lambda: told.append("same leg"))
        second.on_close(lambda: told.append("other leg"))
        legs.connection(first).drop()
        await server.settle()
        with check(LISTENERS_STAND_ALONE):
            assert sorted(told) == ["other leg", "same leg"]
            with suppress(Boom):
                first.on_close(raises)
            second.on_close(lambda: told.append("late"))
            await asyncio.sleep(60)
            assert told.count("late") == 1
            await legs.release(first, second)
            assert await legs.reaches(await legs.lease()) in legs.open
            assert legs.pool.live == 1


@scenario(
    CANCELLED_WAITER_LEAVES_ALONE,
    variants=("the first", "all of them", "all of a dial that goes on"),
    eras=HANDSHAKE,
)
async def waiter_that_is_cancelled(server: ScriptedServer, connect: Connect, who: str) -> None:
    """Three legs wait for a dial; the one that began it gives up, or all do."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        legs.stubborn = who == "all of a dial that goes on"
        with server.holding(DIAL) as gate:
            waiting = [legs.start() for _ in range(3)]
            await gate.arrived()
            gone, stays = (waiting[:1], waiting[1:]) if who == "the first" else (waiting, [])
            for each in gone:
                await each.cancel()
            await server.settle()
            gate.release_all()
            gate.open()
            await server.settle()
        with check(CANCELLED_WAITER_LEAVES_ALONE):
            leases = [await each.result() for each in stays]
            assert [await legs.reaches(lease) for lease in leases] == legs.open * len(stays)
            assert legs.dials == 1
            await legs.release(*leases)
            await server.settle()
            assert legs.open == [], "nobody holds it, and it is open"
            assert legs.pool.live == 0
            assert await legs.reaches(await legs.lease()) == legs.clients[-1].number
            assert legs.dials == 2


@scenario(CANCELLED_WAITER_LEAVES_ALONE, DEAD_CONNECTION_IS_NOT_LEASED, eras=HANDSHAKE)
async def moment_at_which_a_dial_ends(server: ScriptedServer, connect: Connect) -> None:
    """A leg gives up just when its dial has succeeded; another one's connection dies at that moment."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        waiting = legs.start()
        legs.as_it_opens = lambda: _soon(waiting._task.cancel)
        await waiting.ended()
        await server.settle()
        reached(legs.clients, "nothing was dialled")
        with check(CANCELLED_WAITER_LEAVES_ALONE):
            assert waiting.error is not None or legs.open, "the lease is lost"
            assert waiting.error is None or legs.open == [], "nobody holds it, and it is open"
        legs.as_it_opens = lambda: server.connections[-1].drop()
        unlucky = legs.start("another")
        await unlucky.ended()
        legs.as_it_opens = lambda: None
        with check(DEAD_CONNECTION_IS_NOT_LEASED):
            if unlucky.error is None:
                await legs.reaches(await unlucky.result())
            assert await legs.reaches(await legs.lease("another")) in legs.open


@scenario(LIVE_COUNTS_OPEN_CONNECTIONS, eras=HANDSHAKE)
async def counting_connections(server: ScriptedServer, connect: Connect) -> None:
    """A connection is dialled, replaced, detached and dropped by the server; then all leases are released."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        with check(LIVE_COUNTS_OPEN_CONNECTIONS):
            assert legs.pool.live == 0
            with server.holding(DIAL) as gate:
                dialling = legs.start()
                await gate.arrived()
                assert legs.pool.live == 0, "counts what is not yet open"
            leases = [await dialling.result(), await legs.lease()]
            assert legs.pool.live == 1
            leases.append(await legs.lease(fresh=True))
            assert legs.pool.live == 2
            legs.pool.detach("k")
            leases.append(await legs.lease())
            assert legs.pool.live == 3
            legs.connection(leases[-1]).drop()
            await server.settle()
            assert legs.pool.live == 2
            await legs.release(*leases)
            assert legs.pool.live == 0
        reached(legs.clients, "nothing was dialled")


# -- whose is what -----------------------------------------------------------------------------------------


@scenario(ELICITATION_IS_NEVER_POOLED, eras=HANDSHAKE)
async def server_that_asks_questions(server: ScriptedServer, connect: Connect) -> None:
    """Two legs lease a server that opted in to elicitation; where they get nothing they dial themselves."""
    declaration = {"name": "s", "transport": {"kind": "stdio", "command": "s"}}
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        key_of = wrapper.part("key_of")
        with check(ELICITATION_IS_NEVER_POOLED):
            asking = key_of({**declaration, "elicitation": True}, "ann", "stdio", None)
            leases = [await legs.lease(asking), await legs.lease(asking)]
            shared = [lease for lease in leases if lease is not None]
            assert len({await legs.reaches(lease) for lease in shared}) == len(shared)
            for silent in (declaration, {**declaration, "elicitation": False}):
                silent_key = key_of(silent, "ann", "stdio", None)
                both = [await legs.lease(silent_key), await legs.lease(silent_key)]
                assert len({await legs.reaches(lease) for lease in both}) == 1


@scenario(ONLY_THE_CONNECTION_IS_SHARED, eras=HANDSHAKE)
async def leg_that_has_ended(server: ScriptedServer, connect: Connect) -> None:
    """Of two legs one has released, and goes on using what it got."""
    told: list[str] = []
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        ended, stays = await legs.lease(), await legs.lease()
        number = await legs.reaches(stays)
        stays.on_close(lambda: told.append("stays"))
        with check(ONLY_THE_CONNECTION_IS_SHARED):
            assert ended is not stays, "both legs hold one lease"
            await legs.release(ended)
            asking = Pending(_client_of(ended), "the client of a lease that was released")
            await asking.ended()
            assert asking.error is not None, "a leg that released still reaches the server"
            assert await legs.reaches(stays) == number
            ended_told = Pending(_listen(ended, told), "on_close of a lease that was released")
            await ended_told.ended()
            legs.connection(stays).drop()
            await server.settle()
            assert told == ["stays"]


@scenario(DISPOSE_ALWAYS_RELEASES, variants=("ended", "failed", "cancelled", "parked"), eras=HANDSHAKE)
async def leg_that_is_disposed_of(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A leg that uses its lease as a context manager ends, fails, is cancelled, or is left in the middle."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        lease = await legs.lease()
        if not hasattr(lease, "__aexit__"):
            leave_out(DISPOSE_ALWAYS_RELEASES, "its leases are no context managers")
            return
        with check(DISPOSE_ALWAYS_RELEASES):
            disposing = Pending(_dispose(lease, how), "a leg")
            await server.settle()
            if how == "cancelled":
                await disposing.cancel()
            assert await disposing.ended(), "the leg did not end"
            if how != "cancelled":
                await disposing.result()
            assert legs.open == []
            assert legs.pool.live == 0


@scenario(NO_HANDLE_OUTLIVES_THE_RUN, eras=HANDSHAKE)
async def run_that_is_over(server: ScriptedServer, connect: Connect) -> None:
    """A lease is put on record; when its run is over, nothing holds what was dialled."""
    async with connect(server) as wrapper:
        async with legs_of(wrapper, server) as legs:
            lease = await legs.lease()
            client = ref(lease.client)
            with check(NO_HANDLE_OUTLIVES_THE_RUN):
                for part in (lease, legs.pool):
                    revived = _revived(part)
                    assert revived is None, f"{type(part).__name__} was put on record and revived"
            reached(client() is not None, "nothing was dialled")
        await asyncio.sleep(60)
        del legs, lease
        gc.collect()
        with check(NO_HANDLE_OUTLIVES_THE_RUN):
            assert client() is None, "something still holds the connection of a run that is over"


async def _tries_again(legs: Legs) -> Any:
    try:
        return await legs.lease_in_this_step()
    except VerbFailed:
        legs.failing = None
        return await legs.lease_in_this_step()


def _soon(what: Callable[[], Any]) -> None:
    """Have it done right after the step that runs now."""
    asyncio.get_running_loop().call_soon(what)


async def _client_of(lease: Any) -> Any:
    return await lease.client.ask()


async def _listen(lease: Any, told: list[str]) -> None:
    lease.on_close(lambda: told.append("ended"))


async def _dispose(lease: Any, how: str) -> None:
    async def parked() -> AsyncIterator[None]:
        async with lease:
            yield

    if how == "parked":
        steps = parked()
        await anext(steps)
        await steps.aclose()  # type: ignore[attr-defined]
        return
    with suppress(Boom):
        async with lease as held:
            await held.client.ask()
            if how == "failed":
                raise Boom("the leg failed")
            if how == "cancelled":
                await asyncio.sleep(3600)


def _revived(part: Any) -> Any:
    """What comes back when `part` is put on record; None where it cannot be put there, or not be read."""
    try:
        return pickle.loads(pickle.dumps(part))
    except Exception:
        return None
