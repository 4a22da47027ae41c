"""What the script does in a schedule, one thing at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import ExitStack
from random import Random
from typing import Any

from pytest_mcp_conformance.server import ABSENT, HOUR_MS, tool
from tests.history.users import User

__all__ = ["Script"]

LIFETIMES = (0, 0, 5000, HOUR_MS, HOUR_MS, HOUR_MS, -5, ABSENT)
KINDS = ("integer", "string", None)


class Script:
    """What the script does.

    Args:
        luck: What decides.
    """

    def __init__(self, luck: Random) -> None:
        self.luck = luck
        self.showed: Counter[str] = Counter()
        self._owners: dict[int, str | None] = {}
        self._generations: dict[str | None, int] = {}
        self._users: list[User] = []
        self.calls = 0
        self._gentle = luck.random() < 0.6
        self.paged = luck.random() < 0.25
        self.server: Any = None
        self._stack = ExitStack()
        self._gates: list[Any] = []
        self.handed: dict[str, int] = {}
        self.kind: str | None = ""

    @property
    def busy(self) -> bool:
        """Whether answers are held."""
        return bool(self._gates)

    def change(self, principal: str | None, lifetime: Any = None) -> int:
        """List something that was never listed."""
        server, luck = self.server, self.luck
        generation = server.generation + 1
        self._owners[generation] = principal
        self._generations[principal] = generation
        server.ttl_ms = luck.choice(LIFETIMES) if lifetime is None else lifetime
        a = tool("a", luck.choice(KINDS) if self.kind == "" else self.kind)
        if self.paged:
            server.pages([a, f"g{generation}"], [f"h{generation}"], principal=principal)
        else:
            server.has_tools(a, f"g{generation}", principal=principal)
        return generation

    async def change_quietly(self, user: User) -> None:
        """The tools change, and nobody is told."""
        self.change(user.principal)

    async def change_and_say(self, user: User, lifetime: Any = None) -> None:
        """The tools change, and the user's connections are told."""
        generation = self.change(user.principal, lifetime)
        settled = self.luck.random() < 0.8
        open_ones = [c for c in self.server.connections if c.open and c.principal == user.principal]
        told = await self.server.notify_list_changed(connections=open_ones, settled=settled)
        if settled and told and len(open_ones) == 1 and user.holder.claims.makes("reacts_to_list_changed"):
            user.truth.floors["notice"] = generation

    async def hold(self, user: User) -> None:
        """Answers are held from now on."""
        if len(self._gates) < 2:
            method = self.luck.choice(("tools/list", "tools/list", "tools/call"))
            self._gates.append(self._stack.enter_context(self.server.holding(method)))

    async def release(self, user: User) -> None:
        """One answer that is held goes out, or all, and nothing is held any more."""
        held = [each for gate in self._gates for each in gate.held if each.waiting]
        if held and self.luck.random() < 0.6:
            self.luck.choice(held).release()
        elif self._gates:
            gate = self._gates.pop(self.luck.randrange(len(self._gates)))
            gate.open()
            order = [*range(1, len(gate.held) + 1)]
            self.luck.shuffle(order)
            gate.release_all(order)

    async def chatter(self, user: User) -> None:
        """The server says something that nobody asked for."""
        for connection in self.server.connections:
            if connection.open and connection.principal == user.principal:
                connection.notify("notifications/vendor/odd", {"x": 1})
        await self.server.settle()

    async def fail_a_listing(self, user: User) -> None:
        """The next listing fails."""
        self.spoil()
        self.server.fails("tools/list")

    async def fail_a_call(self, user: User) -> None:
        """The next call fails."""
        self.server.fails("tools/call")

    async def drop(self, user: User) -> None:
        """The server hangs up."""
        self.spoil()
        self.server.drop()
        await self.server.settle()
        if not user.holder.claims.makes("redials") or user.principal is not None or self.busy:
            return
        mark = len(self.server.history)
        failed = 0
        for _ in range(2):
            listing = user.holder.start_listing()
            await listing.ended()
            failed += listing.error is not None
        if failed == 2 and not any(e.kind in ("opened", "asked") for e in self.server.history.since(mark)):
            self.showed["dead"] += 1

    async def pass_time(self, user: User) -> None:
        """Time passes."""
        self._wait_for_what_is_out()
        await asyncio.sleep(self.luck.choice((1.0, 5.0, 61.0, 3600.0)))

    async def settle(self, user: User) -> None:
        """Everything comes to rest."""
        await self.server.settle()

    def _wait_for_what_is_out(self) -> None:
        """Time passes while listings are out: they may be given up, and old lists are allowed."""
        if self._out():
            self.spoil()

    def spoil(self) -> None:
        for user in self._users:
            user.truth.spoilt = True

    def _out(self) -> bool:
        return any(each.waiting for gate in self._gates for each in gate.held)
