"""A client for programs without async: plain functions in front, a thread with its own loop behind."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from copy import deepcopy

from mcp import ClientSession

from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter

__all__ = ["KEEPS", "SyncClient", "facade"]

LIMIT = 60.0
"""Real seconds for each function: the loop behind them knows no other time."""

KEEPS = Claims(
    caches_listings=True,
    reacts_to_list_changed=0.0,
    follows_pages=False,
    isolates_principals=True,
    one_shot=True,
    eras=("handshake",),
    transports=("http", "stdio", "loopback"),
)


class SyncClient:
    """Connects when it is made, and keeps the list of tools until the server says that it changed.

    Args:
        open_streams: Opens the connection; called in the loop of the thread.
    """

    def __init__(self, open_streams):
        self._open_streams = open_streams
        self._kept = None
        self._newest = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="sync client", daemon=True)
        self._thread.start()
        try:
            self._wait_for(self._connected())
        except BaseException:
            self.close()
            raise

    def list_tools(self):
        """The tools, kept or asked for anew."""
        return self._wait_for(self._list())

    def list_page(self, cursor):
        """One page, and the cursor of the next."""
        return self._wait_for(self._page(cursor))

    def call_tool(self, tool, arguments):
        """Call one tool."""
        return self._wait_for(self._session.call_tool(getattr(tool, "name", tool), arguments))

    def close(self):
        """End the connection, the loop and the thread; a second time is nothing."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join(LIMIT)

    def heard_of_a_change(self):
        """The kept list is no longer true. Called in the loop of the thread."""
        self._kept = None
        self._newest += 1

    # -- in the thread -------------------------------------------------------------------------------------

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._leave = asyncio.Event()
        self._ready = self._loop.create_future()
        self._loop.run_until_complete(self._live())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _live(self):
        try:
            async with (
                self._open_streams() as (read, write),
                ClientSession(read, write, message_handler=self._hear) as self._session,
            ):
                await self._session.initialize()
                self._ready.set_result(None)
                await self._leave.wait()
        except Exception as error:
            if self._ready.done():
                return
            self._ready.set_exception(error)
            await asyncio.sleep(0)

    async def _connected(self):
        await self._ready

    async def _list(self):
        if self._kept is None:
            self._newest += 1
            number = self._newest
            tools = (await self._session.list_tools()).tools
            if number < self._newest:
                return tools
            self._kept = tools
        return deepcopy(self._kept)

    async def _page(self, cursor):
        from pytest_mcp_conformance.adapters.mcp_session import page_params

        page = await self._session.list_tools(params=page_params(cursor))
        return page.tools, getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)

    async def _hear(self, message):
        notice = getattr(message, "root", message)  # mcp 1.x wraps it once more
        if getattr(notice, "method", "") == "notifications/tools/list_changed":
            self.heard_of_a_change()

    # -- from any other thread -----------------------------------------------------------------------------

    def _wait_for(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(LIMIT)


def facade(name, client_type=SyncClient, claims=KEEPS):
    """An adapter for `SyncClient` or a change of it. What it is told it is told in the scenario's loop."""

    @adapter(name, claims=claims)
    async def play(dial):
        way = Told(dial)
        client = await asyncio.to_thread(client_type, lambda: streams_of(way))
        yield Wrapper(
            list_tools=client.list_tools,
            call_tool=client.call_tool,
            list_page=client.list_page,
            close=client.close,
        )
        await asyncio.to_thread(client.close)

    return play


class Told:
    """What a dial says, for whoever asks in another thread."""

    def __init__(self, dial):
        self.transport, self.headers = dial.transport, dial.headers
        if dial.transport == "stdio":
            self.command = dial.command
        else:
            self.url = dial.url
