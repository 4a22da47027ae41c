"""Wrong wrappers of POOL."""

from __future__ import annotations

import anyio
from mcp_conformance_reference.keys import key_of, read_declaration
from mcp_conformance_reference.leases import Lease
from mcp_conformance_reference.pool import ConnectionPool
from mcp_conformance_reference.pooled import PooledConnection

from pytest_mcp_conformance.adapters._reference import WhiteBox
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
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


def pool_with(connection=PooledConnection, lease=None, pool=ConnectionPool):
    """The white box of a pool whose connections and leases are of these types."""
    made = connection if lease is None else type("Connection", (connection,), {"lease_type": lease})
    return WhiteBox(pool=type("Pool", (pool,), {"connection_type": made}))


@breaks(ONE_KEY_IS_ONE_CONNECTION)
class EachLegDials(Client):
    """An open connection is not looked for."""

    class pool(ConnectionPool):
        def opened(self, connection):
            self.forget(connection)

    white_box = WhiteBox(pool=pool)


@breaks(DIAL_UNDER_WAY_IS_SHARED)
class EachWaiterDials(Client):
    """Only open connections are looked for, not dials."""

    class pool(ConnectionPool):
        def dial_of(self, key, dial, fresh):
            return self.dial_new(key, dial, fresh)

        def opened(self, connection):
            self._current[connection.key] = connection

    white_box = WhiteBox(pool=pool)


@breaks(KEYS_SHARE_NOTHING)
class KeyedByTheServersName(Client):
    """What stands before the first sign in the key is the key."""

    class pool(ConnectionPool):
        async def acquire(self, key, dial, *, fresh=False):
            return await super().acquire(str(key).partition("|")[0], dial, fresh=fresh)

    white_box = WhiteBox(pool=pool)


@breaks(FAILED_DIAL_FAILS_ITS_WAITERS_ALONE)
class FailedDialIsKept(Client):
    """A dial stays in the table, whatever came of it."""

    class pool(ConnectionPool):
        def dial_of(self, key, dial, fresh):
            kept = self.__dict__.setdefault("kept", {})
            if key in kept and kept[key]._error is not None:
                return kept[key]
            kept[key] = super().dial_of(key, dial, fresh)
            return kept[key]

    white_box = WhiteBox(pool=pool)


@breaks(FAILED_DIAL_FAILS_ITS_WAITERS_ALONE)
class OnlyTheFirstIsTold(Client):
    """The one that began the dial gets its error, the others go on waiting."""

    class connection(PooledConnection):
        def outcome(self):
            if self._error is not None:
                if "told" in self.__dict__:
                    raise RuntimeError("the dial failed for somebody else")
                self.told = True
            return super().outcome()

    white_box = pool_with(connection)


@breaks(LAST_RELEASE_CLOSES)
class FirstReleaseCloses(Client):
    """Whoever releases closes the connection."""

    class connection(PooledConnection):
        def give_back(self, lease):
            self.leave()
            super().give_back(lease)

    white_box = pool_with(connection)


@breaks(LAST_RELEASE_CLOSES)
class NobodyCloses(Client):
    """The last release leaves the connection open, although nobody gets it any more."""

    class connection(PooledConnection):
        def give_back(self, lease):
            self.holders.pop(lease, None)
            self.records.leave(lease)
            if not self.holders:
                self._pool.forget(self)

    white_box = pool_with(connection)


@breaks(LAST_RELEASE_CLOSES)
class CloseIsNotWaitedFor(Client):
    """The last release only begins the close."""

    class connection(PooledConnection):
        async def left(self):
            pass

    white_box = pool_with(connection)


@breaks(LAST_RELEASE_CLOSES)
class CloseIsHardlyWaitedFor(Client):
    """The last release waits a moment for the close."""

    class connection(PooledConnection):
        async def left(self):
            with anyio.move_on_after(0.1):
                await super().left()

    white_box = pool_with(connection)


class Counts(PooledConnection):
    """Counts its holders."""

    holds = 0

    def lease(self):
        self.holds += 1
        return super().lease()

    def give_back(self, lease):
        self.holds -= 1
        self.records.leave(lease)
        if self.holds <= 0:
            self.holders.clear()
            self.leave_if_unheld()


