"""Wrong wrappers of CONN."""

from __future__ import annotations

import asyncio

import anyio
from mcp_conformance_reference.dialler import Dialler
from mcp_conformance_reference.errors import ConnectionLost, DialFailed
from mcp_conformance_reference.exchange import Exchange
from mcp_conformance_reference.tasks import Shared

from pytest_mcp_conformance.contract.connections import (
    BROKEN_CONNECTION_IS_NOT_USED_AGAIN,
    CLOSE_ENDS_EVERYTHING_IT_OPENED,
    CONCURRENT_FIRST_USE_IS_ONE_DIAL,
    DEAD_CONNECTION_ENDS_ITS_CALLS,
    FAILED_DIAL_IS_NOT_REMEMBERED,
    OPERATIONS_SHARE_ONE_SESSION,
    WHAT_IS_HELD_OPEN_STAYS_BOUNDED,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(CONCURRENT_FIRST_USE_IS_ONE_DIAL, lazy=True)
class EachUserDials(Client):
    """Whoever finds no connection dials; the last one wins."""

    class dialler_type(Dialler):
        def shared_dial(self):
            dial = Shared(self.dial, "mcp dial")
            dial.start()
            return dial

        async def replace(self, connection):
            self.connection = connection


@breaks(FAILED_DIAL_IS_NOT_REMEMBERED, lazy=True)
class FailedDialIsRemembered(Client):
    """The outcome of the first dial is kept, whatever it was."""

    class dialler_type(Dialler):
        def shared_dial(self):
            if self._dialling is None:
                return super().shared_dial()
            return self._dialling


@breaks(FAILED_DIAL_IS_NOT_REMEMBERED)
class FailedServerIsRemembered(Client):
    """A server that could not be reached once is not tried again, by any client."""

    async def connect(self):
        if "failed" in self.shared:
            raise DialFailed("the server is down; see to it")
        try:
            await super().connect()
        except DialFailed:
            self.shared["failed"] = True
            raise


@breaks(BROKEN_CONNECTION_IS_NOT_USED_AGAIN)
class DeadConnectionIsUsedAgain(Client):
    """Whether a connection lives is not asked."""

    class dialler_type(Dialler):
        def usable(self, connection):
            return True


@breaks(DEAD_CONNECTION_ENDS_ITS_CALLS)
class NobodyIsTold(Client):
    """A call whose connection has died goes on waiting."""

    class exchange_type(Exchange):
        async def ask(self, method, params):
            try:
                return await super().ask(method, params)
            except ConnectionLost:
                await anyio.sleep_forever()


@breaks(CLOSE_ENDS_EVERYTHING_IT_OPENED)
class CloseLeavesTheConnection(Client):
    """Close ends the calls, and keeps the connection for later."""

    class dialler_type(Dialler):
        def refuse(self, why):
            self.refused = why

        async def close(self, why):
            pass


@breaks(CLOSE_ENDS_EVERYTHING_IT_OPENED)
class CloseLeavesATask(Client):
    """A task of the client's own outlives its close."""

    async def close(self):
        self.shared.setdefault("left", []).append(
            asyncio.create_task(asyncio.sleep(86_400), name="health check")
        )
        await super().close()


@breaks(OPERATIONS_SHARE_ONE_SESSION)
class ConnectionForEachCall(Client):
    """Every call has a connection of its own."""

    async def call_tool(self, tool, arguments=None, **more):
        await self.reconnect()
        return await super().call_tool(tool, arguments, **more)


@breaks(OPERATIONS_SHARE_ONE_SESSION)
class HealthByConnecting(Client):
    """Whether the server is well is seen by connecting anew before each listing."""

    async def list_tools(self):
        await self.reconnect()
        return await super().list_tools()


@breaks(WHAT_IS_HELD_OPEN_STAYS_BOUNDED)
class SessionsAreNeverEvicted(Client):
    """The connection of a principal is kept for when it comes back, whoever else comes."""

    async def close(self):
        self.shared.setdefault(self.dial.principal, self)


@breaks(WHAT_IS_HELD_OPEN_STAYS_BOUNDED)
class GivenUpCallLeavesATask(Client):
    """A call that is given up is still waited for, in a task of its own."""

    async def call_tool(self, tool, arguments=None, **more):
        try:
            return await super().call_tool(tool, arguments, **more)
        except (asyncio.CancelledError, TimeoutError):
            self.__dict__.setdefault("late", []).append(asyncio.ensure_future(asyncio.Event().wait()))
            raise

    async def close(self):
        for task in self.__dict__.get("late", ()):
            task.cancel()
        await super().close()
