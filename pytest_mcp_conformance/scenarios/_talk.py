"""A conversation of the wrapper, as the scenarios of DEF and SHR drive it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pytest_mcp_conformance.contract import Outcome
from pytest_mcp_conformance.contract._outcome import outcome_of
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import ScriptedServer

__all__ = ["Bindings", "Talk", "talk_of", "talking"]

Bindings = dict[str, Any]
"""What one list gave: each binding by the name of its tool."""


class Talk:
    """One conversation.

    Args:
        server: The script at its other end.
        part: The wrapper's conversation, entered.
    """

    def __init__(self, server: ScriptedServer, part: Any) -> None:
        self.server = server
        self.part = part

    def start_listing(self) -> Pending[Bindings]:
        """Start to list."""
        return Pending(self._list(), "list_tools")

    async def list(self) -> Bindings:
        """The bindings, by name.

        Raises:
            VerbFailed: It raised or did not end.
        """
        return await self.start_listing().result()

    async def lists_with(self) -> tuple[Bindings, int]:
        """The bindings, and how many `tools/list` frames it took."""
        mark = self.server.ledger.mark
        return await self.list(), len(self.server.ledger.listings(since=mark))

    def start_call(self, binding: Any, nonce: str) -> Pending[Outcome]:
        """Start a call by a binding."""
        return Pending(self._call(binding, nonce), "call")

    async def call(self, binding: Any, nonce: str) -> Outcome:
        """Call by a binding, and say what came of it.

        Raises:
            VerbFailed: It did not end.
        """
        return await self.start_call(binding, nonce).result()

    async def call_own(self, own: Any, nonce: str) -> Outcome:
        """Call an own tool of the conversation's client, and say what came of it.

        Raises:
            VerbFailed: It did not end.
        """
        return await Pending(self._call_own(own, nonce), "call of an own tool").result()

    async def refuses(self, binding: Any, nonce: str) -> bool:
        """Call by a binding. True when it raised, and nothing was sent."""
        outcome = await self.call(binding, nonce)
        return outcome.kind == "raised" and not self.server.ledger.calls(nonce)

    async def does(self, verb: str, *arguments: Any) -> None:
        """Run another verb of the conversation, a coroutine function or a plain one."""
        returned = getattr(self.part, verb)(*arguments)
        if returned is not None:
            await Pending(returned, verb).result()

    async def _list(self) -> Bindings:
        return {binding.name: binding for binding in await self.part.list_tools()}

    async def _call(self, binding: Any, nonce: str) -> Outcome:
        try:
            return outcome_of(await self.part.call(binding, {"nonce": nonce}))
        except Exception as error:
            return outcome_of(error=error)

    async def _call_own(self, own: Any, nonce: str) -> Outcome:
        try:
            return outcome_of(await own({"nonce": nonce}))
        except Exception as error:
            return outcome_of(error=error)


@asynccontextmanager
async def talk_of(wrapper: Holder, server: ScriptedServer, **how: Any) -> AsyncIterator[Talk]:
    """One conversation with a server, over at the end of the block.

    Raises:
        NotClaimed: The adapter has no conversations.
    """
    async with wrapper.part("conversation")(server.dial(), **how) as part:
        yield Talk(server, part)


@asynccontextmanager
async def talking(server: ScriptedServer, connect: Connect, **how: Any) -> AsyncIterator[Talk]:
    """One conversation with a server, and the wrapper entered around it."""
    async with connect(server) as wrapper, talk_of(wrapper, server, **how) as talk:
        yield talk