@breaks(RELEASE_TWICE_IS_ONCE)
class EachReleaseCounts(Client):
    """Holders are a number, and every release is one less."""

    class lease(Lease):
        async def release(self):
            first, self.released = not self.released, True
            if first or not self.__dict__.setdefault("at_once", False):
                self.at_once = True
                self._connection.give_back(self)
            await self._connection.left()
            self.at_once = False

    white_box = pool_with(Counts, lease)


@breaks(RELEASES_AT_ONCE_ARE_ONE)
class ReleasedAfterTheAwait(Client):
    """The lease remembers that it was released, but only when the release has ended."""

    class lease(Lease):
        async def release(self):
            if not self.released:
                await anyio.lowlevel.checkpoint()
                self._connection.give_back(self)
                await self._connection.left()
                self.released = True

    white_box = pool_with(Counts, lease)


@breaks(NOTHING_IS_HELD_BETWEEN_LEASES)
class ConnectionIsKeptWarm(Client):
    """Without holders a connection stays leasable for a minute."""

    class connection(PooledConnection):
        def give_back(self, lease):
            self.holders.pop(lease, None)
            self.records.leave(lease)

    white_box = pool_with(connection)


class Late(PooledConnection):
    """Leaves the pool's table when its close has ended."""

    @property
    def usable(self):
        return self.open

    def leave(self):
        if not self._opened or not self.open:
            super().leave()
        self._leave.set()


@breaks(CLOSING_CONNECTION_IS_NOT_LEASED)
class TakenOutAfterTheClose(Client):
    """A connection leaves the table when its close has ended."""

    white_box = pool_with(Late)


@breaks(BAD_CLOSE_WEDGES_NOTHING)
class FailedCloseIsNoClose(Client):
    """A connection whose close raised is taken for open."""

    class pool(ConnectionPool):
        def ended(self, connection):
            super().ended(connection)
            if connection._opened and connection._error is not None:
                self._current[connection.key] = connection

        class connection_type(PooledConnection):
            @property
            def usable(self):
                return super().usable or (self._opened and self._error is not None)

    white_box = WhiteBox(pool=pool)


@breaks(BAD_CLOSE_WEDGES_NOTHING)
class OneThingAtATime(Client):
    """A lock is held during each dial and each release."""

    class pool(ConnectionPool):
        def __init__(self):
            super().__init__()
            self.lock = anyio.Lock()

        async def acquire(self, key, dial, *, fresh=False):
            async with self.lock:
                pass
            return await super().acquire(key, dial, fresh=fresh)

        class connection_type(PooledConnection):
            async def left(self):
                if self._leave.is_set() and not self._pool.lock.locked():
                    async with self._pool.lock:
                        await super().left()

    white_box = WhiteBox(pool=pool)


@breaks(CLOSED_POOL_GRANTS_NOTHING)
class ClosedPoolRaises(Client):
    """An acquire from a closed pool is an error."""

    class pool(ConnectionPool):
        async def acquire(self, key, dial, *, fresh=False):
            if self.shut:
                raise RuntimeError("the pool is closed")
            return await super().acquire(key, dial, fresh=fresh)

    white_box = WhiteBox(pool=pool)


@breaks(CLOSED_POOL_GRANTS_NOTHING)
class ClosedPoolDials(Client):
    """A closed pool dials, and throws away what comes of it."""

    class pool(ConnectionPool):
        async def acquire(self, key, dial, *, fresh=False):
            if self.shut:
                async with dial():
                    return None
            return await super().acquire(key, dial, fresh=fresh)

    white_box = WhiteBox(pool=pool)


@breaks(CLOSE_SPARES_HELD_CONNECTIONS)
class CloseTakesAll(Client):
    """Close leaves every connection."""

    class pool(ConnectionPool):
        def close(self):
            super().close()
            for connection in list(self._all):
                connection.leave()

    white_box = WhiteBox(pool=pool)


class ForgetsDials(ConnectionPool):
    """A pool whose close takes no notice of dials."""

    def close(self):
        self.shut = True


@breaks(CLOSE_DURING_A_DIAL_GRANTS_NOTHING)
class LeaseAfterTheClose(Client):
    """Whoever asked before the close gets a lease."""

    class connection(PooledConnection):
        def outcome(self):
            if self._error is not None:
                raise self._error
            return self.lease()

    white_box = pool_with(connection, pool=ForgetsDials)


