"""Wrong wrappers that hold several servers in one object, and open, keep or close them wrongly."""

from __future__ import annotations

import asyncio

from mcp_conformance_reference.errors import ClientError
from mcp_conformance_reference.several import SeveralClients

from pytest_mcp_conformance.contract.connections import (
    CLOSE_AND_CONNECT_DO_NOT_OVERLAP,
    FAILED_DIAL_RAISES_PROMPTLY,
    ONE_FAILED_SERVER_LEAVES_NOTHING_OPEN,
    OPERATIONS_SHARE_ONE_SESSION,
    SAID_TO_BE_CONNECTED_IS_CONNECTED,
)
from tests.wrong._together import Together
from tests.wrong._wrong import breaks


@breaks(ONE_FAILED_SERVER_LEAVES_NOTHING_OPEN)
class OnlyTheFailingOneIsDropped(Together):
    """When one of several servers fails, those that did connect stay open."""

    class kind(SeveralClients):
        async def __aenter__(self):
            await self.connect()
            return self


@breaks(FAILED_DIAL_RAISES_PROMPTLY)
class FailureOfOneIsLogged(Together):
    """When one of several servers fails, all are closed, and nobody is told."""

    class kind(SeveralClients):
        async def connect(self):
            try:
                await super().connect()
            except ClientError:
                await self.close()
                self.clients = {}


@breaks(OPERATIONS_SHARE_ONE_SESSION)
class EachCallConnects(Together):
    """Each call of a tool of several servers has a session of its own."""

    class kind(SeveralClients):
        async def call_tool(self, tool, arguments=None):
            await self.reconnect()
            return await super().call_tool(tool, arguments)


@breaks(CLOSE_AND_CONNECT_DO_NOT_OVERLAP)
class ClosesWhatItKnows(Together):
    """A close ends the connections that it finds; one that is being opened beside it stays."""

    class kind(SeveralClients):
        async def reconnect(self):
            clients, self.clients = self.clients, {}
            for client in clients.values():
                await client.close()
                await asyncio.sleep(0)
                await client.connect()
            self.opened = clients

        async def list_tools(self):
            self.clients = self.clients or self.opened
            return await super().list_tools()


@breaks(SAID_TO_BE_CONNECTED_IS_CONNECTED)
class SaysWhatItOnceHad(Together):
    """Whoever was connected once is said to be connected for good."""

    class kind(SeveralClients):
        def connected(self):
            return list(self.clients)
