"""A client for programs without async: plain functions, and behind them a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import suppress
from copy import deepcopy

from mcp import ClientSession

from pytest_mcp_conformance.adapters._calls import page_params
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter

__all__ = ["NeverRenews", "SyncClient", "facade"]

LIMIT = 60.0
"""Real seconds for each function: the loop behind them knows no other time."""

CLAIMS = Claims(
    caches_listings=True,
    reacts_to_list_changed=0.0,
    follows_pages=False,
    isolates_principals=True,
    one_shot=True,
    eras=("handshake",),
    transports=("http", "stdio", "loopback"),
)


class SyncClient:
    """Keeps the list of tools until the server says that it changed. To be called in any thread.

    Args:
        open_streams: Opens the connection; called in the loop of the client's own thread.
    """

    def __init__(self, open_streams):
        self._open_streams = open_streams
        self._kept = None
        self._newest = 0
        self._ready = Future()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="sync client", daemon=True)
        self._thread.start()

    def connect(self):
        """Wait for the connection."""
        self._ready.result(LIMIT)

    def list_tools(self):
        """The tools, kept or asked for anew."""
        return self._wait_for(self._list)

    def list_page(self, cursor):
        """One page, and the cursor of the next."""
        return self._wait_for(self._page, cursor)

    def call_tool(self, tool, arguments):
        """Call one tool."""
        return self._wait_for(self._call, getattr(tool, "name", tool), arguments)

    def close(self):
        """End everything, at any time. A second time is nothing."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._end)
        self._thread.join(LIMIT)

    # -- in the thread -------------------------------------------------------------------------------------

    def heard_of_a_change(self):
        """The list that is kept is no longer true."""
        self._kept = None
        self._newest += 1

    def _run(self):
        self._leave = asyncio.Event()
        self._living = self._loop.create_task(self._live())
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._living)
        self._loop.run_until_complete(self._leave_nothing())
        self._loop.close()

    async def _leave_nothing(self):
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._loop.shutdown_asyncgens()

    async def _live(self):
        try:
            async with (
                self._open_streams() as (read, write),
                ClientSession(read, write, message_handler=self._hear) as self._session,
            ):
                await self._session.initialize()
                self._ready.set_result(None)
                await self._leave.wait()
        except BaseException as error:
            if not self._ready.done():
                said = error if isinstance(error, Exception) else RuntimeError("closed while it connected")
                self._ready.set_exception(said)

    def _end(self):
        if self._ready.done():
            self._leave.set()
        else:
            self._living.cancel()

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
        page = await self._session.list_tools(params=page_params(cursor))
        return page.tools, getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)

    async def _call(self, name, arguments):
        return await self._session.call_tool(name, arguments)

    async def _hear(self, message):
        notice = getattr(message, "root", message)  # mcp 1.x wraps it once more
        if getattr(notice, "method", "") == "notifications/tools/list_changed":
            self.heard_of_a_change()

    # -- in any other thread -------------------------------------------------------------------------------

    def _wait_for(self, function, *arguments):
        if self._loop.is_closed():
            raise RuntimeError("the client is closed")
        return asyncio.run_coroutine_threadsafe(function(*arguments), self._loop).result(LIMIT)


class NeverRenews(SyncClient):
    """A notice of change is heard, and the list that is kept is served all the same."""

    def heard_of_a_change(self):
        """Nothing follows."""


class Told:
    """What a dial says, for whoever asks in another thread: the dial itself is asked in the scenario's."""

    def __init__(self, dial):
        self.transport, self.headers = dial.transport, dial.headers
        if dial.transport == "stdio":
            self.command = dial.command
        else:
            self.url = dial.url


def facade(client_type):
    """An adapter for `SyncClient`, or for a change of it."""

    @adapter(client_type.__name__, claims=CLAIMS)
    async def play(dial):
        told = Told(dial)
        client = client_type(lambda: streams_of(told))
        try:
            await asyncio.to_thread(client.connect)
            yield verbs(client)
        finally:
            await asyncio.to_thread(client.close)

    return play


def blocking_facade(client_type):
    """An adapter that is a plain generator, for the same."""

    @adapter(client_type.__name__, claims=CLAIMS)
    def play(dial):
        client = client_type(lambda: streams_of(dial))
        client.connect()
        yield verbs(client)
        client.close()

    return play


def verbs(client):
    """What a client does."""
    return Wrapper(
        list_tools=client.list_tools,
        call_tool=client.call_tool,
        list_page=client.list_page,
        close=client.close,
    )
