"""Steps that several scenarios share."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any

from pytest_mcp_conformance.contract import Tool
from pytest_mcp_conformance.contract._tool import tools_of
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import NotClaimed, VerbFailed, reached
from pytest_mcp_conformance.scenarios._verbs import Pending
from pytest_mcp_conformance.server import Gate, Held, NotReached, ScriptedServer

__all__ = [
    "BLOCKS",
    "ONE_BY_ONE",
    "SAYS_CLOSED",
    "FirstListing",
    "all_names",
    "arrives_or_ends",
    "cannot_give_up",
    "definition",
    "edit",
    "elapsed",
    "first_listing",
    "give_up",
    "out_together",
    "says_changed",
    "time_to_leave",
]


MOST_PAGES = 100
"""No scenario that asks for pages one by one has as many."""

SOON = 10.0
"""Seconds in which calls that are made at once have arrived at the server."""

BLOCKS = "a plain function, which nobody can cancel"
"""Why what is given up by its user is left out."""

ONE_BY_ONE = "sends one request at a time"
"""Why calls that are out together, or beside a listing, are left out."""

SAYS_CLOSED = re.compile(
    r"clos|lost|terminat|disconnect|broken|not connected|eof|end of|reset|dead|gone|hung up|dropped|shut|"
    r"\bcut\b",
    re.IGNORECASE,
)
"""Words by which an error says that a connection is no more; the name of its type counts."""


TO_SEE_A_CHILD_OUT = 1.0
"""Seconds in which a child that has lost its input is seen out: the SDK of 2.x looks for that by a timer."""


def time_to_leave(connect: Connect, *, lost: bool = False) -> float:
    """Seconds that a verb may need after its answer or error is there, to see a child out.

    Args:
        connect: Over which way in, and whether each verb has a child of its own.
        lost: Whether the connection is lost: then there is a child to see to, whoever dialled.
    """
    has_a_child = connect.transport == "stdio" and (lost or connect.claims.makes("dials_per_operation"))
    return TO_SEE_A_CHILD_OUT if has_a_child else 0.0


class FirstListing:
    """A wrapper's first listing, held at the server: it was asked at connect, or by the first `list_tools`.

    Attributes:
        late: The held answer.
    """

    def __init__(self, opening: Pending[Holder], listing: Pending[list[Tool]] | None, late: Held) -> None:
        self.late = late
        self._opening = opening
        self._listing = listing

    async def ended(self) -> Holder:
        """Wait until what asked for it has ended, however it ended; gives the wrapper."""
        wrapper = await self._opening.result()
        if self._listing is not None:
            await self._listing.ended()
        return wrapper

    @property
    def given_up(self) -> bool:
        """Whether the first `list_tools` has ended, though its answer is still held."""
        return self._listing is not None and self._listing.done

    @property
    def failed(self) -> bool:
        """Whether the first `list_tools` has raised."""
        return self._listing is not None and self._listing.error is not None

    @property
    def wrapper(self) -> Holder | None:
        """The wrapper, where it is already connected."""
        return None if self._listing is None else self._opening._task.result()


async def first_listing(server: ScriptedServer, connect: Connect, gate: Gate) -> FirstListing:
    """Connect, and have the first `tools/list` arrive at `gate`."""
    opening = connect.start(server)
    if await arrives_or_ends(gate, opening):
        return FirstListing(opening, None, gate.held[0])
    listing = (await opening.result()).start_listing()
    return FirstListing(opening, listing, await gate.arrived())


async def arrives_or_ends(gate: Gate, verb: Pending[Any]) -> bool:
    """Wait until a request is held at `gate`, or `verb` has ended without one. True when one is held."""
    arriving = asyncio.get_running_loop().create_task(gate.arrived(), name="arrival at the gate")
    ending = asyncio.get_running_loop().create_task(verb.ended(), name="end of the verb")
    try:
        await asyncio.wait({arriving, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiting in (arriving, ending):
            waiting.cancel()
            await asyncio.wait({waiting})
    return bool(gate.held)


async def out_together(gate: Gate, calls: Sequence[Pending[Any]]) -> bool:
    """Wait until all these calls are held at `gate`.

    False where the wrapper sends one only when the one before it is answered; then all have been let go.

    Raises:
        NotReached: They are not all sent, even so.
    """
    with suppress(NotReached):
        await gate.arrived(len(calls), deadline=SOON)
        return True
    gate.open()
    gate.release_all()
    for call in calls:
        await call.ended()
    reached(all(call.done and call.error is None for call in calls), "not all calls were sent")
    return False


async def says_changed(
    server: ScriptedServer, wrapper: Holder | None, connect: Connect, *, settled: bool = True
) -> str:
    """Tell the wrapper that the tools changed: by a notice where it reacts to one, else by `invalidate`.

    Raises:
        NotClaimed: It can be told in neither way.
    """
    if connect.claims.makes("reacts_to_list_changed") and await server.notify_list_changed(settled=settled):
        return "notice"
    if wrapper is not None and wrapper.has("invalidate"):
        await wrapper.verb("invalidate")
        return "invalidate"
    raise NotClaimed("reacts_to_list_changed or invalidate")


def cannot_give_up(wrapper: Holder, by: str) -> str:
    """Why a call cannot be given up by its `caller`, the wrapper's limit (`timeout`) or its own (`limit`)."""
    if by == "limit" and not wrapper.has("call_within"):
        return "call_within"
    if by == "timeout" and not (wrapper.claims.makes("own_timeout") and wrapper.claims.makes("clock")):
        return "own_timeout, clock"
    if by == "caller" and not wrapper.is_async("call_tool"):
        return BLOCKS
    return ""


