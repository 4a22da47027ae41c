"""Wrong wrappers of CONN that close wrongly."""

from __future__ import annotations

from contextlib import asynccontextmanager, nullcontext

import anyio
from mcp.client.streamable_http import streamable_http_client
from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.errors import ClientClosed

from pytest_mcp_conformance.contract.connections import (
    CLOSE_ENDS_THE_VERB_UNDER_WAY,
    CLOSE_WORKS_FROM_ANOTHER_TASK,
    CLOSING_TWICE_IS_CLOSING_ONCE,
    CONNECTION_IN_USE_STAYS_OPEN,
)
from tests.wrong._client import Client
from tests.wrong._http import ByHttp
from tests.wrong._wrong import breaks


@breaks(CLOSING_TWICE_IS_CLOSING_ONCE)
class SecondCloseRaises(Client):
    """A close looks up what the first one has taken away."""

    async def close(self):
        del self.dial
        await super().close()


@breaks(CLOSING_TWICE_IS_CLOSING_ONCE, lazy=True)
class CloseWithoutAConnectRaises(Client):
    """A close needs something to close."""

    async def close(self):
        if self._life is None:
            raise RuntimeError("not connected")
        await super().close()


@breaks(CLOSING_TWICE_IS_CLOSING_ONCE)
class EachCloseCounts(Client):
    """The users are counted, and one who closes twice counts for two: the last one closes for all."""

    def enter(self):
        self.shared.setdefault("users", []).append(self)
        self.shared["count"] = self.shared.get("count", 0) + 1

    async def close(self):
        self.shared["count"] -= 1
        await super().close()
        if self.shared["count"] <= 0:
            for user in self.shared["users"]:
                await Client.close(user)


@breaks(CLOSE_WORKS_FROM_ANOTHER_TASK)
class ScopeOfTheOpener(Client):
    """A task group is entered by whoever connects, and left by whoever closes."""

    group = None

    async def connect(self):
        self.group = anyio.create_task_group()
        await self.group.__aenter__()
        await super().connect()

    async def close(self):
        await super().close()
        group, self.group = self.group, None
        if group is not None:
            await group.__aexit__(None, None, None)


@breaks(CLOSE_WORKS_FROM_ANOTHER_TASK)
class OneStackForAll(Client):
    """What was opened later is closed first, whoever it belongs to."""

    def enter(self):
        self.shared.setdefault("stack", []).append(self)

    async def close(self):
        stack = self.shared["stack"]
        while self in stack:
            await Client.close(stack.pop())


class Borrows(ByHttp):
    """Takes the HTTP client that its caller has made, if there is one. By itself it breaks nothing."""

    @asynccontextmanager
    async def over_http(self, url, headers):
        client = self.dial.http_client
        if client is None:
            async with super().over_http(url, headers) as streams:
                yield streams
            return
        async with self.using(client), streamable_http_client(url, http_client=client) as (read, write, *_):
            yield read, write

    def using(self, client):
        return nullcontext()


@breaks(CONNECTION_IN_USE_STAYS_OPEN, http_client=True)
class ClosesWhatItBorrowed(Borrows):
    """The HTTP client that its caller had made is entered, and so closed with the connection."""

    def using(self, client):
        return client


@breaks(CLOSE_ENDS_THE_VERB_UNDER_WAY)
class VerbOutlivesTheClose(Client):
    """A close is nobody's business who has a call out, or a listing."""

    async def list_tools(self):
        try:
            return await super().list_tools()
        except ClientClosed:
            await anyio.sleep_forever()

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            try:
                return await super().send(connection, plan, arguments)
            except ClientClosed:
                await anyio.sleep_forever()


@breaks(CLOSE_ENDS_THE_VERB_UNDER_WAY)
class VerbDialsBehindTheClose(Client):
    """A listing whose connection is gone is tried again over a new one, whoever ended the first."""

    async def list_tools(self):
        try:
            return await super().list_tools()
        except ClientClosed:
            await self.connect()
            return await super().list_tools()


class Pooling(Client):
    """Holders of one server and principal share a connection that the last one closes: it breaks nothing."""

    def enter(self):
        self.key = (id(self.dial._server), self.dial.principal)
        life, users = self.shared.get(self.key, (None, 0))
        self._life = life or self.life_type(self._open_streams, self._settings)
        self.shared[self.key] = (self._life, users + 1)

    async def close(self):
        if self.leaves():
            life, users = self.shared.pop(self.key, (self._life, 1))
            if self.is_last(users):
                await life.close()
            else:
                self.shared[self.key] = (life, users - 1)
        self._closed = True

    def leaves(self):
        """Whether this close is one more user who leaves."""
        return not self._closed

    def is_last(self, users):
        """Whether nobody is left who uses the connection."""
        return users == 1


@breaks(CONNECTION_IN_USE_STAYS_OPEN, pools_connections=True)
class FirstToFinishCloses(Pooling):
    """Whoever closes closes the connection."""

    def is_last(self, users):
        return True


@breaks(CONNECTION_IN_USE_STAYS_OPEN, pools_connections=True)
class CloseCountsTwice(Pooling):
    """The users are counted, and one who closes twice counts for two."""

    def leaves(self):
        return True
