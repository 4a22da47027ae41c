"""A conversation: one client incarnation after the other, what ends its lists, and calls by bindings.

```text
 call ─▶ wait (approval) ─▶ is the binding's list served at its generation? ─▶ send, judge
                                └ no ─▶ StaleTool, and nothing is sent
```

Source: the seed pool/definitions.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from mcp_conformance_reference.connection import OpenStreams
from mcp_conformance_reference.definitionlist import Binding, DefinitionList
from mcp_conformance_reference.definitions import plain_copy
from mcp_conformance_reference.errors import StaleTool, VerbTimeout
from mcp_conformance_reference.incarnation import Incarnation
from mcp_conformance_reference.parts import Parts
from mcp_conformance_reference.results import CallResult
from mcp_conformance_reference.sdk import Era
from mcp_conformance_reference.serving import Serving
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.sharing import SharedDefinitions, context_of

__all__ = ["Approve", "Conversation"]

Approve = Callable[[Binding, "dict[str, Any]"], Awaitable[None]]
"""Waits until a call may be made; raises if it may not."""


class Conversation(Serving):
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
        timeout: The limit of one listing, and of one call, in seconds.
        name: What the server is called in errors.
    """

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
        settings = Settings(parts=Parts(), era=era, name=name, now=now)
        super().__init__(settings, shared, context_of(context or {}), tenant, ttl, timeout)
        self._open_streams = open_streams
        self._approve = approve
        self._opened: list[Incarnation] = []

    # -- life ----------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Conversation:
        await self.replace()
        return self

    async def __aexit__(self, *exc: object) -> None:
        with anyio.CancelScope(shield=True):
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
            VerbTimeout: It took longer than the limit, the wait for approval left out.
            ValueError: The arguments are not plain JSON.
        """
        copied = plain_copy({} if arguments is None else arguments)
        await self.wait_before(binding, copied)
        with anyio.move_on_after(self._limit):
            self.refuse_stale(binding)
            return await self.client.call(binding.definition, copied)
        raise VerbTimeout(self._settings.name, "tools/call", self._limit)

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
        if [client] == self._opened[-1:]:
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
