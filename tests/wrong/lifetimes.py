"""Wrong wrappers of CCH, in what they make of a lifetime."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.contract.caching import (
    ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY,
    EXPIRY_STARTS_NO_REFETCH,
    LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS,
    LIFETIME_COUNTS_FROM_RECEIPT,
    NEGATIVE_LIFETIME_COUNTS_AS_ZERO,
    ZERO_LIFETIME_IS_STALE_AT_ONCE,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(ZERO_LIFETIME_IS_STALE_AT_ONCE)
class LivesForEver(Client):
    """A listing is kept until a notice comes; the server's lifetimes are not read."""

    class walk_type(Walk):
        def lifetime(self, raw):
            return math.inf


@breaks(ZERO_LIFETIME_IS_STALE_AT_ONCE)
class LivesForAMinuteAtLeast(Client):
    """A lifetime is brought up to a minute."""

    class walk_type(Walk):
        def lifetime(self, raw):
            return max(60.0, super().lifetime(raw))


@breaks(LIFETIME_COUNTS_FROM_RECEIPT)
class CountsFromTheRequest(Client):
    """A lifetime begins when the listing is asked for."""

    class walk_type(Walk):
        async def page(self, cursor):
            asked_at = self._settings.now()
            return (await super().page(cursor))._replace(received_at=asked_at)


@breaks(LIFETIME_COUNTS_FROM_RECEIPT)
class EachUseRenews(Client):
    """A listing that is used begins its lifetime anew."""

    def enter(self):
        now = self._settings.now
        self.received, self.back = 0.0, 0.0
        self._settings = replace(self._settings, now=lambda: now() - self.back)

    def walk_type(self, *parts):
        client = self

        class Noting(Walk):
            def read(self, raw):
                page = super().read(raw)
                client.received = page.received_at
                return page

        return Noting(*parts)

    async def list_tools(self):
        tools = await super().list_tools()
        self.back += self._settings.now() - self.received
        return tools


@breaks(LIFETIME_COUNTS_FROM_RECEIPT)
class NeverHits(Client):
    """The cache is copied for each list, and the copy thrown away."""

    class tool_list_type(ToolList):
        def servable(self):
            return None


@breaks(ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY, caches_listings=False, snapshot_lists=False)
class AbsentIsForEver(Client):
    """A listing without a lifetime is kept, though no policy of keeping is told to anybody."""

    class walk_type(Walk):
        def lifetime(self, raw):
            return super().lifetime(raw) if "ttlMs" in raw else math.inf


@breaks(ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY)
class AbsentOutlivesThePolicy(Client):
    """A listing without a lifetime is kept as long as its connection, whatever is said."""

    endless = False

    def walk_type(self, *parts):
        client = self

        class Reading(Walk):
            def lifetime(self, raw):
                client.endless = "ttlMs" not in raw
                return math.inf if client.endless else super().lifetime(raw)

        return Reading(*parts)

    def tool_list_type(self, connected, settings):
        client = self

        class Deaf(ToolList):
            def invalidate(self):
                if not client.endless:
                    super().invalidate()

        return Deaf(connected, settings)


@breaks(ABSENT_LIFETIME_LEAVES_THE_OWN_POLICY, eras=("modern",))
class AbsentIsRefused(Client):
    """A listing that says nothing of its lifetime is no listing."""

    class walk_type(Walk):
        def lifetime(self, raw):
            if "ttlMs" not in raw:
                raise ListFailed("tools/list", "ttlMs: field required")
            return super().lifetime(raw)


@breaks(NEGATIVE_LIFETIME_COUNTS_AS_ZERO)
class NegativeIsRefused(Client):
    """A lifetime below zero makes the listing fail."""

    class walk_type(Walk):
        def lifetime(self, raw):
            if raw.get("ttlMs", 0) < 0:
                raise ListFailed("tools/list", "ttlMs: should be 0 or more")
            return super().lifetime(raw)


@breaks(NEGATIVE_LIFETIME_COUNTS_AS_ZERO)
class NegativeIsReadUnsigned(Client):
    """A lifetime below zero is read without its sign."""

    class walk_type(Walk):
        def lifetime(self, raw):
            return abs(raw.get("ttlMs", 0)) / 1000


@breaks(LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS)
class FreshAtTheVeryEnd(Client):
    """A listing that is exactly as old as its lifetime is served."""

    class walk_type(Walk):
        def lifetime(self, raw):
            given = super().lifetime(raw)
            return given and given + 1e-6


@breaks(LAPSED_LISTING_IS_FETCHED_AT_THE_NEXT_ACCESS)
class NeverLapses(Client):
    """A listing with a lifetime is kept until a notice comes, and one without is not kept."""

    class walk_type(Walk):
        def lifetime(self, raw):
            return math.inf if super().lifetime(raw) else 0.0


@breaks(EXPIRY_STARTS_NO_REFETCH)
class TimerForEachListing(Client):
    """When a listing lapses the next one is fetched, wanted or not."""

    timer = None

    def walk_type(self, *parts):
        client = self

        class Timing(Walk):
            def expiry(self, pages):
                expires_at = super().expiry(pages)
                rest = 0.0 if expires_at is None else expires_at - self._settings.now()
                client.stop()
                if rest:
                    client.timer = asyncio.create_task(client.fetch_after(rest))
                return expires_at

        return Timing(*parts)

    async def fetch_after(self, rest):
        await asyncio.sleep(rest)
        self.timer = None
        self._life.tools.begin()

    def stop(self):
        if self.timer is not None:
            self.timer.cancel()

    async def close(self):
        self.stop()
        await super().close()
