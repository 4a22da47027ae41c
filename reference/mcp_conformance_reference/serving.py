"""What one user of a list is served from: its client's own list, or the shared entry of its context.

```text
 current ─▶ the list to serve from: the client's own, or the shared entry of the context
              │ servable? ── yes ─▶ served
              └ no ─▶ join the listing under way, or begin one on this client ─▶ look again
 a listing is back ─▶ overtaken? discarded ─▶ own, or fit to be shared? written
                        └ not fit: the shared entry is dropped, and its own client keeps it
```

Source: the seed pool/definitions.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio

from mcp_conformance_reference.definitionlist import DefinitionList, ListFlight
from mcp_conformance_reference.errors import ClientError, ConnectionLost, ListFailed, VerbTimeout
from mcp_conformance_reference.incarnation import Incarnation, WrappedTool
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.sharing import SharedDefinitions, SharedEntry
from mcp_conformance_reference.walk import LeftOut, Listing

__all__ = ["Serving"]


class Serving:
    """The listing half of a conversation. All limits are in seconds.

    Args:
        settings: The measures, the clock among them.
        shared: The entries it shares definitions by, None to list for itself alone.
        context: The configuration its tools are listed under, as one text.
        tenant: Whose it is.
        ttl: How long a list is served after it was written.
        limit: How long one listing may take.

    Attributes:
        client: The incarnation in use; set by whoever dials.
        own: That incarnation's own list; set with it.
        left_out: The entries of its last listing that are no tools, each with a reason.
    """

    definition_list_type: type[DefinitionList] = DefinitionList
    """The client's own lists."""

    def __init__(
        self,
        settings: Settings,
        shared: SharedDefinitions | None,
        context: str,
        tenant: str,
        ttl: float,
        limit: float,
    ) -> None:
        self.client: Incarnation
        self.own: DefinitionList
        self.left_out: tuple[LeftOut, ...] = ()
        self._settings = settings
        self._shared = shared
        self._context = context
        self._tenant = tenant
        self._ttl = ttl
        self._limit = limit

    def entry(self) -> SharedEntry | None:
        """The shared entry of this context if there is one; it is not made for the asking."""
        return None if self._shared is None else self._shared.peek(self._context, self._tenant)

    async def current(self) -> DefinitionList:
        """The list to serve from, listed if need be; nothing is awaited between its state and the return.

        Raises:
            ListFailed, ConnectionLost, VerbTimeout: As for `list_tools`.
        """
        for _ in range(self._settings.max_walks):
            served = self.served()
            if served.servable(self._settings.now(), self._ttl):
                return self.serve_from(served)
            flight = served.joinable() or self.begin(served)
            try:
                written = await flight.wait()
            except ClientError as error:
                if not self.lists_again(served, flight, error):
                    raise
                continue
            if written is not None and self.serves(written):
                return self.serve_from(written)
        walks = self._settings.max_walks
        raise ListFailed("tools/list", f"the tools changed during each of {walks} listings")

    def lists_again(self, served: DefinitionList, flight: ListFlight, error: ClientError) -> bool:
        """Whether a listing that failed leaves this conversation to list for itself.

        One that was overtaken had nothing to say any more; and what happened to somebody else's client did
        not happen to this one.
        """
        others = flight.lister is not self.client and isinstance(error, ConnectionLost | VerbTimeout)
        return others or self.overtaken(served, flight)

    def served(self) -> DefinitionList:
        """The list that this conversation is served from now."""
        if self._shared is None or self.own.servable(self._settings.now(), self._ttl):
            return self.own  # with sharing, an own list is only written where it could not be shared
        return self._shared.entry_for(self._context, self._tenant).list

    def serve_from(self, served: DefinitionList) -> DefinitionList:
        """Serve from a list; whatever could not be shared before is not what is served now."""
        if served is not self.own and self.own.written:
            self.own = self.definition_list_type()
        return served

    def serves(self, written: DefinitionList) -> bool:
        """Whether a list that was just written is this conversation's, and nothing ended it since."""
        entry = self.entry()
        return not written.stale and (written is self.own or (entry is not None and entry.list is written))

    def begin(self, served: DefinitionList) -> ListFlight:
        """Have a list listed on this conversation's own client."""
        client, own = self.client, self.own
        own_began = own.generation

        async def work(flight: ListFlight) -> DefinitionList | None:
            try:
                listing = await self.listing(client, lambda: self.overtaken(served, flight))
            except BaseException:
                self.failed(served)
                raise
            if listing is None or flight.settled:
                return None
            self.left_out = listing.left_out
            if served is own or self.shareable(listing):
                return self.write(served, flight.began, listing, client if served is own else None)
            if self.overtaken(served, flight):
                return None
            self.unshare(served)
            return self.write(own, own_began, listing, client)

        return served.begin(client, work)

    async def listing(self, client: Incarnation, overtaken: Callable[[], bool]) -> Listing | None:
        """One listing, all its pages, within the limit; None if something ended its list on the way.

        Raises:
            ListFailed, ConnectionLost, VerbTimeout: It failed.
        """
        with anyio.move_on_after(self._limit):
            return await client.listing(overtaken)
        raise VerbTimeout(self._settings.name, "tools/list", self._limit)

    def overtaken(self, served: DefinitionList, flight: ListFlight) -> bool:
        """Whether the list was invalidated since the listing began."""
        return served.generation != flight.began

    def write(
        self, into: DefinitionList, began: int, listing: Listing, client: Incarnation | None
    ) -> DefinitionList | None:
        """Write a whole listing, with the tools of the client whose own list it is.

        Returns:
            The list; None where the listing is of the past.
        """
        tools = None if client is None else self.wrapped(listing, into, client)
        return into if into.write(began, listing.definitions, tools, self._settings.now()) else None

    def wrapped(self, listing: Listing, into: DefinitionList, client: Incarnation) -> list[WrappedTool]:
        """The client's own tools for an own list: each good while that list is served with it."""

        def good(tool: WrappedTool) -> bool:
            return into is self.own and not into.stale and into.tool(tool.name) is tool

        return [WrappedTool(known, client, good) for known in listing.definitions]

    def shareable(self, listing: Listing) -> bool:
        """Whether a listing may be shared: it is whole, and not too long."""
        return self._shared is not None and self._shared.fits(len(listing.definitions), not listing.left_out)

    def unshare(self, served: DefinitionList) -> None:
        """A shared list has become one that cannot be shared: nobody is served from it any more."""
        assert self._shared is not None  # else the list would be the client's own
        self._shared.forget(served)

    def failed(self, served: DefinitionList) -> None:
        """A listing failed: a shared entry that was made for it takes no room that a good one may need."""
        if self._shared is not None and not served.written:
            self._shared.forget(served)