async def give_up(wrapper: Holder, call: Pending[Any], by: str) -> None:
    """Give up a call that is out: as its `caller`, or by waiting for a limit (`timeout`, `limit`)."""
    await (call.cancel() if by == "caller" else call.ended(wrapper.patience))


async def all_names(wrapper: Holder) -> list[str]:
    """The names of the tools on all pages, sorted; who leaves pages to the user is asked for each of them.

    Raises:
        VerbFailed: It raised or did not end, or the pages have no end.
        NotClaimed: It hands out one page, and gives no way to the next.
    """
    if wrapper.claims.makes("follows_pages"):
        return await wrapper.names()
    names: list[str] = []
    cursor = None
    for _ in range(MOST_PAGES):
        tools, cursor = await wrapper.verb("list_page", cursor)
        names += [tool.name for tool in tools_of(tools)]
        if cursor is None:
            return sorted(names)
    raise VerbFailed(f"list_page still gives a cursor after {MOST_PAGES} pages: {cursor!r}")


def definition(tool: Tool) -> dict[str, Any]:
    """A copy of what the wrapper shows of a tool, to compare later."""
    return deepcopy(
        {
            "name": tool.name,
            "description": tool.description,
            "input": _plain(tool.input_schema),
            "output": _plain(tool.output_schema),
        }
    )


def edit(tools: Iterable[Tool]) -> int:
    """Edit the schemas of `tools` in depth, as far as they can be edited. Returns how many could."""
    edited = 0
    for tool in tools:
        for schema in (tool.input_schema, tool.output_schema):
            properties = schema.get("properties") if schema is not None else None
            try:
                properties["out"] = {"type": "string"}  # type: ignore[index]
                properties["edited"] = {"type": "null"}  # type: ignore[index]
            except (TypeError, AttributeError):
                continue  # nothing there, or frozen: the caller cannot edit it
            edited += 1
    return edited


class elapsed:
    """Seconds of the loop's time since `with elapsed() as spent:` was entered, as `spent.seconds`."""

    def __enter__(self) -> elapsed:
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __repr__(self) -> str:
        return f"<elapsed {self.seconds:g} s>"

    @property
    def seconds(self) -> float:
        """How long it is so far."""
        return self._loop.time() - self._start


def _plain(schema: Any) -> Any:
    return None if schema is None else dict(schema)
