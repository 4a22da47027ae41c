"""Wrong wrappers of CONN that dial wrongly."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.errors import ClientError, DialFailed, ListFailed
from mcp_conformance_reference.tasks import Shared

from pytest_mcp_conformance.contract.connections import (
    CANCELLED_DIAL_LEAVES_NOTHING_OPEN,
    FAILED_CONNECT_LEAVES_NOTHING_OPEN,
    FAILED_DIAL_RAISES_PROMPTLY,
    SECOND_CONNECT_LEAVES_ONE_LIVE,
    USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(FAILED_DIAL_RAISES_PROMPTLY)
class ReadinessIsNeverTold(Client):
    """Whoever waits for the connection is told of its success alone."""

    async def connect(self):
        try:
            await super().connect()
        except DialFailed:
            await anyio.sleep_forever()


@breaks(FAILED_DIAL_RAISES_PROMPTLY)
class ConnectedWithoutTools(Client):
    """A server that cannot be used is one without tools."""

    async def connect(self):
        try:
            await super().connect()
        except DialFailed:
            self.failed = True

    async def list_tools(self):
        try:
            return [] if "failed" in self.__dict__ else await super().list_tools()
        except ListFailed:
            return []


@breaks(FAILED_DIAL_RAISES_PROMPTLY)
class FailureIsACancellation(Client):
    """A dial that fails cancels whoever dials."""

    async def connect(self):
        try:
            await super().connect()
        except DialFailed:
            raise asyncio.CancelledError from None


@breaks(FAILED_DIAL_RAISES_PROMPTLY)
class FailureHasNoCause(Client):
    """A dial fails, and that is all that one is told."""

    async def connect(self):
        try:
            await super().connect()
        except DialFailed:
            raise RuntimeError("could not initialize") from None


@breaks(FAILED_DIAL_RAISES_PROMPTLY, lazy=True, own_timeout=None)
class WaitersHearOfSuccessAlone(Client):
    """The first verb dials, and the others wait without a limit for an event that is set when it succeeds."""

    def enter(self):
        self._settings = replace(self._settings, timeout=None)

    class dialler_type(Dialler):
        dialled = None

        async def connected(self):
            if self.connection is not None and self.usable(self.connection):
                return self.connection
            if self.dialled is not None:
                await self.dialled.wait()
                return self.connection
            self.dialled = anyio.Event()
            connection = await super().connected()
            self.dialled.set()
            self.dialled = None
            return connection


@breaks(FAILED_DIAL_RAISES_PROMPTLY)
class WaitersAreCancelled(Client):
    """Whoever waits for a dial that another verb began is cancelled when it fails."""

    class dialler_type(Dialler):
        waiters = 0

        async def connected(self):
            self.waiters += 1
            first = self.waiters == 1
            try:
                return await super().connected()
            except DialFailed:
                if first:
                    raise
                raise asyncio.CancelledError from None
            finally:
                self.waiters -= 1


@breaks(FAILED_CONNECT_LEAVES_NOTHING_OPEN)
class FailedDialStaysOpen(Client):
    """What was opened for a dial is left when the dial has succeeded, and else not."""

    def enter(self):
        streams, left = self.open_streams, self.shared.setdefault("left", [])

        @asynccontextmanager
        async def leaky():
            context = streams()
            pair = await context.__aenter__()
            left.append(context)
            yield pair
            left.remove(context)
            await context.__aexit__(None, None, None)

        self.open_streams = leaky


@breaks(FAILED_CONNECT_LEAVES_NOTHING_OPEN)
class FailedFirstListStaysOpen(Client):
    """To connect is to list as well; where that fails, the connection is forgotten."""

    failed = False

    async def connect(self):
        await super().connect()
        try:
            await self.list_tools()
        except ClientError:
            self.failed = True
            raise

    async def close(self):
        if not self.failed:
            await super().close()


@breaks(CANCELLED_DIAL_LEAVES_NOTHING_OPEN)
class GivenUpDialGoesOn(Client):
    """A dial has a task of its own, which nobody ends when its user gives up."""

    connecting = None

    async def connect(self):
        self.connecting = asyncio.ensure_future(super().connect())
        await asyncio.shield(self.connecting)

    async def close(self):
        if self.connecting is None or self.connecting.done():
            await super().close()


@breaks(CANCELLED_DIAL_LEAVES_NOTHING_OPEN)
class OneGivesUpForAll(Client):
    """Whoever gives up a dial ends it for everybody who waits for it."""

    class dialler_type(Dialler):
        async def connected(self):
            try:
                return await super().connected()
            except asyncio.CancelledError:
                self._dialling.fail(RuntimeError("the dial was cancelled"))
                raise


@breaks(SECOND_CONNECT_LEAVES_ONE_LIVE)
class OldConnectionIsForgotten(Client):
    """A new connection takes the place of the old one, which nobody closes."""

    class dialler_type(Dialler):
        async def replace(self, connection):
            self.__dict__.setdefault("old", []).append(self.connection)
            self.connection = connection

        async def close(self, why):
            await super().close(why)
            for connection in filter(None, self.__dict__.get("old", [])):
                await connection.close(why)


@breaks(SECOND_CONNECT_LEAVES_ONE_LIVE, redials=False)
class ClosesBeforeItDials(Client):
    """To connect anew the old connection is closed first; a dead one is not replaced."""

    class dialler_type(Dialler):
        async def connected(self):
            if self.connection is not None:
                return self.connection
            return await super().connected()

        async def reconnect(self):
            await self.connection.close(ConnectionError("closed to connect anew"))
            return await super().reconnect()


@breaks(USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL)
class EachUserRedials(Client):
    """Whoever finds the connection dead dials; the last one wins."""

    class dialler_type(Dialler):
        def shared_dial(self):
            dial = Shared(self.dial, "mcp dial")
            dial.start()
            return dial


@breaks(USERS_OF_A_DEAD_CONNECTION_SHARE_ONE_REDIAL)
class TwoLocks(Client):
    """Listings and calls take two locks around a re-dial, in opposite order."""

    def enter(self):
        self.of_tools, self.of_connection = asyncio.Lock(), asyncio.Lock()

    async def list_tools(self):
        async with self.both(self.of_tools, self.of_connection):
            return await super().list_tools()

    async def call_tool(self, tool, arguments=None, **more):
        async with self.both(self.of_connection, self.of_tools):
            return await super().call_tool(tool, arguments, **more)

    @asynccontextmanager
    async def both(self, first, second):
        if self.connected:
            yield
            return
        async with first:
            await asyncio.sleep(0)
            async with second:
                yield
