"""One connection of a pool, from the dial to its end, owned by one task.

An SDK session is bound to the task that entered it. So a task of the pool's own enters what the dial gives,
waits, and leaves it; whoever asked for the connection only waits, and may be cancelled without harm.

Source: the seed mcp-connection-pool.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import anyio

from mcp_conformance_reference.errors import ConnectionLost
from mcp_conformance_reference.leases import Lease, ListingRecords
from mcp_conformance_reference.tasks import spawn

__all__ = ["Dial", "Pool", "PooledConnection"]

Dial = Callable[[], AbstractAsyncContextManager[Any]]
"""Opens one connection: a context manager that gives a client, and closes the connection when it is left.

The client may have an event `closed`, with `is_set()` and `wait()`, which is set when the connection closes.
Without one, a connection counts as open until it is released or its context manager breaks.
"""

_log = logging.getLogger(__name__)


class Pool(Protocol):
    """What a connection needs to know of its pool."""

    @property
    def shut(self) -> bool:
        """Whether no lease is granted any more."""

    def opened(self, connection: PooledConnection) -> None:
        """The dial has succeeded."""

    def forget(self, connection: PooledConnection) -> None:
        """It is not to be leased any more."""

    def ended(self, connection: PooledConnection) -> None:
        """It is left, or its dial has failed."""


class PooledConnection:
    """One dial and the connection that comes of it.

    Args:
        key: What it is leased under.
        dial: Opens it.
        pool: Told of its life.
        close_limit: How long its close may take in good order, in seconds; then it is cancelled.
        fresh: Whether it was asked for although there was another one.

    Attributes:
        key: What it is leased under.
        fresh: Whether whoever asks for a fresh connection may wait for this dial.
        client: What the dial gave, None before it did.
        records: The listings made on it.
        holders: The leases out on it, oldest first.
        lost: True once it was seen closed.
    """

    lease_type: type[Lease] = Lease
    records_type: type[ListingRecords] = ListingRecords

    def __init__(self, key: Hashable, dial: Dial, pool: Pool, close_limit: float, fresh: bool) -> None:
        self.key = key
        self.fresh = fresh
        self.client: Any = None
        self.records = self.records_type()
        self.holders: dict[Lease, None] = {}
        self.lost = False
        self._dial = dial
        self._pool = pool
        self._close_limit = close_limit
        self._waiting = 0
        self._error: Exception | None = None
        self._closed: Any = None
        self._opened = False
        self._settled = anyio.Event()
        self._leave = anyio.Event()
        self._finished = anyio.Event()
        self._scope = anyio.CancelScope()

    # -- for everybody -------------------------------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Whether it may be leased. Nobody asks this of one that is being left: its pool has forgotten it."""
        return self.open

    @property
    def open(self) -> bool:
        """Whether it is open."""
        hung_up = self._closed is not None and self._closed.is_set()
        return self._opened and not self.lost and not hung_up and not self._finished.is_set()

    def start(self) -> None:
        """Dial."""
        spawn(self._own, f"mcp pool connection {self.key!s:.16}")

    async def join(self) -> Lease | None:
        """Wait for the dial, and hold what comes of it.

        Returns:
            A lease; None when the pool was closed meanwhile.

        Raises:
            Exception: What the dial raised, the same for everybody who waits for it.
            ConnectionLost: It was closed as soon as it was open.
        """
        self._waiting += 1
        try:
            await self._settled.wait()
            return self.outcome()
        finally:
            self._waiting -= 1
            self.leave_if_unheld()

    def outcome(self) -> Lease | None:
        """What one who waited for the dial gets; see `join`."""
        if self._pool.shut:
            return None
        if self._error is not None:
            raise self._error
        if not self.usable:
            raise ConnectionLost("the connection was closed as soon as it was open; acquire again to dial")
        return self.lease()

    def lease(self) -> Lease:
        """One more hold."""
        lease = self.lease_type(self)
        self.holders[lease] = None
        return lease

    def give_back(self, lease: Lease) -> None:
        """One hold less. Without holds, and with nobody who waits for one, the connection is left."""
        self.holders.pop(lease, None)
        self.records.leave(lease)
        self.leave_if_unheld()

    def leave_if_unheld(self) -> None:
        """Leave what nobody holds or waits for."""
        if not self.holders and not self._waiting:
            self.leave()

    def leave(self) -> None:
        """Leave it, and have nobody lease it from now on. A dial that is still under way is given up."""
        self._pool.forget(self)
        self._leave.set()
        if not self._opened:
            self._scope.cancel()

    def refuse(self) -> None:
        """The pool is closed: a dial that is still under way is given up, and whoever waits gets nothing."""
        if not self._opened:
            self.leave()
            self._settled.set()

    async def left(self) -> None:
        """Wait for the close, if it has begun; at most twice as long as it may take in good order."""
        if self._leave.is_set():
            with anyio.move_on_after(2 * self._close_limit):
                await self._finished.wait()

    # -- in the owner task ---------------------------------------------------------------------------------

    async def _own(self) -> None:
        try:
            with self._scope:
                await self.live()
        except Exception as error:
            self._error = error
            if self._opened:
                _log.warning("a pooled connection did not close in good order: %r", error)
        finally:
            self.leave()
            self._finished.set()
            self._settled.set()
            self._pool.ended(self)

    async def live(self) -> None:
        """Enter what the dial gives, wait for the end, and leave it."""
        async with self._dial() as client:
            self.be_open(client)
            try:
                await self.stay()
            except BaseException:  # the transport broke: it cancels whoever is inside, and says later why
                self.be_lost()
                raise
            self._scope.deadline = anyio.current_time() + self._close_limit

    def be_open(self, client: Any) -> None:
        """The dial has succeeded."""
        self.client = client
        self._closed = self.closed_event(client)
        self._opened = True
        self._pool.opened(self)
        self._settled.set()

    def closed_event(self, client: Any) -> Any:
        """The event by which a client says that its connection closed, None where it has none."""
        event = getattr(client, "closed", None)
        return event if hasattr(event, "wait") and hasattr(event, "is_set") else None

    async def stay(self) -> None:
        """Wait until it is to be left, or has closed."""
        async with anyio.create_task_group() as group:
            if self._closed is not None:
                group.start_soon(self.watch)
            await self._leave.wait()
            group.cancel_scope.cancel()

    async def watch(self) -> None:
        """Wait until it has closed."""
        await self._closed.wait()
        self.be_lost()

    def be_lost(self) -> None:
        """It has closed: whoever holds it is told. After a close of our own nobody does."""
        self.lost = True
        self.leave()
        for lease in list(self.holders):
            lease.closed_under_it()