@breaks(CLOSE_DURING_A_DIAL_GRANTS_NOTHING)
class DialOutlivesTheClose(Client):
    """Waiters get nothing, and what was dialled for them stays open."""

    class connection(PooledConnection):
        def leave_if_unheld(self):
            if not self._pool.shut:
                super().leave_if_unheld()

    white_box = pool_with(connection, pool=ForgetsDials)


@breaks(DETACH_MAKES_THE_NEXT_LEASE_DIAL)
class DetachCloses(Client):
    """Detach closes the connection under its holders."""

    class pool(ConnectionPool):
        def detach(self, key):
            if key in self._current:
                self._current[key].leave()
            self._dialling.pop(key, None)

        def dial_new(self, key, dial, fresh):
            self._current.pop(key, None)
            return super().dial_new(key, dial, fresh)

    white_box = WhiteBox(pool=pool)


@breaks(DETACH_MAKES_THE_NEXT_LEASE_DIAL)
class DetachForgetsDialsOnly(Client):
    """Detach leaves the open connection where it is."""

    class pool(ConnectionPool):
        def detach(self, key):
            self._dialling.pop(key, None)

    white_box = WhiteBox(pool=pool)


@breaks(DETACHED_DIAL_IS_NOT_PUBLISHED)
class DetachedDialIsPublished(Client):
    """What a dial gave is published, whatever happened meanwhile."""

    class pool(ConnectionPool):
        def opened(self, connection):
            super().opened(connection)
            self._current.setdefault(connection.key, connection)

    white_box = WhiteBox(pool=pool)


@breaks(DETACHED_DIAL_IS_NOT_PUBLISHED)
class DetachFailsTheWaiters(Client):
    """Detach gives up the dial, and those who wait for it get an error."""

    class pool(ConnectionPool):
        def detach(self, key):
            if key in self._dialling:
                connection = self._dialling[key]
                connection._error = RuntimeError("the key was detached")
                connection._settled.set()
            super().detach(key)

    white_box = WhiteBox(pool=pool)


@breaks(DETACHED_DIAL_IS_NOT_JOINED)
class DetachedDialIsJoined(Client):
    """Detach takes the open connection alone; a dial under way can still be joined."""

    class pool(ConnectionPool):
        def detach(self, key):
            self._current.pop(key, None)
            if key in self._dialling:
                self.__dict__.setdefault("detached", set()).add(self._dialling[key])

        def opened(self, connection):
            super().opened(connection)
            if connection in self.__dict__.get("detached", ()):
                self.forget(connection)

    white_box = WhiteBox(pool=pool)


@breaks(DETACHED_DIAL_IS_ONE_CONNECTION)
class UnpublishedIsNotCounted(Client):
    """The holders of a connection that is in no table are not counted: the first release closes it."""

    class connection(PooledConnection):
        def be_open(self, client):
            super().be_open(client)
            self.counted = self._pool._current.get(self.key) is self

        def give_back(self, lease):
            if not self.counted:
                self.holders.clear()
            super().give_back(lease)

    white_box = pool_with(connection)


@breaks(FRESH_REPLACES_AND_SPARES_HOLDERS)
class FreshClosesTheOld(Client):
    """A fresh dial closes the connection that it replaces."""

    class pool(ConnectionPool):
        def dial_of(self, key, dial, fresh):
            if fresh and key in self._current:
                self._current[key].leave()
            return super().dial_of(key, dial, fresh)

    white_box = WhiteBox(pool=pool)


@breaks(FRESH_REPLACES_AND_SPARES_HOLDERS)
class FreshJoinsAnyDial(Client):
    """A fresh acquire takes whatever is being dialled."""

    class pool(ConnectionPool):
        def dial_of(self, key, dial, fresh):
            return super().dial_of(key, dial, fresh and key not in self._dialling)

    white_box = WhiteBox(pool=pool)


@breaks(FRESH_REPLACES_AND_SPARES_HOLDERS)
class FreshIsIgnored(Client):
    """A fresh acquire gets what is there."""

    class pool(ConnectionPool):
        async def acquire(self, key, dial, *, fresh=False):
            return await super().acquire(key, dial)

    white_box = WhiteBox(pool=pool)


