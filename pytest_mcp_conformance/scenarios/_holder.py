"""One holder: an adapter entered once, driven by its verbs, owned by one task from start to end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from pytest_mcp_conformance.contract import (
    Adapter,
    AdapterError,
    Claims,
    Dial,
    Outcome,
    Tool,
)
from pytest_mcp_conformance.contract._outcome import outcome_of
from pytest_mcp_conformance.contract._tool import names_of, tools_of
from pytest_mcp_conformance.scenarios._judge import NotClaimed, reached
from pytest_mcp_conformance.scenarios._notes import Notes
from pytest_mcp_conformance.scenarios._owner import Opener, Owner
from pytest_mcp_conformance.scenarios._prefixes import prefixed
from pytest_mcp_conformance.scenarios._verbs import Pending, is_async, perform
from pytest_mcp_conformance.server import ABSENT, ScriptedServer

__all__ = ["Holder"]

_AT_HOME = frozenset({"invalidate", "permissions_changed", "bind", "received", "refusal_payload"})
"""Verbs that wait for nobody."""

OUT_OF_THE_CACHE = ("refresh", "invalidate", "reconnect")
"""Verbs after which the next list asks the server."""


class Holder(Owner):
    """One user of the wrapper under test.

    Args:
        adapter: How to drive it.
        dial: Its way in.
        shared: What holders share, where the adapter shares something.
        server: The script at the other end.
        opener: Where it is entered, if not in its owner task.

    Attributes:
        names_are_the_servers: Whether a tool has to be handed out under the name that its server lists.
    """

    def __init__(
        self,
        adapter: Adapter,
        dial: Dial,
        shared: tuple[Any, ...],
        server: ScriptedServer,
        opener: Opener | None = None,
    ) -> None:
        super().__init__(adapter, (dial, *shared), opener)
        self.server = server
        self.principal = dial.principal
        self.names_are_the_servers = True
        self.handed_out: Any = None
        self._handles: dict[str, Any] = {}
        self._shown = 0
        self._lapsed: int | None = None
        self._notes = Notes(server, dial.principal)

    @property
    def connections(self) -> int:
        """How many connections the server has seen so far."""
        return len(self.server.connections)

    def same_connections(self, before: int) -> bool:
        """True when nothing was dialled since there were `before`; who dials for each verb is excused."""
        return self.claims.dials_per_operation or self.connections == before

    @property
    def claims(self) -> Claims:
        """What the adapter promises."""
        return self.adapter.claims

    def has(self, verb: str) -> bool:
        """True when the adapter gives `verb`."""
        return self.wrapper is not None and self.wrapper.has(verb)

    def is_async(self, verb: str) -> bool:
        """True when the verb can be cancelled: a plain function in a thread cannot."""
        return self.wrapper is not None and is_async(getattr(self.wrapper, verb))

    def start(self, verb: str, *arguments: Any) -> Pending[Any]:
        """Start any verb, and get it under way.

        Raises:
            NotClaimed: The adapter does not give it.
        """
        return Pending(self._run(verb, *arguments), verb)

    async def verb(self, verb: str, *arguments: Any) -> Any:
        """Run any verb to its end.

        Raises:
            NotClaimed: The adapter does not give it.
            VerbFailed: It raised or did not end.
        """
        return await self.start(verb, *arguments).result()

    def part(self, verb: str) -> Any:
        """The white-box verb itself: a part of the wrapper, to be called in the event loop.

        Raises:
            NotClaimed: The adapter does not give it.
        """
        if self.wrapper is None or not self.wrapper.has(verb):
            raise NotClaimed(verb)
        return getattr(self.wrapper, verb)

    def start_listing(self) -> Pending[list[Tool]]:
        """Start `list_tools`."""
        return Pending(self._list(), "list_tools")

    async def list_tools(self) -> list[Tool]:
        """The tools as a user gets them.

        Raises:
            VerbFailed: It raised or did not end.
        """
        return await self.start_listing().result()

    async def names(self) -> list[str]:
        """The names of the tools as a user gets them, sorted."""
        return names_of(await self.list_tools())

    def start_call(
        self, name: str, nonce: str | None = "", handle: Any = ABSENT, **arguments: Any
    ) -> Pending[Outcome]:
        """Start a call of the tool `name`, by what the last listing gave for it, or by `handle`."""
        chosen = self._handles.get(name, name) if handle is ABSENT else handle
        told = arguments if nonce is None else {"nonce": nonce, **arguments}
        shown = self._shown if handle is ABSENT and name in self._handles else 0
        return Pending(self._call(name, "call_tool", chosen, told, shown=shown), "call_tool")

    def start_call_given(self, name: str, arguments: Mapping[str, Any]) -> Pending[Outcome]:
        """Start a call of the tool `name` with these arguments alone, whatever they are called."""
        return Pending(self._call(name, "call_tool", self.handle(name), dict(arguments)), "call_tool")

    def start_call_with(
        self, name: str, nonce: str, meta: Mapping[str, Any], on_progress: Callable[[float], None] | None
    ) -> Pending[Outcome]:
        """Start a call of the tool `name` that carries `_meta`, and whose progress is heard."""
        return Pending(
            self._call(name, "call_with", self.handle(name), {"nonce": nonce}, meta, on_progress), "call_with"
        )

    def start_call_with_headers(self, name: str, nonce: str, headers: Mapping[str, str]) -> Pending[Outcome]:
        """Start a call of the tool `name` that is to carry HTTP headers of its own."""
        given = (self.handle(name), {"nonce": nonce}, dict(headers))
        return Pending(self._call(name, "call_with_headers", *given), "call_with_headers")

    def start_call_within(self, name: str, nonce: str, seconds: float) -> Pending[Outcome]:
        """Start a call of the tool `name` that is to end after so many seconds, whatever comes."""
        given = (self.handle(name), {"nonce": nonce}, seconds)
        return Pending(self._call(name, "call_within", *given), "call_within")

    async def call(
        self, name: str, nonce: str | None = "", handle: Any = ABSENT, **arguments: Any
    ) -> Outcome:
        """Call the tool `name`, and say what came of it; an exception is an outcome too.

        Raises:
            VerbFailed: It did not end.
        """
        return await self.start_call(name, nonce, handle, **arguments).result()

    def handle(self, name: str) -> Any:
        """The very object that the last listing gave for `name`."""
        return self._handles.get(name, name)

    async def try_names(self) -> list[str] | None:
        """The names of the tools, sorted, or `None` when `list_tools` raised.

        Raises:
            VerbFailed: It did not end.
        """
        listing = self.start_listing()
        if (
            await listing.ended()
            and listing.error is not None
            and not isinstance(listing.error, AdapterError | NotClaimed)
        ):
            return None
        return names_of(await listing.result())

    async def make_stale(self, *, may_fail: bool = False) -> str:
        """Have the next list ask the server: the first way that the adapter has. Returns which.

        Args:
            may_fail: Bear it that the verb raises, where the script has it fail.

        Raises:
            NotClaimed: It keeps lists and has no way to be rid of one.
        """
        claims, server = self.claims, self.server
        if not claims.makes("caches_listings"):
            return "nothing is kept"
        if (
            claims.makes("clock")
            and server.era == "modern"
            and isinstance(server.ttl_ms, int)
            and server.ttl_ms > 0
        ):
            self._lapsed = server.ledger.mark
            await asyncio.sleep(server.ttl_ms / 1000)
            return "lapse"
        if claims.makes("reacts_to_list_changed") and await server.notify_list_changed(
            principal=self.principal
        ):
            await self.react()
            return "notice"
        for verb in OUT_OF_THE_CACHE:
            if self.has(verb):
                under_way = self.start(verb)
                if not (may_fail and await under_way.ended() and under_way.error is not None):
                    await under_way.result()
                return verb
        raise NotClaimed("clock, reacts_to_list_changed, refresh, invalidate or reconnect")

    async def take_newer(self, name: str) -> list[str]:
        """Have a list taken that has this tool, by the first way that leads there. Returns its names.

        What a notice, or a verb, leaves undone is no matter here: other rules are about that.

        Raises:
            NotReached: None does.
            NotClaimed: It keeps lists and has no way to be rid of one.
        """
        way = await self.make_stale()
        names = await self.names()
        if name not in names and self.claims.makes("clock"):
            await asyncio.sleep(self.claims.own_timeout or 0.0)  # what the notice began may be in the way
        for verb in OUT_OF_THE_CACHE:
            if name not in names and verb != way and self.has(verb):
                await self.verb(verb)
                names = await self.names()
        reached(name in names, "the newer listing was not taken")
        return names

    async def react(self) -> None:
        """Give the wrapper the time that it claims to need after a notice."""
        await asyncio.sleep(self.claims.reacts_to_list_changed or 0.0)
        await self.server.settle()

    async def opened(self) -> bool:
        """Wait for the set-up's end. False when it failed; then `error` says how."""
        opened = await super().opened()
        if opened:
            self._notes.entered()
        else:
            self._notes.not_entered(self.error)
        return opened

    async def close(self) -> None:
        """Tear down. What goes wrong is written to `trouble`. A second time is nothing."""
        await super().close()
        self._notes.left()

    async def _run(self, verb: str, *arguments: Any) -> Any:
        self._must_have(verb)
        with self._notes.verb(verb, *arguments):
            return await self._perform(verb, *arguments)

    async def _perform(self, verb: str, *arguments: Any) -> Any:
        self._must_have(verb)
        return await perform(getattr(self.wrapper, verb), *arguments, reaches_out=verb not in _AT_HOME)

    def _must_have(self, verb: str) -> None:
        if self.wrapper is None or not self.wrapper.has(verb):
            raise NotClaimed(verb)

    async def _list(self) -> list[Tool]:
        with self._notes.listing() as served:
            try:
                self.handed_out = await self._perform("list_tools")
                served += tools_of(self.handed_out)
                if self.names_are_the_servers and (remedy := prefixed(served, self.server.history)):
                    raise AdapterError(remedy)
            except AdapterError as wrong:
                self.error = wrong
                raise
            self._must_have_asked()
            self._handles = {tool.name: tool.handle for tool in served}
        self._shown = len(self.server.history)
        return served

    def _must_have_asked(self) -> None:
        """After a lapse: whom lifetimes are nothing to is told so by their own rules, and by no other.

        Raises:
            NotClaimed: The list was served without the server.
        """
        mark, self._lapsed = self._lapsed, None
        if mark is not None and not self.server.ledger.listings(since=mark):
            raise NotClaimed("a list that lapses with its lifetime")

    async def _call(self, name: str, verb: str, *given: Any, shown: int = 0) -> Outcome:
        with self._notes.call(name, verb, given[1], shown) as outcomes:
            try:
                outcomes.append(outcome_of(await self._perform(verb, *given)))
            except Exception as raised:
                outcomes.append(outcome_of(error=raised))
            return outcomes[0]
