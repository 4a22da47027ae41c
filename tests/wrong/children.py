"""Wrong wrappers of CONN, TEN and NTC that treat their children wrongly."""

from __future__ import annotations

import anyio
from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.subscription import Subscription

from pytest_mcp_conformance.contract.connections import CLOSE_IS_BOUNDED
from pytest_mcp_conformance.contract.notices import STDIO_RECONNECT_LISTENS_AGAIN
from pytest_mcp_conformance.contract.tenants import STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN
from tests.wrong._child import child_streams
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


class OwnTransport(Client):
    """Over stdio it has a transport of its own."""

    def enter(self):
        if self.dial.transport == "stdio":
            self.open_streams = lambda: child_streams(self.dial.command, self.end)

    async def end(self, process):
        """End a child whose stdin is closed."""


@breaks(CLOSE_IS_BOUNDED)
class WaitsForItsChild(OwnTransport):
    """The child is waited for, however long it takes."""

    class connection_type(Connection):
        async def close(self, why):
            self.end(why)
            await self.finished.wait()

    async def end(self, process):
        await process.wait()


@breaks(CLOSE_IS_BOUNDED)
class TerminatesAndNeverKills(OwnTransport):
    """A child that does not end by itself is terminated, and waited for."""

    async def end(self, process):
        with anyio.move_on_after(2):
            await process.wait()
        if process.returncode is None:
            process.terminate()
            await process.wait()


@breaks(CLOSE_IS_BOUNDED)
class GivesUpOnItsChild(OwnTransport):
    """After two seconds the child is waited for no longer, and lives on."""

    async def end(self, process):
        with anyio.move_on_after(2):
            await process.wait()


@breaks(STDIO_RECONNECT_LISTENS_AGAIN)
class OnlyTheFirstChildIsListenedTo(Client):
    """The stream is asked for at set-up, and trusted ever after."""

    listened = False

    def subscription_type(self, *parts):
        class Once(Subscription):
            async def begin(once):
                self.listened, listened = True, self.listened
                if listened:
                    once._watched = "as before"
                else:
                    await super().begin()

        return Once(*parts)


@breaks(STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN)
class FirstCommandForAll(Client):
    """Children are started as the first principal said."""

    def enter(self):
        self.open_streams = self.shared.setdefault("streams", self.open_streams)


@breaks(STDIO_PRINCIPALS_GET_THEIR_OWN_CHILDREN)
class OneChildForAll(Client):
    """One child serves everybody."""

    async def connect(self):
        if self.shared.setdefault("first", self) is self:
            await super().connect()

    async def list_tools(self):
        first = self.shared["first"]
        return await (super().list_tools() if first is self else first.list_tools())

    async def call_tool(self, tool, arguments=None, **more):
        first = self.shared["first"]
        calls = super().call_tool if first is self else first.call_tool
        return await calls(tool, arguments, **more)
