"""Entering adapters: what a scenario is given as `connect`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from pytest_mcp_conformance.clock import Clock, NeverQuiet, settle
from pytest_mcp_conformance.contract import Adapter, AdapterError, Claims, Dial, NotSpoken, Rule, Wrapper
from pytest_mcp_conformance.contract._adapter import place_of
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import Judge, NotClaimed
from pytest_mcp_conformance.scenarios._needs import missing_verbs
from pytest_mcp_conformance.scenarios._owner import Opener
from pytest_mcp_conformance.scenarios._scenario import HTTP, SSE
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import NotReached, ScriptedServer
from pytest_mcp_conformance.server.ways.configuration import Configuration
from pytest_mcp_conformance.server.ways.dial import ScriptedDial
from pytest_mcp_conformance.server.ways.ways import Ways

__all__ = ["Connect"]


class Connect:
    """Enters one adapter, once or several times: `async with connect(server) as wrapper`.

    Args:
        adapter: What is entered.
        judge: Learns which verbs are missing.
        rules: The rules of the scenario.
        clock: What dials hand out as the clock.
        shared: What holders share, where the adapter shares something.
        ways: The ways in of this play.

    Attributes:
        double: The double of the SDK that `dial.session()` gives from now on; None for the SDK itself.
        told_era: What `dial.era` says from now on, by default the era that is played.
    """

    def __init__(
        self,
        adapter: Adapter,
        judge: Judge,
        rules: tuple[Rule, ...],
        clock: Clock,
        shared: tuple[Any, ...],
        ways: Ways,
    ) -> None:
        self.adapter = adapter
        self.holders: list[Holder] = []
        self.double: Any = None
        self.told_era = ""
        self._dials: list[ScriptedDial] = []
        self._configuration: Configuration | None = None
        self._judge = judge
        self._rules = rules
        self._clock = clock
        self._shared = shared
        self.ways = ways

    @property
    def transport(self) -> str:
        """The way in of this play."""
        return self.ways.transport

    @property
    def tells_of_a_loss(self) -> bool:
        """Whether a client learns at once that its connection is lost; over `HTTP` the next answer tells."""
        return self.transport not in HTTP

    @property
    def claims(self) -> Claims:
        """What the adapter promises."""
        return self.adapter.claims

    @asynccontextmanager
    async def __call__(self, server: ScriptedServer, principal: str | None = None) -> AsyncIterator[Holder]:
        """One holder, connected as `principal`, and closed at the end of the block.

        Raises:
            NotReached: The set-up raised or did not end.
            NotClaimed: No rule of the scenario can be judged without a verb that the adapter lacks.
        """
        holder = await self.attempt(server, principal)
        if holder.error is not None:
            raise NotReached(holder.failure) from holder.error
        try:
            yield holder
        finally:
            await self._has_arrived(holder)
            await holder.close()

    async def attempt(
        self, server: ScriptedServer, principal: str | None = None, opener: Opener | None = None
    ) -> Holder:
        """Enter the adapter, whatever comes of it: `holder.error` says how the set-up failed."""
        holder = await self._opened(self.enter(server, principal, opener))
        self._look_at(holder)
        return holder

    def enter(
        self, server: ScriptedServer, principal: str | None = None, opener: Opener | None = None
    ) -> Holder:
        """Begin to enter the adapter, and do not wait: in a task of its own, or in that of `opener`."""
        dial = self.dial(server, principal, told_era=self.told_era)
        dial.configuration = self._configuration
        self._dials.append(dial)
        holder = Holder(self.adapter, dial, self._shared, server, opener)
        self.holders.append(holder)
        return holder

    async def attempt_together(
        self, wrapper: Holder, *servers: ScriptedServer, principals: Sequence[str] = ()
    ) -> Holder:
        """Build one object that holds several servers, whatever comes of it.

        Args:
            wrapper: Whose verb `together` builds it.
            servers: Its servers.
            principals: As whom it is connected to each; as nobody where none are given.

        Raises:
            NotClaimed: The adapter has no such object.
        """
        together = wrapper.part("together")
        dials = [self.dial(each, who) for each, who in zip_longest(servers, principals)]

        async def play(dial: Dial) -> AsyncIterator[Wrapper]:
            async with together(dials) as held:
                if not isinstance(held, Wrapper):
                    where, kind = place_of(inspect.unwrap(together)), type(held).__name__
                    raise AdapterError(f"together at {where}: gives a {kind}; yield Wrapper(...)")
                yield held

        holder = Holder(replace(self.adapter, play=play, shared=None), dials[0], (), servers[0])
        holder.names_are_the_servers = False
        self._dials += dials
        self.holders.append(holder)
        await self._opened(holder)
        if isinstance(holder.error, AdapterError | NotSpoken):
            raise holder.error
        return holder

    def dial(
        self, server: ScriptedServer, principal: str | None = None, *, told_era: str = "", renewal: int = 0
    ) -> ScriptedDial:
        """A way in that no holder has been given yet, whose credentials the server knows.

        Args:
            server: The script to connect to.
            principal: Whose credentials to carry.
            told_era: What it says of the era.
            renewal: How many times the credential was replaced by a new one.
        """
        dial = ScriptedDial(server, principal, self._clock, self.double, self.ways, told_era, renewal)
        if self.adapter.blocks or (principal is not None and self.transport in HTTP | SSE):
            dial.open()
        return dial

    def hand_out(self, configuration: Configuration | None) -> None:
        """Have every dial give these very objects from now on, or new ones each time."""
        self._configuration = configuration
        for dial in self._dials:
            dial.configuration = configuration

    async def left_open(self, server: ScriptedServer) -> list[int]:
        """The numbers of the connections that are open though their holders have closed.

        A pool may keep some for later. It ends them with what is shared, which is looked at after each play.
        """
        left = await server.left_open()
        return [] if self.claims.makes("pools_connections") else left

    @property
    def took_session(self) -> bool:
        """Whether a holder asked for a session: who takes streams brings an SDK of its own."""
        return any(dial.gave_session for dial in self._dials)

    def start(self, server: ScriptedServer, principal: str | None = None) -> Pending[Holder]:
        """Begin to enter the adapter in a task of its own."""
        return Pending(self.attempt(server, principal), "connect")

    async def close_all(self) -> None:
        """Close every holder, the last one first."""
        await self._has_arrived(*self.holders)
        for holder in reversed(self.holders):
            await holder.close()

    async def _has_arrived(self, *closing: Holder) -> None:
        """Let late answers arrive before a close: mcp 1.x raises where they cross it, by luck (#1960).

        Where all are closed already nothing is waited for, so that what they have left can be seen.
        """
        if self.transport != "memory" and any(holder.stays for holder in closing):
            with suppress(NeverQuiet):
                await settle()

    async def _opened(self, holder: Holder) -> Holder:
        await holder.opened()
        if self.transport != "memory":
            await settle()  # the last words of the handshake may still be under way
        return holder

    def _look_at(self, holder: Holder) -> None:
        if isinstance(holder.error, AdapterError | NotSpoken):
            raise holder.error
        wrapper: Wrapper | None = holder.wrapper
        if wrapper is None:
            return
        for rule in self._rules:
            missing = missing_verbs(rule, self.claims, wrapper)
            if missing:
                self._judge.not_claimed(rule, missing)
        if self._rules and not self._judge.any_open():
            raise NotClaimed("every rule of this scenario")
