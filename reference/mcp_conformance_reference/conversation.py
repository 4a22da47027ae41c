"""A conversation: one client incarnation after the other, the lists it is served from, calls by bindings.

```text
 list_tools ─▶ the list to serve from: the client's own, or the shared entry of its context
                 │ servable? ── yes ─▶ bindings
                 └ no ─▶ join the listing under way, or begin one on this client ─▶ look again
 call ─▶ wait (approval) ─▶ is the binding's list served at its generation? ─▶ send, judge
                                └ no ─▶ StaleTool, and nothing is sent
```

Source: the seed pool/definitions.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

import anyio

from mcp_conformance_reference.connection import OpenStreams
from mcp_conformance_reference.definitionlist import Binding, DefinitionList, ListFlight
from mcp_conformance_reference.definitions import plain_copy
from mcp_conformance_reference.errors import ClientError, ConnectionLost, ListFailed, StaleTool, VerbTimeout
from mcp_conformance_reference.incarnation import Incarnation
from mcp_conformance_reference.parts import Parts
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.sdk import Era
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.sharing import SharedDefinitions, SharedEntry, context_of
from mcp_conformance_reference.walk import LeftOut, Listing

__all__ = ["Approve", "Conversation"]

Approve = Callable[[Binding, "dict[str, Any]"], Awaitable[None]]
"""Waits until a call may be made; raises if it may not."""


class Conversation:
    """One user of one server: `async with Conversation(streams) as talk`.

    Args:
        open_streams: Opens one connection; see `ReferenceClient`.
        shared: The entries it shares definitions by, None to list for itself alone.
        context: The configuration its tools are listed under, plain JSON by name.
        tenant: Whose conversation it is.
        ttl: How long a list is served after it was written, in seconds; infinity for no limit.
        now: The clock that this is counted by, in seconds; the same for all that share.
        approve: Awaited before each call.
        era: "handshake" or "modern".
        timeout: The limit of one listing, in seconds.
        name: What the server is called in errors.

    Attributes:
        client: The incarnation in use.
        own: That incarnation's own list.
        left_out: The entries of its last listing that are no tools, each with a reason.
    """

    definition_list_type: type[DefinitionList] = DefinitionList
    """The client's own lists."""
    incarnation_type: type[Incarnation] = Incarnation
    """What is dialled."""

    def __init__(
        self,
        open_streams: OpenStreams,
        *,
        shared: SharedDefinitions | None = None,
        context: Mapping[str, Any] | None = None,
        tenant: str = "",
        ttl: float = math.inf,
        now: Callable[[], float] = anyio.current_time,
        approve: Approve | None = None,
        era: Era = "handshake",
        timeout: float = 30.0,
        name: str = Settings.name,
    ) -> None:
        self.client: Incarnation
        self.own = self.definition_list_type()
        self.left_out: tuple[LeftOut, ...] = ()
        self._open_streams = open_streams
        self._shared = shared
        self._context = context_of(context or {})
        self._tenant = tenant
        self._ttl = ttl
        self._approve = approve
        self._settings = Settings(parts=Parts(), era=era, name=name, now=now)
        self._limit = timeout
        self._opened: list[Incarnation] = []
        self._numbers = count(1)

    # -- life ----------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Conversation:
        await self.replace()
        return self

    async def __aexit__(self, *exc: object) -> None:
        for client in self._opened:
            await client.close()

    async def replace(self) -> None:
        """Dial, and go on with the new incarnation: another session, whose list may differ.

        The one before is left when its last call is answered.

        Raises:
            DialFailed: The one before stays in use.
        """
        client = self.incarnation_type(self._open_streams, self._settings, self.noticed)
        try:
            await client.open()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await client.close()
            raise
        before, self.client = self._opened[-1:], client
        self._opened = [each for each in self._opened if each.alive] + [client]
        self.own = self.list_of(client)
        for each in before:
            await each.retire()

    def list_of(self, client: Incarnation) -> DefinitionList:
        """The own list of an incarnation: a new one, whatever was listed before it."""
        return self.definition_list_type()

    # -- tools ---------------------------------------------------------------------------------------------

    async def list_tools(self) -> list[Binding]:
        """A binding to each tool, in the server's order.

        Raises:
            ListFailed, ConnectionLost: The listing failed. The next need lists again.
            VerbTimeout: It took longer than the limit.
        """
        served = await self.current()
        return [served.bind(known) for known in served.all()]

    async def call(self, binding: Binding, arguments: dict[str, Any] | None = None) -> CallResult:
        """Call a tool by a binding, and judge its answer by the definition that the binding holds.

        Raises:
            StaleTool: The list it was taken from is not served at its generation. Nothing was sent.
            SchemaUnusable: Its output schema cannot judge anything. Nothing was sent.
            CallFailed, CheckFailed, ConnectionLost: As for `ReferenceClient.call_tool`.
            ValueError: The arguments are not plain JSON.
        """
        copied = plain_copy({} if arguments is None else arguments)
        await self.wait_before(binding, copied)
        self.refuse_stale(binding)
        return await self.client.call(binding.definition, copied)

    async def wait_before(self, binding: Binding, arguments: dict[str, Any]) -> None:
        """Whatever a call waits for before it is sent. Nobody approves what is refused anyway."""
        if self._approve is not None:
            self.refuse_stale(binding)
            await self._approve(binding, arguments)

    def refuse_stale(self, binding: Binding) -> None:
        """Refuse a binding that is not of the lists that are served now.

        Raises:
            StaleTool: It is not.
        """
        if not self.admits(binding):
            where = f"list {binding.list_id}, generation {binding.generation}"
            raise StaleTool(binding.name, f"it is bound to {where}, which is served no more")

    def admits(self, binding: Binding) -> bool:
        """Whether a binding is of a list that this conversation is served from, at its generation."""
        entry = self.entry()
        return self.own.admits(binding) or (entry is not None and entry.list.admits(binding))

    # -- what ends a list ----------------------------------------------------------------------------------

    def noticed(self, client: Incarnation) -> None:
        """The server said that its tools changed: to all who share, and to the incarnation it was said to."""
        if client is self.client:
            self.own.invalidate()
        self.invalidate_entry()

    def tools_changed(self) -> None:
        """The application says that the tools changed."""
        self.own.invalidate()
        self.invalidate_entry()

    def permissions_changed(self) -> None:
        """The application says that what this tenant may do changed, in whichever context."""
        self.own.invalidate()
        if self._shared is not None:
            self._shared.invalidate(lambda entry: entry.tenant == self._tenant)

    def reconfigure(self, context: Mapping[str, Any]) -> None:
        """The configuration changed: a new context is a new list.

        Raises:
            ValueError: A field is not plain JSON; then nothing has changed.
        """
        self._context = context_of(context)
        self.own = self.definition_list_type()

    def invalidate_entry(self) -> None:
        """Invalidate the shared list of this context, where there is one, for everybody."""
        entry = self.entry()
        if entry is not None:
            entry.list.invalidate()

    def entry(self) -> SharedEntry | None:
        """The shared entry of this context if there is one; it is not made for the asking."""
        return None if self._shared is None else self._shared.peek(self._context, self._tenant)

    # -- listing -------------------------------------------------------------------------------------------

    async def current(self) -> DefinitionList:
        """The list to serve from, listed if need be; nothing is awaited between its state and the return.

        Raises:
            ListFailed, ConnectionLost, VerbTimeout: As for `list_tools`.
        """
        for _ in range(self._settings.max_walks):
            served = self.served()
            if served.servable(self._settings.now(), self._ttl):
                return served
            flight = served.joinable() or self.begin(served)
            try:
                written = await flight.wait()
            except ClientError as error:
                if not self.lists_again(served, flight, error):
                    raise
                continue
            if written is not None and self.serves(written):
                return written
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
        with anyio.move_on_after(self._limit) as scope:
            return await client.listing(next(self._numbers), overtaken)
        assert scope.cancelled_caught
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
        tools = None if client is None else [client.wrap(known) for known in listing.definitions]
        return into if into.write(began, listing.definitions, tools, self._settings.now()) else None

    def shareable(self, listing: Listing) -> bool:
        """Whether a listing may be shared: it is whole, and not too long."""
        return self._shared is not None and self._shared.fits(len(listing.definitions), not listing.left_out)

    def unshare(self, served: DefinitionList) -> None:
        """A shared list has become one that cannot be shared: nobody is served from it any more."""
        if self._shared is not None:
            self._shared.drop(served)

    def failed(self, served: DefinitionList) -> None:
        """A listing failed: a shared entry that was made for it takes no room that a good one may need."""
        if self._shared is not None and not served.written:
            self._shared.forget(served)
