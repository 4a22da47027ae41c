"""One object of the wrapper that holds two servers, as the scenarios about several servers build it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pytest_mcp_conformance.contract import Tool
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import reached
from pytest_mcp_conformance.server import HOUR_MS, V1, ScriptedServer

__all__ = ["call_all", "left_open", "refusal_of", "together", "two_servers"]

Two = tuple[ScriptedServer, ScriptedServer]


def two_servers(server: ScriptedServer, first: str = "first", second: str = "second") -> Two:
    """Two servers beside the one that the adapter itself is entered with, each with one tool."""
    server.has_tools(*V1)
    one, two = server.another("one"), server.another("two")
    for each, name in ((one, first), (two, second)):
        each.ttl_ms = HOUR_MS
        each.has_tools(name)
    return one, two


@asynccontextmanager
async def together(server: ScriptedServer, connect: Connect, two: Two) -> AsyncIterator[Holder]:
    """One object that holds two servers and has listed their tools, closed at the end of the block.

    Raises:
        NotReached: It was not built, or does not list.
        NotClaimed: The adapter has no such object.
    """
    async with connect(server) as wrapper:
        held = await connect.attempt_together(wrapper, *two)
        try:
            refusal = await refusal_of(held)
            reached(refusal is None, f"two servers in one object: {refusal and describe(refusal)}")
            yield held
        finally:
            await held.close()


async def refusal_of(held: Holder) -> BaseException | None:
    """What the set-up raised, or the first listing; None where neither did."""
    if held.error is not None:
        return held.error
    listing = held.start_listing()
    reached(await listing.ended(), "list_tools did not end")
    return listing.error


async def call_all(held: Holder, tools: Sequence[Tool], nonce: str) -> list[bool]:
    """Call each of these tools by what was handed out for it; gives whether that went well."""
    return [
        (await held.call(each.name, f"{nonce}-{number}", each.handle)).ok for number, each in enumerate(tools)
    ]


async def left_open(two: Two) -> list[int]:
    """The numbers of the connections to either server that are open once everything is quiet."""
    return [number for each in two for number in await each.left_open()]
