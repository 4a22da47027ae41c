"""More wrong wrappers of NTC: about the listing that a notice asks for."""

from __future__ import annotations

import asyncio

from mcp_conformance_reference.errors import ListFailed, StaleTool
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.subscription import Subscription
from mcp_conformance_reference.toollist import ToolList

from pytest_mcp_conformance.contract.notices import (
    CHANGE_BEFORE_THE_ACKNOWLEDGMENT_IS_NOT_MISSED,
    FAILED_REFRESH_LEAVES_THE_LIST_STALE,
    NOTHING_STARTS_AFTER_CLOSE,
    NOTICE_DURING_A_REFRESH_IS_NOT_LOST,
    NOTICE_STORM_COSTS_ONE_MORE_WALK,
    OVERLAPPING_LOADS_LIST_EACH_TOOL_ONCE,
    REFRESHED_LIST_IS_THE_ONE_IN_USE,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(NOTICE_STORM_COSTS_ONE_MORE_WALK)
class AWalkForEachNotice(Client):
    """Each notice starts a walk of its own."""

    class tool_list_type(ToolList):
        def invalidate(self):
            super().invalidate()
            self.begin()


@breaks(NOTICE_STORM_COSTS_ONE_MORE_WALK)
class AStormIsOneChange(Client):
    """A notice that comes within a second of the one before is taken for the same change."""

    class notices_type(Notices):
        until = 0.0

        async def tools_changed(self, connection):
            now = connection.settings.now()
            if now >= self.until:
                await super().tools_changed(connection)
            self.until = now + 1.0


@breaks(NOTICE_DURING_A_REFRESH_IS_NOT_LOST)
class RefreshClearsTheMark(Client):
    """The stale mark is a flag: the end of a refresh clears it, whatever was heard while it ran."""

    class tool_list_type(ToolList):
        def overtaken(self, flight):
            flight.began = self.listed.generation
            return False

        def as_good_as_new(self, flight):
            return True


@breaks(NOTICE_DURING_A_REFRESH_IS_NOT_LOST)
class RetryWritesWhateverItFinds(Client):
    """A refresh that failed is tried once more, and nobody asks what was heard meanwhile."""

    class tool_list_type(ToolList):
        async def fetch(self, flight):
            try:
                return await super().fetch(flight)
            except ListFailed:
                again = self._settings.parts.walk_type(flight.connection, self._settings, lambda: False)
                listing = await again.listing()
                flight.began = self.listed.generation
                self.keep(flight, listing)
                return self.listed


@breaks(NOTHING_STARTS_AFTER_CLOSE)
class RefreshOutlivesTheClose(Client):
    """A notice sets a timer for a refresh of its own, and the close does not stop it."""

    def enter(self):
        self.background = set()

    def notices_type(self, on_tools_changed, on_log):
        def changed(connection):
            on_tools_changed(connection)
            refreshing = asyncio.get_running_loop().create_task(self.refresh_later())
            self.background.add(refreshing)
            refreshing.add_done_callback(self.background.discard)

        return Notices(changed, on_log)

    async def refresh_later(self):
        await asyncio.sleep(1.0)
        if self._closed:
            again = Client(self.dial.streams, era=self.dial.era)
            await again.list_tools()
            await again.close()


@breaks(NOTHING_STARTS_AFTER_CLOSE)
class LateAnswerIsStoredForAll(Client):
    """A close leaves what is out to its answer, which goes into a cache that other clients read."""

    def tool_list_type(self, connected, settings):
        client = self

        class Stored(ToolList):
            def servable(self):
                return super().servable() or (None if self.newest else client.shared.get("listing"))

            def keep(self, flight, listing):
                super().keep(flight, listing)
                if client._closed:
                    client.shared["listing"] = self.listed

        return Stored(connected, settings)

    async def close(self):
        flights = set() if self._life is None else set(self._life.tools._flights)
        if flights:
            self._closed = True
            self.leaving = asyncio.get_running_loop().create_task(self.leave_after(flights))
        else:
            await super().close()

    async def leave_after(self, flights):
        for flight in flights:
            await flight.finished.wait()
        await super().close()


@breaks(FAILED_REFRESH_LEAVES_THE_LIST_STALE)
class MarkIsClearedBeforeTheRefresh(Client):
    """The stale mark is cleared when a refresh begins; one that fails leaves the old list in force."""

    class tool_list_type(ToolList):
        async def fetch(self, flight):
            self.listed.stale = False
            return await super().fetch(flight)


@breaks(OVERLAPPING_LOADS_LIST_EACH_TOOL_ONCE)
class BothLoadsAppend(Client):
    """A load that finds nothing there appends what it got, whatever has come meanwhile."""

    class tool_list_type(ToolList):
        before = ()

        async def fetch(self, flight):
            flight.found_nothing = self.newest is None
            return await super().fetch(flight)

        def write(self, flight, listing):
            if flight.found_nothing and self.newest is not None:
                self.before = self.newest.listing.definitions
            flight.began = self.listed.generation
            self.keep(flight, listing)
            return self.listed

    def hand_out(self, listed):
        before = [self.handle_type(listed.bind(known), self) for known in self._life.tools.before]
        return before + super().hand_out(listed)


@breaks(CHANGE_BEFORE_THE_ACKNOWLEDGMENT_IS_NOT_MISSED)
class AStreamCountsFromItsRequest(Client):
    """A listing is trusted once the stream has been asked for; the acknowledgment changes nothing."""

    class subscription_type(Subscription):
        async def begin(self):
            self._watched = "asked"
            await super().begin()

        def acknowledged(self, frame):
            before = self._watched
            super().acknowledged(frame)
            if before == "asked":
                self._watched = before


@breaks(REFRESHED_LIST_IS_THE_ONE_IN_USE)
class DispatchKeepsItsTable(Client):
    """Calls go by a table of tools that is filled once."""

    def enter(self):
        self.table = {}

    async def list_tools(self):
        tools = await super().list_tools()
        self.table = self.table or {tool.name: tool for tool in tools}
        return tools

    async def call_tool(self, tool, arguments=None):
        name = getattr(tool, "name", tool)
        if self.table and name not in self.table:
            raise StaleTool(name, "there is no such tool")
        return await super().call_tool(tool, arguments)


@breaks(REFRESHED_LIST_IS_THE_ONE_IN_USE)
class BindsFromTheFirstList(Client):
    """Tools are bound from the first list that was taken."""

    def enter(self):
        self.first = {}

    async def list_tools(self):
        tools = await super().list_tools()
        self.first = self.first or {tool.name: tool for tool in tools}
        return tools

    async def bind(self, name):
        return self.first.get(name) or await super().bind(name)


@breaks(REFRESHED_LIST_IS_THE_ONE_IN_USE)
class AViewIsRenewedByHand(Client):
    """One view of the tools is renewed by `refresh` alone."""

    def enter(self):
        self.view = None

    async def names(self):
        if self.view is None:
            self.view = await super().names()
        return self.view

    async def refresh(self):
        await super().refresh()
        self.view = None
