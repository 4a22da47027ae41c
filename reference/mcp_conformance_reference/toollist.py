"""The list of tools of one client: a definition list, how long it is served, and which walks may write it.

A definition list by itself knows one listing at a time, and one time limit. A client's listings may pass each
other, because a refresh asks although a walk is under way; and their lifetimes are the server's to give.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from mcp_conformance_reference.connection import Connection
from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.definitions import Definition
from mcp_conformance_reference.errors import ClientClosed, ListFailed
from mcp_conformance_reference.flight import Flight
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.walk import LeftOut, Listing

__all__ = ["ToolList"]


class ToolList:
    """The tool list of one client.

    Invalidation moves the generation at once. A listing that was under way then is handed to nobody and kept
    nowhere, and whoever waited for it gets one that began afterwards. Of two listings the one asked for later
    wins, whichever answer comes first.

    Args:
        connected: Gives the live connection, dialling if need be.
        settings: The client's measures.

    Attributes:
        listed: What was listed last, fresh or not; it has the generations.
        newest: The walk that brought that; None before the first good listing.
    """

    def __init__(self, connected: Callable[[], Awaitable[Connection]], settings: Settings) -> None:
        self.listed = DefinitionList()
        self.newest: Flight | None = None
        self._connected = connected
        self._settings = settings
        self._numbers = count(1)
        self._flights: set[Flight] = set()
        self._latest: Flight | None = None
        self._ever_promised: set[str] = set()

    @property
    def left_out(self) -> list[LeftOut]:
        """The entries of the newest listing that are no tools, each with a reason."""
        return [] if self.newest is None else list(self.newest.listing.left_out)

    # -- serving -------------------------------------------------------------------------------------------

    async def current(self) -> DefinitionList:
        """The list to hand out now: the kept one while it may be served, else listed anew.

        Raises:
            ListFailed: The listing failed. What was known stays known, and the next call asks again.
            DialFailed, ConnectionLost: There was no connection, or it ended.
        """
        return await self._served_or_fetched(self.servable, self.joinable)

    async def refresh(self) -> DefinitionList:
        """The list, asked for after this call, whatever is kept.

        Raises:
            ListFailed, DialFailed, ConnectionLost: As for `current`.
        """
        return await self._served_or_fetched(lambda: None, self.unsent)

    async def _served_or_fetched(
        self, served: Callable[[], DefinitionList | None], joined: Callable[[], Flight | None]
    ) -> DefinitionList:
        for _ in range(self._settings.max_walks):
            kept = served()
            if kept is not None:
                return kept
            written = await (joined() or self.begin()).wait()
            if written is not None and not written.stale:
                return written
        raise ListFailed(
            "tools/list", f"the tools changed during each of {self._settings.max_walks} walks (max_walks)"
        )

    def servable(self) -> DefinitionList | None:
        """The list, if it may be handed out without asking. An empty one is a list too."""
        newest = self.newest
        if newest is None or self.listed.stale or not self.covered(newest) or not self.fresh(newest):
            return None
        return self.listed

    def known(self, connection: Connection) -> bool:
        """Whether the list is of this connection and no invalidation came after it, lapsed or not.

        It is what calls are judged by: a lapse alone is no reason to ask before each call.
        """
        return self.newest is not None and self.newest.connection is connection and not self.listed.stale

    def covered(self, newest: Flight) -> bool:
        """Whether every change since would have been heard of: same connection, no gap in what is heard."""
        return newest.coverage is not None and newest.still_covered()

    def fresh(self, newest: Flight) -> bool:
        """Whether its lifetime still runs: at the very end of it, it has lapsed."""
        expires_at = newest.listing.expires_at
        return expires_at is None or self._settings.now() < expires_at

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

    async def fetch(self, flight: Flight) -> DefinitionList | None:
        """Walk, and keep what comes of it.

        Returns:
            The list for whoever waits for this walk; None if a change overtook it.
        """
        try:
            connection = await self._connected()
            flight.leaves(connection, self.listed.generation)
            walk = self._settings.parts.walk_type(connection, self._settings, lambda: self.overtaken(flight))
            listing = await walk.listing()
            return None if listing is None else self.write(flight, listing)
        finally:
            self._flights.discard(flight)

    # -- writing -------------------------------------------------------------------------------------------

    def write(self, flight: Flight, listing: Listing) -> DefinitionList | None:
        """Keep a listing that has arrived, unless it is of the past.

        Returns:
            The list to hand to whoever waited; None if it was invalidated since the walk asked.
        """
        if self.overtaken(flight):
            return None
        if not self.superseded(flight):
            self.keep(flight, listing)
        return self.listed

    def overtaken(self, flight: Flight) -> bool:
        """Whether the list was invalidated since the walk asked: its answer is a truth of the past."""
        return flight.began != self.listed.generation

    def superseded(self, flight: Flight) -> bool:
        """Whether a listing that was asked for later has been kept already."""
        return self.newest is not None and self.newest.number > flight.number

    def keep(self, flight: Flight, listing: Listing) -> None:
        """Make a listing the newest. Of two entries of one name the first counts."""
        standing = [each for each in self._flights if not self.overtaken(each)]
        tools: dict[str, Definition] = {}
        for known in listing.definitions:
            tools.setdefault(known.name, known)
        self.listed.write(flight.began, tools.values(), None, self._settings.now())
        for each in standing:  # a write overtakes no walk: which of them counts, their order says
            each.began = self.listed.generation
        flight.listing, self.newest = listing, flight
        self._ever_promised.update(name for name, known in tools.items() if known.promises_output)

    def invalidate(self) -> None:
        """The tools changed, or may have: nothing that was asked for before now is served any more."""
        self.listed.invalidate()

    def ever_promised(self, name: str) -> bool:
        """Whether a tool of this name was ever listed with an output schema."""
        return name in self._ever_promised

    def input_schema_of(self, name: str) -> Any:
        """The input schema of a tool by the newest listing, None where it annotates no argument."""
        known = self.listed.definition(name)
        return None if known is None or not known.names_headers else known.listed["inputSchema"]

    def refuse(self, why: ClientClosed) -> None:
        """End the walks under way, and whoever waits for them."""
        for flight in self._flights:
            flight.fail(ClientClosed(*why.args))

    async def close(self) -> None:
        """Wait until no walk is under way."""
        for flight in list(self._flights):
            await flight.finished.wait()
