"""The list of tools of one client: what is kept, how long it is served, what a late answer may change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.errors import ClientClosed, ListFailed
from mcp_conformance_reference.flight import Flight
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.walk import Listing

__all__ = ["ToolList"]

_list_ids = count(1)


class ToolList:
    """The tool list of one client.

    Invalidation moves the generation at once. A listing that was under way then is handed to nobody and kept
    nowhere, and whoever waited for it gets one that began afterwards. Of two listings the one asked for later
    wins, whichever answer comes first.

    Args:
        connected: Gives the live connection, dialling if need be.
        settings: The client's measures.

    Attributes:
        id: A number that no other list of this process has.
        generation: Moves with every invalidation, and with every listing that differs from the one before.
        newest: The last good listing, fresh or not; None before the first.
    """

    def __init__(self, connected: Callable[[], Awaitable[Connection]], settings: Settings) -> None:
        self.id = next(_list_ids)
        self.generation = 0
        self.newest: Listing | None = None
        self._connected = connected
        self._settings = settings
        self._invalidations = 0
        self._kept_at = -1
        self._numbers = count(1)
        self._flights: set[Flight] = set()
        self._latest: Flight | None = None
        self._ever_promised: set[str] = set()

    # -- serving -------------------------------------------------------------------------------------------

    async def current(self) -> Listing:
        """The listing to hand out now: the kept one while it may be served, else a new one.

        Raises:
            ListFailed: The listing failed. What was known stays known, and the next call asks again.
            DialFailed, ConnectionLost: There was no connection, or it ended.
        """
        return await self._served_or_fetched(self.servable, self.joinable)

    async def refresh(self) -> Listing:
        """A listing that is asked for after this call, whatever is kept.

        Raises:
            ListFailed, DialFailed, ConnectionLost: As for `current`.
        """
        return await self._served_or_fetched(lambda: None, self.unsent)

    async def known(self, connection: Connection) -> Listing:
        """The newest listing of this connection that no invalidation came after, lapsed or not.

        It is what calls are judged by: a lapse alone is no reason to ask before each call.

        Raises:
            ListFailed, DialFailed, ConnectionLost: As for `current`, where there is none yet.
        """
        newest = self.newest
        if newest is not None and newest.connection is connection and not self.stale():
            return newest
        return await self.current()

    async def _served_or_fetched(
        self, served: Callable[[], Listing | None], joined: Callable[[], Flight | None]
    ) -> Listing:
        for _ in range(self._settings.max_walks):
            listing = served()
            if listing is None:
                listing = await (joined() or self.begin()).wait()
            if listing is not None:
                return listing
        raise ListFailed(
            "tools/list", f"the tools changed during each of {self._settings.max_walks} walks (max_walks)"
        )

    def servable(self) -> Listing | None:
        """The kept listing, if it may be handed out without asking. An empty one is a listing too."""
        kept = self.newest
        if kept is None or self.stale() or not self.covered(kept) or not self.fresh(kept):
            return None
        return kept

    def stale(self) -> bool:
        """Whether the list was invalidated since the newest listing was asked for."""
        return self._kept_at != self._invalidations

    def covered(self, listing: Listing) -> bool:
        """Whether every change since would have been heard of: same connection, no gap in what is heard."""
        return listing.coverage is not None and listing.coverage == listing.connection.coverage()

    def fresh(self, listing: Listing) -> bool:
        """Whether its lifetime still runs: at the very end of it, it has lapsed."""
        return listing.expires_at is None or self._settings.now() < listing.expires_at

    # -- fetching ------------------------------------------------------------------------------------------

    def joinable(self) -> Flight | None:
        """The walk under way, if it is as good as one that began now."""
        flight = self._latest
        if flight is None or flight.settled:
            return None
        return flight if not flight.asking or self.as_good_as_new(flight) else None

    def unsent(self) -> Flight | None:
        """The walk under way, if it has asked for nothing yet."""
        flight = self._latest
        return None if flight is None or flight.settled or flight.asking else flight

    def as_good_as_new(self, flight: Flight) -> bool:
        """Whether no change was heard of, or can have been missed, since it asked."""
        return not self.overtaken(flight) and flight.still_covered()

    def begin(self) -> Flight:
        """Start a walk in a task of its own."""
        flight = self._settings.parts.flight_type(self.fetch, next(self._numbers))
        self._latest = flight
        self._flights.add(flight)
        flight.start()
        return flight

    async def fetch(self, flight: Flight) -> Listing | None:
        """Walk, and keep what comes of it.

        Returns:
            The listing for whoever waits for this walk; None if a change overtook it.
        """
        try:
            connection = await self._connected()
            flight.leaves(connection, self._invalidations)
            walk = self._settings.parts.walk_type(
                connection, self._settings, flight.number, lambda: self.overtaken(flight)
            )
            listing = await walk.listing()
            return None if listing is None else self.write(flight, listing)
        finally:
            self._flights.discard(flight)

    # -- writing -------------------------------------------------------------------------------------------

    def write(self, flight: Flight, listing: Listing) -> Listing | None:
        """Keep a listing that has arrived, unless it is of the past.

        Returns:
            The listing to hand to whoever waited; None if there is none yet.
        """
        if self.overtaken(flight):
            return None
        if not self.superseded(listing):
            self.keep(listing)
        return self.newest

    def overtaken(self, flight: Flight) -> bool:
        """Whether the list was invalidated since the walk asked: its answer is a truth of the past."""
        return flight.began != self._invalidations

    def superseded(self, listing: Listing) -> bool:
        """Whether a listing that was asked for later has been kept already."""
        return self.newest is not None and self.newest.number > listing.number

    def keep(self, listing: Listing) -> None:
        """Make a listing the newest. The generation moves if nothing has moved it and the tools differ."""
        if self.newest is None or (not self.stale() and listing.differs(self.newest)):
            self.generation += 1
        self.newest = replace(listing, generation=self.generation)
        self._kept_at = self._invalidations
        self._ever_promised.update(known.name for known in listing.definitions if known.promises_output)

    def invalidate(self) -> None:
        """The tools changed, or may have: nothing that was asked for before now is served any more."""
        self._invalidations += 1
        self.generation += 1

    def ever_promised(self, name: str) -> bool:
        """Whether a tool of this name was ever listed with an output schema."""
        return name in self._ever_promised

    def refuse(self, why: ClientClosed) -> None:
        """End the walks under way, and whoever waits for them."""
        for flight in self._flights:
            flight.fail(ClientClosed(*why.args))

    async def close(self) -> None:
        """Wait until no walk is under way."""
        for flight in list(self._flights):
            await flight.finished.wait()
