"""Wrong wrappers of CCH."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.flight import Flight
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.rounds import Rounds
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Listing, Walk

from pytest_mcp_conformance.contract.caching import (
    EMPTY_LISTING_IS_A_LISTING,
    EQUAL_LISTS_SHARE_ONE_FETCH,
    EXPLICIT_REFRESH_PASSES_EVERY_LAYER,
    FAILED_REFETCH_EMPTIES_NOTHING,
    HANDED_OUT_LIST_IS_NOT_THE_CACHE,
    LATE_OLDER_LISTING_REPLACES_NOTHING,
    LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION,
    LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT,
    MULTI_ROUND_ANSWERS_ARE_NOT_CACHED,
    NOTICE_ENDS_FRESHNESS,
    OVERTAKEN_LISTING_IS_DISCARDED,
    PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL,
    SERVERS_NEVER_SHARE_AN_ENTRY,
)
from tests.wrong._answering import Answers
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL)
class OneCacheForAllPrincipals(Client):
    """The cache is keyed by the server alone."""

    def tool_list_type(self, connected, settings):
        shared = self.shared

        class Keyed(ToolList):
            def servable(self):
                return shared.get("listing") or super().servable()

            def write(self, flight, listing):
                shared["listing"] = super().write(flight, listing)
                return shared["listing"]

        return Keyed(connected, settings)


@breaks(SERVERS_NEVER_SHARE_AN_ENTRY)
class CacheByConfiguredName(Client):
    """The cache is keyed by what the user calls the server, and by the user."""

    def enter(self):
        self.listed = False

    async def list_tools(self):
        key = self._settings.name, self.dial.principal
        if self.listed or key not in self.shared:
            self.shared[key] = await super().list_tools()
        self.listed = True
        return list(self.shared[key])


@breaks(SERVERS_NEVER_SHARE_AN_ENTRY)
class ConnectionByConfiguredName(Client):
    """Whoever names a server that is known already gets the way to that one."""

    def enter(self):
        key = self._settings.name, self.dial.principal
        self.open_streams = self.shared.setdefault(key, self.dial.streams)


@breaks(MULTI_ROUND_ANSWERS_ARE_NOT_CACHED, answers_input=True)
class KeepsWhatItRead(Answers):
    """What a read gave in the end is kept under the resource alone."""

    async def read_resource(self, uri):
        if uri not in self.shared:
            self.shared[uri] = await super().read_resource(uri)
        return self.shared[uri]


@breaks(MULTI_ROUND_ANSWERS_ARE_NOT_CACHED, answers_input=True)
class KeepsTheQuestion(Answers):
    """What a server asked before it gave a resource is kept as the answer to the first request."""

    def rounds_type(self, ask, *others):
        async def ask_or_remember(params):
            key = params.get("uri")
            if key is None or "requestState" in params:
                return await ask(params)
            if key not in self.shared:
                self.shared[key] = await ask(params)
            return self.shared[key]

        return Rounds(ask_or_remember, *others)


@breaks(NOTICE_ENDS_FRESHNESS)
class NoticeIsOnlyLogged(Client):
    """A notice is logged, and the kept listing lives on."""

    class notices_type(Notices):
        async def tools_changed(self, connection):
            pass


@breaks(NOTICE_ENDS_FRESHNESS)
class LifetimeOutlivesTheNotice(Client):
    """A listing whose lifetime still runs is served, whatever was heard."""

    class tool_list_type(ToolList):
        def servable(self):
            kept = self.newest
            return self.listed if kept is not None and self.fresh(kept) and kept.connection.alive else None


@breaks(OVERTAKEN_LISTING_IS_DISCARDED)
class StoredOnArrival(Client):
    """A listing is stored when it arrives; nobody asks what happened while it was out."""

    class tool_list_type(ToolList):
        def overtaken(self, flight):
            return False

        def keep(self, flight, listing):
            flight.began = self.listed.generation
            super().keep(flight, listing)


@breaks(LATE_OLDER_LISTING_REPLACES_NOTHING)
class LastArrivalWins(Client):
    """Of two listings the one that arrives last is kept."""

    class tool_list_type(ToolList):
        def superseded(self, flight):
            return False


@breaks(FAILED_REFETCH_EMPTIES_NOTHING)
class FailureIsAnEmptyList(Client):
    """A listing that fails is taken for a server without tools."""

    class walk_type(Walk):
        async def listing(self):
            try:
                return await super().listing()
            except ListFailed:
                return Listing((), ())


@breaks(FAILED_REFETCH_EMPTIES_NOTHING)
class FailureRenewsTheOldList(Client):
    """A listing that fails makes the old one good again."""

    class tool_list_type(ToolList):
        async def fetch(self, flight):
            try:
                return await super().fetch(flight)
            except ListFailed:
                if self.newest is None:
                    raise
                self.listed.stale = False
                kept = self.newest.listing
                until = None if kept.expires_at is None else self._settings.now() + 3600.0
                self.newest.listing = replace(kept, expires_at=until)
                return self.listed


@breaks(EMPTY_LISTING_IS_A_LISTING)
class EmptyListIsNoHit(Client):
    """Whether something is kept is asked of the list's truth."""

    class tool_list_type(ToolList):
        def servable(self):
            kept = super().servable()
            return kept if kept is not None and kept.all() else None