@breaks(FRESH_CONNECTION_IS_THE_CURRENT_ONE)
class OldStaysCurrent(Client):
    """A fresh connection belongs to whoever asked for it, and the others go on with the old one."""

    class pool(ConnectionPool):
        def dial_new(self, key, dial, fresh):
            current = self._current.get(key)
            connection = super().dial_new(key, dial, fresh)
            if fresh and current is not None:
                self._current[key] = current
            return connection

        def opened(self, connection):
            if connection.key not in self._current:
                super().opened(connection)
            self._dialling.pop(connection.key, None)

    white_box = WhiteBox(pool=pool)


@breaks(FRESH_CONNECTION_IS_THE_CURRENT_ONE)
class LastDialToEndIsCurrent(Client):
    """Whichever dial ends last takes the place."""

    class pool(ConnectionPool):
        def dial_of(self, key, dial, fresh):
            older = self._dialling.get(key)
            connection = super().dial_of(key, dial, fresh)
            if older is not None and older is not connection:
                older.overtakes = True
            return connection

        def opened(self, connection):
            super().opened(connection)
            if hasattr(connection, "overtakes"):
                self._current[connection.key] = connection

    white_box = WhiteBox(pool=pool)


@breaks(RELEASE_OF_THE_OLD_SPARES_THE_NEW)
class ForgetsTheKeysConnection(Client):
    """A last release takes out whatever connection the key has."""

    class pool(ConnectionPool):
        def forget(self, connection):
            self._current.pop(connection.key, None)
            super().forget(connection)

    white_box = WhiteBox(pool=pool)


@breaks(RELEASE_OF_THE_OLD_SPARES_THE_DIAL)
class ForgetsTheKeysDial(Client):
    """A last release takes out whatever dial the key has."""

    class pool(ConnectionPool):
        def forget(self, connection):
            if connection._opened:
                self._dialling.pop(connection.key, None)
            super().forget(connection)

    white_box = WhiteBox(pool=pool)


class Remembers(ConnectionPool):
    """Knows which connection a fresh dial replaced."""

    def dial_new(self, key, dial, fresh):
        old = self._current.get(key)
        connection = super().dial_new(key, dial, fresh)
        connection.old = old
        return connection


@breaks(FAILED_FRESH_DIAL_BRINGS_NOTHING_BACK)
class OldComesBack(Client):
    """A fresh dial that failed puts the old connection back."""

    class pool(Remembers):
        def ended(self, connection):
            super().ended(connection)
            if connection.old is not None and not connection._opened:
                self._current[connection.key] = connection.old

    white_box = WhiteBox(pool=pool)


@breaks(FAILED_FRESH_DIAL_BRINGS_NOTHING_BACK)
class OldIsClosed(Client):
    """A fresh dial that failed closes the old connection under its holders."""

    class pool(Remembers):
        def ended(self, connection):
            super().ended(connection)
            if connection.old is not None and not connection._opened:
                connection.old.leave()

    white_box = WhiteBox(pool=pool)


@breaks(FRESH_DIALS_AT_ONCE_LEAVE_NO_ORPHAN)
class EachFreshAcquireDials(Client):
    """A fresh dial is joined by nobody who asks for a fresh one."""

    class pool(ConnectionPool):
        def dial_of(self, key, dial, fresh):
            if fresh:
                return self.dial_new(key, dial, fresh)
            return super().dial_of(key, dial, fresh)

    white_box = WhiteBox(pool=pool)


@breaks(EVERY_HOLDER_IS_TOLD_OF_THE_CLOSE)
class FirstHolderIsTold(Client):
    """The close is announced to the first holder alone."""

    class connection(PooledConnection):
        def be_lost(self):
            for lease in list(self.holders)[1:]:
                lease._listeners.clear()
            super().be_lost()

    white_box = pool_with(connection)


@breaks(EVERY_HOLDER_IS_TOLD_OF_THE_CLOSE)
class LastListenerIsTold(Client):
    """A lease has room for one listener."""

    class lease(Lease):
        def on_close(self, listener):
            self._listeners.clear()
            super().on_close(listener)

    white_box = pool_with(lease=lease)


