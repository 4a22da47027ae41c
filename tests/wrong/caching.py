"""Wrong wrappers of CCH."""

from __future__ import annotations

from dataclasses import replace

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.notices import Notices
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Listing, Walk

from pytest_mcp_conformance.contract.caching import (
    EMPTY_LISTING_IS_A_LISTING,
    FAILED_REFETCH_EMPTIES_NOTHING,
    HANDED_OUT_LIST_IS_NOT_THE_CACHE,
    LATE_OLDER_LISTING_REPLACES_NOTHING,
    LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION,
    NOTICE_ENDS_FRESHNESS,
    OVERTAKEN_LISTING_IS_DISCARDED,
    PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL,
)
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


@breaks(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION)
class CacheOutlivesTheConnection(Client):
    """What was kept over one connection is served over the next."""

    class tool_list_type(ToolList):
        def covered(self, listing):
            return True