@breaks(EMPTY_LISTING_IS_A_LISTING)
class EmptyListIsAFailure(Client):
    """A server that has no tools any more is not believed."""

    class tool_list_type(ToolList):
        def write(self, flight, listing):
            if not listing.definitions and self.newest is not None:
                self.listed.stale = False
                return self.listed
            return super().write(flight, listing)


@breaks(HANDED_OUT_LIST_IS_NOT_THE_CACHE)
class HandsOutItsOwnList(Client):
    """The very list that is kept is handed out."""

    def enter(self):
        self.lists = {}

    def hand_out(self, listed):
        return self.lists.setdefault(listed.generation, super().hand_out(listed))


@breaks(HANDED_OUT_LIST_IS_NOT_THE_CACHE)
class SharesItsDefinitions(Client):
    """The list is copied, and the definitions in it are shared."""

    def enter(self):
        self.entries = {}

    def handle_type(self, binding, owner):
        definition = binding.definition
        shared = self.entries.setdefault(definition.canonical, definition.listed)

        class Sharing(ListedTool):
            listed = shared

        return Sharing(binding, owner)


@breaks(HANDED_OUT_LIST_IS_NOT_THE_CACHE)
class SharesWhatIsServedFromTheCache(Client):
    """Who has a list fetched is given copies, and who is served a kept one the definitions that are kept."""

    def enter(self):
        self.entries = {}

    def handle_type(self, binding, owner):
        definition = binding.definition
        fetched = definition.canonical not in self.entries
        shared = self.entries.setdefault(definition.canonical, definition.listed)

        class Sharing(ListedTool):
            listed = shared

        return (ListedTool if fetched else Sharing)(binding, owner)


@breaks(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION)
class CacheOutlivesTheConnection(Client):
    """What was kept over one connection is served over the next."""

    class tool_list_type(ToolList):
        def covered(self, listing):
            return True


@breaks(LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT)
class ChangeCountsFromTheEndOfAFetch(Client):
    """A change that is told while a fetch is out counts when that has ended, and whoever joined has it."""

    class tool_list_type(ToolList):
        told = False

        def invalidate(self):
            self.told = self._latest is not None and not self._latest.settled
            if not self.told:
                super().invalidate()

        async def fetch(self, flight):
            try:
                return await super().fetch(flight)
            finally:
                if self.told:
                    asyncio.get_running_loop().call_later(0.001, self.invalidate)


@breaks(EQUAL_LISTS_SHARE_ONE_FETCH)
class FetchOfTheFirstCaller(Client):
    """The fetch belongs to its first caller, and ends with it."""

    class flight_type(Flight):
        async def wait(self):
            first = not self._waiting
            try:
                return await super().wait()
            except asyncio.CancelledError:
                if first:
                    self.fail(ListFailed("tools/list", "the fetch was cancelled"))
                raise


@breaks(EQUAL_LISTS_SHARE_ONE_FETCH)
class FetchForEachCaller(Client):
    """Nobody joins a fetch that is out."""

    class tool_list_type(ToolList):
        def joinable(self):
            return None


@breaks(EXPLICIT_REFRESH_PASSES_EVERY_LAYER)
class RefreshFromTheLayerBelow(Client):
    """A refresh asks the layer below, which answers from what it keeps."""

    class tool_list_type(ToolList):
        async def refresh(self):
            return await self.current()


@breaks(EXPLICIT_REFRESH_PASSES_EVERY_LAYER)
class InvalidateWaitsForTheLapse(Client):
    """What has a lifetime is not invalidated."""

    def invalidate(self):
        pass


@breaks(EXPLICIT_REFRESH_PASSES_EVERY_LAYER)
class AccessorOfTheFirstList(Client):
    """Another way to read the tools computes its value once."""

    def enter(self):
        self.read = None

    async def list_tools(self):
        tools = await super().list_tools()
        self.read = self.read or [tool.name for tool in tools]
        return tools

    async def names(self):
        await self.list_tools()
        return self.read
