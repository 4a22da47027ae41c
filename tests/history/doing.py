"""What users do in a schedule, one thing at a time."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.scenarios._verbs import Pending
from tests.history.scripting import Script
from tests.history.users import User

__all__ = ["Users"]


class Users(Script):
    """What users do."""

    async def list(self, user: User) -> None:
        """A user asks for the tools, and waits."""
        await self.end(self.listing(user))

    async def start_listing(self, user: User) -> None:
        """A user asks for the tools, and does something else meanwhile."""
        user.under_way.append(self.listing(user))
        await asyncio.sleep(0)

    def listing(self, user: User) -> Pending[Any]:
        truth, server = user.truth, self.server
        asked = truth.asks(asyncio.get_running_loop().time(), len(server.ledger.listings()))
        lapses = self._lapsed(user) if user.holder.claims.makes("clock") else None

        async def listing() -> None:
            try:
                names = await user.holder.names()
            except Exception:
                truth.spoilt = True
                return
            frames = len(server.ledger.listings())
            truth.is_served(names, asked, frames, lambda each: self._owners[each] == user.principal, lapses)

        return Pending(listing(), "list_tools")

    def _lapsed(self, user: User) -> float | None:
        """When the last lifetime of all that was answered ended; None where one is not known.

        None as well where an answer may not have been read yet: whoever asks in that moment waits for it
        with those who had it fetched, and is served rightly what lapses at once.
        """
        now = asyncio.get_running_loop().time()
        answers = self.server.ledger.frames("tools/list", kind="answered", principal=user.principal)
        if any(event.n > self.server.history.rest and event.at == now for event in answers[-2:]):
            return None
        ends = [
            None if (ttl := event.message["result"].get("ttlMs")) is None else event.at + max(ttl, 0) / 1000
            for event in answers
        ]
        known = [end for end in ends if end is not None]
        return max(known) if ends and len(known) == len(ends) else None

    async def call(self, user: User) -> None:
        """A user calls a tool, and waits."""
        await self.end(self.calling(user))

    async def start_call(self, user: User) -> None:
        """A user calls a tool, and does something else meanwhile."""
        user.under_way.append(self.calling(user))
        await asyncio.sleep(0)

    async def twins(self, user: User) -> None:
        """Two equal calls, one after the other."""
        nonce = f"n{self.calls}"
        self.calls += 1
        good = 0
        for _ in range(2):
            calling = user.holder.start_call("a", nonce)
            await self.end(calling)
            good += calling.error is None and calling.done and (await calling.result()).ok
        if good > len(self.server.ledger.calls(nonce)):
            self.showed["unsent"] += 1

    def calling(self, user: User, *, judged: bool = False) -> Pending[Any]:
        nonce = f"n{self.calls}"
        self.calls += 1
        server, holder = self.server, user.holder
        before = len(server.history)

        async def calling() -> None:
            outcome = await holder.call("a", nonce)
            if outcome.ok:
                self.handed[nonce] = len(server.history)
            frames = server.ledger.calls(nonce)
            if any(event.kind == "closed" for event in server.history.since(before)):
                return
            if len(frames) > 1:
                self.showed["twice"] += 1
            if outcome.ok and isinstance(outcome.value, dict) and outcome.value.get("nonce") != nonce:
                self.showed["foreign"] += 1
            if not outcome.ok and len(frames) == 1 and self._executed(frames[0]):
                self.showed["lost"] += not self._has_promised(user)
                self.showed["judged"] += judged

        return Pending(calling(), "call_tool")

    def _has_promised(self, user: User) -> bool:
        """Whether `a` was ever listed with an output schema to this user."""
        return any(
            "outputSchema" in each
            for event in self.server.ledger.frames("tools/list", kind="answered", principal=user.principal)
            for each in event.message["result"]["tools"]
            if each["name"] == "a"
        )

    def _executed(self, request: Event) -> bool:
        return any(
            event.id == request.id and event.connection == request.connection and event.at == request.at
            for event in self.server.ledger.frames("tools/call", kind="answered")
        )

    def starting(self, verb: str, user: User) -> Pending[Any]:
        """A verb that a user begins with."""

        async def verb_of() -> None:
            try:
                await user.holder.verb(verb)
            except Exception:
                user.truth.spoilt = True
                raise

        return Pending(verb_of(), verb)

    def keep(self, user: User, pending: Pending[Any]) -> None:
        """A verb goes on by itself."""
        user.under_way.append(pending)

    async def invalidate(self, user: User) -> None:
        """The application says that the tools changed."""
        generation = self._generations[user.principal]
        verb = self.starting("invalidate", user)
        await self.end(verb)
        if verb.done and verb.error is None:
            user.truth.floors["invalidate"] = generation

    async def refresh(self, user: User) -> None:
        """The application has the tools listed again."""
        generation = self._generations[user.principal]
        await self.server.settle()
        out = self._out()
        verb = self.starting("refresh", user)
        await self.end(verb)
        if verb.done and verb.error is None and not out:
            user.truth.floors["refresh"] = generation

    async def reconnect(self, user: User) -> None:
        """The application has the connection opened anew."""
        generation = self._generations[user.principal]
        verb = self.starting("reconnect", user)
        await self.end(verb)
        lifetimes = self.server.era == "modern"
        if verb.done and verb.error is None and not lifetimes:
            user.truth.floors["reconnect"] = generation

    async def give_up(self, user: User) -> None:
        """A user gives up what is under way."""
        if user.under_way:
            await user.under_way.pop(self.luck.randrange(len(user.under_way))).cancel()
            await self.server.settle()

    async def end(self, pending: Pending[Any]) -> None:
        """Wait for a verb; where its answer is held, only until everything rests."""
        if not self._gates:
            await pending.ended()
            return
        await self.server.settle()
        if not pending.done:
            self._wait_for_what_is_out()
            await pending.ended(self.luck.choice((0.5, 40.0)))
