"""The legs of one run: their dials to the scripted server, counted, and what a pool leases them.

What a pool is given as a dial is a plain function. It gives an async context manager, which the pool enters
and leaves in one task, as an SDK session asks for, and which gives a `ScriptedClient`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import anyio

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import VerbFailed
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.connection import Connection

__all__ = ["Legs", "ScriptedClient", "legs_of"]


class ScriptedClient:
    """What a dial gives: an SDK session over memory, past its handshake.

    Attributes:
        closed: The event by which a pool learns that the connection closed, whoever closed it.
        connection: The connection at the server.
        number: Its number there.
        breaks: Once it is set, a task of the transport's raises, as when a cable is pulled.
    """

    def __init__(self, session: Any, connection: Connection, closed: anyio.Event) -> None:
        self.closed = closed
        self.connection = connection
        self.number = connection.number
        self.breaks = anyio.Event()
        self._session = session

    async def ask(self) -> int:
        """Ask the server something, and say on which connection it arrived."""
        mark = self.connection.server.ledger.mark
        await self._session.send_ping()
        return self.connection.server.ledger.frames("ping", since=mark)[0].connection


class Legs:
    """One pool, and the legs that lease from it.

    Attributes:
        pool: The pool.
        dials: How many dials the pool began.
        clients: What the dials gave, in order.
        failing: What the next dials raise, once `waits` is set where it is given; None while they succeed.
        waits: Holds up dials that fail.
        closing: Holds up every close while it is given and not set.
        close_raises: What every close raises, None for nothing.
        as_it_opens: Called when a dial has succeeded, and nobody knows it yet.
        stubborn: Dials take no notice of being cancelled.
    """

    def __init__(self, server: ScriptedServer, pool: Any) -> None:
        self.server = server
        self.pool = pool
        self.dials = 0
        self.clients: list[ScriptedClient] = []
        self.failing: Exception | None = None
        self.waits: anyio.Event | None = None
        self.closing: anyio.Event | None = None
        self.close_raises: Exception | None = None
        self.as_it_opens: Callable[[], None] = lambda: None
        self.stubborn = False
        self._connections: list[Connection] = []
        self._leases: list[Any] = []

    def start(self, key: Any = "k", *, principal: str | None = None, **how: Any) -> Pending[Any]:
        """Begin to lease the connection of `key`."""
        return Pending(self._acquire(key, principal, how), "acquire")

    async def lease(self, key: Any = "k", *, principal: str | None = None, **how: Any) -> Any:
        """Lease the connection of `key`.

        Raises:
            VerbFailed: The pool raised, or did not answer.
        """
        return await self.start(key, principal=principal, **how).result()

    async def lease_in_this_step(self, key: Any = "k") -> Any:
        """Lease the connection of `key` without a turn of the loop between, for what is known already.

        Raises:
            VerbFailed: The pool raised.
        """
        try:
            return await self._acquire(key, None, {})
        except Exception as raised:
            raise VerbFailed(f"acquire raised {describe(raised)}") from raised

    def start_release(self, lease: Any) -> Pending[None]:
        """Begin to give a lease back."""
        return Pending(lease.release(), "release")

    async def release(self, *leases: Any) -> None:
        """Give leases back, one after the other, and let what follows from it happen.

        Raises:
            VerbFailed: A release raised, or did not end.
        """
        for lease in leases:
            await self.start_release(lease).result()
        await self.server.settle()

    async def reaches(self, lease: Any) -> int:
        """The number of the connection on which a lease's client reaches the server.

        Raises:
            VerbFailed: It does not.
        """
        return await Pending(_ask(lease), "a request on the lease").result()

    def connection(self, lease: Any) -> Connection:
        """The connection that a lease holds, as the server sees it.

        Raises:
            VerbFailed: The lease has no client of these dials.
        """
        try:
            client = lease.client
        except Exception as raised:
            raise VerbFailed(f"the client of a lease raised {describe(raised)}") from raised
        if not isinstance(client, ScriptedClient):
            raise VerbFailed(f"the lease gives {client!r} as its client, not what the dial gave")
        return client.connection

    @property
    def open(self) -> list[int]:
        """The numbers of the connections that dials opened, ended or not, and that are open now."""
        return [connection.number for connection in self._connections if connection.open]

    @asynccontextmanager
    async def dial(self, principal: str | None = None) -> AsyncIterator[ScriptedClient]:
        """One dial."""
        from mcp import ClientSession  # heavy

        self.dials += 1
        if self.failing is not None:
            failing = self.failing
            if self.waits is not None:
                await self.waits.wait()
            raise failing
        closed = anyio.Event()
        with anyio.CancelScope(shield=self.stubborn) as scope:
            async with self.server.dial(principal).streams() as (read, write):
                connection = self.server.connections[-1]
                self._connections.append(connection)
                with self._watching(connection, closed):
                    async with anyio.create_task_group() as group, ClientSession(read, write) as session:
                        await session.initialize()
                        scope.shield = False
                        client = ScriptedClient(session, connection, closed)
                        self.clients.append(client)
                        group.start_soon(_break, client)
                        self.as_it_opens()
                        yield client
                        if self.closing is not None:
                            await self.closing.wait()
                        group.cancel_scope.cancel()
        closed.set()
        if self.close_raises is not None:
            raise self.close_raises

    @contextmanager
    def _watching(self, connection: Connection, closed: anyio.Event) -> Iterator[None]:
        """Set `closed` in the step in which the server hangs up."""

        def look() -> None:
            if not connection.open:
                closed.set()

        unwatch = self.server.history.watch(look)
        try:
            yield
        finally:
            unwatch()

    async def end(self) -> None:
        """Give back what is still out, and hang up on what nobody closed."""
        self.close_raises = None
        if self.closing is not None:
            self.closing.set()
        for lease in self._leases:
            releasing = self.start_release(lease)
            if not await releasing.ended():
                await releasing.cancel()
        self.pool.close()
        for connection in self._connections:
            connection.drop()

    async def _acquire(self, key: Any, principal: str | None, how: dict[str, Any]) -> Any:
        def dial() -> AbstractAsyncContextManager[ScriptedClient]:
            return self.dial(principal)

        lease = await self.pool.acquire(key, dial, **how)
        if lease is not None:
            self._leases.append(lease)
        return lease


@asynccontextmanager
async def legs_of(wrapper: Holder, server: ScriptedServer) -> AsyncIterator[Legs]:
    """The legs of a pool of the wrapper's; at the end of the block nothing of theirs is open.

    Raises:
        NotClaimed: The wrapper hands out no pool.
    """
    legs = Legs(server, wrapper.part("pool")())
    try:
        yield legs
    finally:
        await legs.end()
        await asyncio.sleep(0)


async def _break(client: ScriptedClient) -> None:
    await client.breaks.wait()
    raise OSError("the transport broke")


async def _ask(lease: Any) -> int:
    reached: int = await lease.client.ask()
    return reached
