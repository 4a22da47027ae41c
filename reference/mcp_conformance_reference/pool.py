"""One connection a key, shared by whoever leases it.

```text
             acquire                 dial succeeds             last release, or it closed
 (nothing) ----------> dialling key --------------> current key -------------------------> (nothing)
                          |  detach, fresh             |  detach, fresh
                          v                            v
                       serves who waits, and       stays open for its holders, and
                       publishes nothing           nobody else gets it
```

Only the connection is shared. What a leg binds to itself, its tools and listeners, hangs on its lease.

Source: the seed mcp-connection-pool.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NoReturn

from mcp_conformance_reference.leases import Lease
from mcp_conformance_reference.pooled import Dial, PooledConnection

__all__ = ["ConnectionPool"]


class ConnectionPool:
    """The connections of one run. It holds none that nobody leases.

    Args:
        close_limit: How long the close of a connection may take in good order, in seconds.

    Attributes:
        shut: True once it was closed.
    """

    connection_type: type[PooledConnection] = PooledConnection

    def __init__(self, close_limit: float = 5.0) -> None:
        self.shut = False
        self._close_limit = close_limit
        self._all: set[PooledConnection] = set()
        self._current: dict[Hashable, PooledConnection] = {}
        self._dialling: dict[Hashable, PooledConnection] = {}

    @property
    def live(self) -> int:
        """How many connections are open now, whether or not the next lease would get them."""
        return sum(connection.open for connection in self._all)

    async def acquire(self, key: Hashable | None, dial: Dial, *, fresh: bool = False) -> Lease | None:
        """Lease the connection of `key`, dialled by this call or by whoever asked first.

        Args:
            key: What two declarations of one connection have in common; see `key_of`. None for a server that
                must not be shared.
            dial: Opens a connection; called at most once, and only if none is open or being dialled.
            fresh: Do not take the connection that is there, and let nobody else take it: dial a new one. A
                fresh dial that is under way is shared.

        Returns:
            A lease. None without a key and after `close()`: then the caller dials for itself.

        Raises:
            Exception: What the dial raised, the same for everybody who waited for it. The next call dials.
            ConnectionLost: The connection was closed as soon as it was open. The next call dials.
        """
        if self.shut or key is None:
            return None
        if not fresh:
            current = self._current.get(key)
            if current is not None and current.usable:
                return current.lease()
        return await self.dial_of(key, dial, fresh).join()

    def detach(self, key: Hashable) -> None:
        """Have the next lease of `key` dial. Leases that are out, and those who wait for one, keep theirs."""
        self._current.pop(key, None)
        self._dialling.pop(key, None)

    def close(self) -> None:
        """Grant no lease from now on. Dials under way are given up; what is leased stays open."""
        self.shut = True
        for connection in list(self._all):
            connection.refuse()

    def dial_of(self, key: Hashable, dial: Dial, fresh: bool) -> PooledConnection:
        """The dial under way that this request may share, or a new one."""
        under_way = self._dialling.get(key)
        if under_way is not None and (under_way.fresh or not fresh):
            return under_way
        return self.dial_new(key, dial, fresh)

    def dial_new(self, key: Hashable, dial: Dial, fresh: bool) -> PooledConnection:
        """Begin a dial that takes the place of whatever the key had."""
        self.detach(key)
        connection = self.connection_type(key, dial, self, self._close_limit, fresh)
        self._all.add(connection)
        self._dialling[key] = connection
        connection.start()
        return connection

    # -- told by the connections ---------------------------------------------------------------------------

    def opened(self, connection: PooledConnection) -> None:
        """A dial has succeeded: publish what came of it, unless it was detached or replaced meanwhile."""
        if self._dialling.get(connection.key) is connection:
            del self._dialling[connection.key]
            self._current[connection.key] = connection

    def forget(self, connection: PooledConnection) -> None:
        """A connection is not to be leased any more; one that took its place is."""
        for table in (self._current, self._dialling):
            if table.get(connection.key) is connection:
                del table[connection.key]

    def ended(self, connection: PooledConnection) -> None:
        """A connection is left."""
        self._all.discard(connection)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pool is no record of its connections: keep the declarations, and dial by them")