@breaks(EVERY_HOLDER_IS_TOLD_OF_THE_CLOSE)
class ToldAgain(Client):
    """Listeners are called when the connection closes, and again when it has been left."""

    class connection(PooledConnection):
        def be_lost(self):
            told = [(lease, list(lease._listeners)) for lease in self.holders]
            super().be_lost()
            for lease, listeners in told:
                lease._listeners = listeners
                lease.closed_under_it()

    white_box = pool_with(connection)


@breaks(OWN_RELEASE_TELLS_NOBODY)
class EveryCloseIsAnnounced(Client):
    """The close of the last release is announced like any other."""

    class connection(PooledConnection):
        def give_back(self, lease):
            super().give_back(lease)
            if not self.holders:
                lease.closed_under_it()

    class lease(Lease):
        async def release(self):
            if not self.released:
                self.released = True
                self._connection.give_back(self)
            await self._connection.left()

    white_box = pool_with(connection, lease)


@breaks(OWN_RELEASE_TELLS_NOBODY)
class ReleasedOnesAreToldToo(Client):
    """A lease that was released before the connection died is told with the others."""

    class connection(PooledConnection):
        def give_back(self, lease):
            self.__dict__.setdefault("ever", []).append((lease, list(lease._listeners)))
            super().give_back(lease)

        def be_lost(self):
            super().be_lost()
            for lease, listeners in self.__dict__.get("ever", ()):
                for listener in listeners if self.lost else ():
                    lease.tell(listener)

    white_box = pool_with(connection)


@breaks(DEAD_CONNECTION_IS_NOT_LEASED)
class DeadConnectionIsLeased(Client):
    """Whether a connection lives is seen a minute later."""

    class connection(PooledConnection):
        @property
        def usable(self):
            return self._opened and not self._leave.is_set()

        async def watch(self):
            await self._closed.wait()
            for lease in list(self.holders):
                lease.closed_under_it()
            await anyio.sleep(60)
            self.be_lost()

    white_box = pool_with(connection)


@breaks(DEAD_CONNECTION_IS_NOT_LEASED)
class DeathIsSeenInTheNextTurn(Client):
    """A connection is leased until the task that watches it has run."""

    class connection(PooledConnection):
        @property
        def usable(self):
            return self._opened and not self._leave.is_set()

    white_box = pool_with(connection)


@breaks(RELEASE_AFTER_THE_DEATH_IS_NOTHING)
class LateReleaseClosesTheNext(Client):
    """The last release of a dead connection closes whatever the key has now."""

    class connection(PooledConnection):
        def give_back(self, lease):
            super().give_back(lease)
            if self.lost and not self.holders and self.key in self._pool._current:
                self._pool._current[self.key].leave()

    white_box = pool_with(connection)


@breaks(LISTENERS_STAND_ALONE)
class FirstFaultStopsAll(Client):
    """What a listener raises comes out where the listeners are called."""

    class connection(PooledConnection):
        def be_lost(self):
            try:
                super().be_lost()
            except Exception:
                return

    class lease(Lease):
        def tell(self, listener):
            listener()

    white_box = pool_with(connection, lease)


@breaks(LISTENERS_STAND_ALONE)
class LateListenersLearnNothing(Client):
    """A listener that is registered after the close is kept, and never called."""

    class lease(Lease):
        def on_close(self, listener):
            self._listeners.append(listener)

    white_box = pool_with(lease=lease)


@breaks(CANCELLED_WAITER_LEAVES_ALONE)
class DialIsTheFirstLegs(Client):
    """The dial ends with the leg that began it."""

    class connection(PooledConnection):
        async def join(self):
            first = not self._waiting
            try:
                return await super().join()
            except BaseException:
                if first and not self._settled.is_set():
                    self._error = RuntimeError("the dial was cancelled")
                    self.leave()
                raise

    white_box = pool_with(connection)


@breaks(CANCELLED_WAITER_LEAVES_ALONE)
class DialledForNobody(Client):
    """A dial for which nobody waits any more goes on, and its connection stays."""

    class connection(PooledConnection):
        def leave_if_unheld(self):
            if self.holders or self.__dict__.setdefault("held", False):
                super().leave_if_unheld()

        def lease(self):
            self.held = True
            return super().lease()

    white_box = pool_with(connection)


@breaks(LIVE_COUNTS_OPEN_CONNECTIONS)
class LiveCountsKeys(Client):
    """Live is the number of keys that have a connection."""

    class pool(ConnectionPool):
        @property
        def live(self):
            return len(self._current)

    white_box = WhiteBox(pool=pool)


@breaks(LIVE_COUNTS_OPEN_CONNECTIONS)
class LiveCountsDials(Client):
    """Live counts what is being dialled as well."""

    class pool(ConnectionPool):
        @property
        def live(self):
            return len(self._all)

    white_box = WhiteBox(pool=pool)


@breaks(LIVE_COUNTS_OPEN_CONNECTIONS)
class LiveCountsHolds(Client):
    """Live is the number of leases."""

    class pool(ConnectionPool):
        @property
        def live(self):
            return sum(len(connection.holders) for connection in self._all)

    white_box = WhiteBox(pool=pool)


def key_with_elicitation(declaration, *rest):
    """Elicitation is no field of the key, and does not keep a server out of the pool."""
    read = read_declaration({**declaration, "elicitation": False})
    return key_of(read, *rest)


@breaks(ELICITATION_IS_NEVER_POOLED)
class ElicitationIsPooled(Client):
    """A server that asks questions is leased like any other."""

    white_box = WhiteBox(key_of=key_with_elicitation)


@breaks(ONLY_THE_CONNECTION_IS_SHARED)
class ReleasedClientWorksOn(Client):
    """The client of a lease is the connection's, whether or not the lease is held."""

    class lease(Lease):
        @property
        def client(self):
            return self._connection.client

    white_box = pool_with(lease=lease)


@breaks(ONLY_THE_CONNECTION_IS_SHARED)
class AnnouncersOutliveTheLease(Client):
    """Listeners hang on the connection, whoever registered them."""

    class lease(Lease):
        def on_close(self, listener):
            if self.released:
                next(iter(self._connection.holders)).on_close(listener)
            else:
                super().on_close(listener)

    white_box = pool_with(lease=lease)


@breaks(DISPOSE_ALWAYS_RELEASES)
class ReleasedOnSuccessOnly(Client):
    """A leg that fails keeps its hold."""

    class lease(Lease):
        async def __aexit__(self, *exc):
            if exc[0] is None:
                await self.release()

    white_box = pool_with(lease=lease)


@breaks(DISPOSE_ALWAYS_RELEASES)
class ReleasedUnlessCancelled(Client):
    """A leg that is cancelled, or left in the middle, keeps its hold."""

    class lease(Lease):
        async def __aexit__(self, kind, *exc):
            if kind is None or issubclass(kind, Exception):
                await self.release()

    white_box = pool_with(lease=lease)


REGISTER: dict[int, object] = {}
"""The handles of a pool that keeps them."""


@breaks(NO_HANDLE_OUTLIVES_THE_RUN)
class ConnectionsAreRegistered(Client):
    """Every client that was dialled is in a table of the module."""

    class connection(PooledConnection):
        def be_open(self, client):
            REGISTER[len(REGISTER)] = client
            super().be_open(client)

    white_box = pool_with(connection)


def revive(number):
    """The lease of a handle that was put on record."""
    return REGISTER.pop(number)


@breaks(NO_HANDLE_OUTLIVES_THE_RUN)
class HandleIsPersisted(Client):
    """What is put on record of a lease is a handle, by which it is found again."""

    class lease(Lease):
        def __reduce__(self):
            REGISTER[id(self)] = self
            return revive, (id(self),)

    white_box = pool_with(lease=lease)


@breaks(NO_DIAL_IS_MADE_UNASKED)
class FailedDialIsTriedAgain(Client):
    """A dial that failed is tried once more before anybody is told."""

    class connection(PooledConnection):
        async def live(self):
            try:
                await super().live()
            except Exception:
                if self._opened:
                    raise
                await super().live()

    white_box = pool_with(connection)


@breaks(NO_DIAL_IS_MADE_UNASKED)
class DeadConnectionIsReplaced(Client):
    """A connection that died is dialled again at once, for whoever may come."""

    class connection(PooledConnection):
        def be_lost(self):
            if not self._leave.is_set() and not self._pool.shut:
                self._pool.dial_new(self.key, self._dial, False)._waiting += 1
            super().be_lost()

    white_box = pool_with(connection)
