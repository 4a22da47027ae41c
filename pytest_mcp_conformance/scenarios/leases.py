"""Scenarios of OPN: several legs list over one connection, and its checks are written for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from pytest_mcp_conformance.contract import HANDSHAKE
from pytest_mcp_conformance.contract.leases import (
    APPLY_GETS_ALL_THAT_IS_MOUNTED,
    APPLY_GETS_NOTHING_UNMOUNTED,
    EARLIER_LISTING_OVERWRITES_NOTHING,
    FAILING_APPLY_COSTS_NOBODY_ELSE,
    GONE_NAMES_ARE_GONE_FROM_THE_CHECKS,
    LATER_LISTING_DECIDES_THE_MEMBERSHIP,
    MEMBERSHIP_IS_THE_LEGS_OWN,
    NEW_CONNECTION_STARTS_EMPTY,
    ORDER_IS_KEPT_FOR_EACH_TOOL,
    RELEASE_REWRITES_FROM_THE_SAME_RECORDS,
    RETAINED_NAMES_WRITE_NO_RECORD,
    UNWRITTEN_LISTING_CHANGES_NOTHING,
    VERSION_IS_THE_ORDER_OF_OPENING,
    WRITER_OF_A_RELEASED_LEASE_WRITES_NOTHING,
    WRITER_USED_TWICE_IS_NO_NEWER,
)
from pytest_mcp_conformance.contract.pool import LAST_RELEASE_CLOSES, ONLY_THE_CONNECTION_IS_SHARED
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import VerbFailed, check, leave_out, reached
from pytest_mcp_conformance.scenarios._legs import legs_of
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import ScriptedServer, tool

BAD = "no type at all"
"""The type of an output that no check can be made of."""


class Checks:
    """The checks that an SDK keeps for one client: each write clears them, and stops at a bad schema.

    Attributes:
        held: What is checked: the type of the output by the name of the tool.
        writes: How many writes there were.
        closed: Whether nothing can be written any more.
    """

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.writes = 0
        self.closed = False

    def apply(self, tools: Iterable[Mapping[str, Any]]) -> None:
        """Write the checks of these tools, in the place of all others."""
        if self.closed:
            raise OSError("the client is closed")
        self.writes += 1
        self.held = {}
        for each in tools:
            kind = each["outputSchema"]["properties"]["out"]["type"]
            if kind == BAD:
                raise ValueError(f"the outputSchema of {each['name']} cannot be compiled")
            self.held[each["name"]] = kind

    def merge(self, tools: Iterable[Mapping[str, Any]]) -> None:
        """Write the checks of these tools, beside all others."""
        before = self.held
        self.apply(tools)
        self.held = {**before, **self.held}


def listed(**types: str) -> list[dict[str, Any]]:
    """The tools of a listing: a name and the type of its output each."""
    return [tool(name, kind) for name, kind in types.items()]


def opened(lease: Any) -> Any:
    """The writer of a listing that is opened now."""
    try:
        return lease.open_listing()
    except Exception as raised:
        raise VerbFailed(f"open_listing raised {raised!r}") from raised


def write(writer: Any, checks: Checks, *retained: str, **types: str) -> None:
    """Record the answer of a listing."""
    try:
        writer(listed(**types), checks.apply, frozenset(retained))
    except Exception as raised:
        raise VerbFailed(f"the writer raised {raised!r}") from raised


def lists(lease: Any, checks: Checks, *retained: str, **types: str) -> None:
    """Open a listing and record its answer."""
    write(opened(lease), checks, *retained, **types)


@scenario(
    VERSION_IS_THE_ORDER_OF_OPENING,
    EARLIER_LISTING_OVERWRITES_NOTHING,
    ORDER_IS_KEPT_FOR_EACH_TOOL,
    eras=HANDSHAKE,
)
async def answers_in_reverse(server: ScriptedServer, connect: Connect) -> None:
    """Two legs open listings, the first one two of them; answers come in order, and then in reverse."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        with check(VERSION_IS_THE_ORDER_OF_OPENING):
            lists(first, checks, a="integer")
            lists(first, checks, a="integer", b="integer")
            lists(second, checks, a="string")
            assert checks.held["a"] == "string", "the leg's own count is taken for the order"
            reached(checks.writes, "no writer called apply")
        earlier, later = opened(first), opened(second)
        with check(EARLIER_LISTING_OVERWRITES_NOTHING):
            write(later, checks, a="number")
            write(earlier, checks, a="boolean", b="string", c="integer")
            assert checks.held["a"] == "number"
        with check(VERSION_IS_THE_ORDER_OF_OPENING):
            assert checks.held["a"] == "number", "the order of the answers is taken for the order"
        with check(ORDER_IS_KEPT_FOR_EACH_TOOL):
            assert (checks.held["b"], checks.held.get("c")) == ("string", "integer")


@scenario(RETAINED_NAMES_WRITE_NO_RECORD, eras=HANDSHAKE)
async def listing_that_is_incomplete(server: ScriptedServer, connect: Connect) -> None:
    """A leg keeps a tool that its listing did not return; an earlier listing of another leg returns it."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        lists(first, checks, a="integer", b="integer")
        late = opened(second)
        with check(RETAINED_NAMES_WRITE_NO_RECORD):
            lists(first, checks, "b", a="string", b="number")
            assert checks.held == {"a": "string", "b": "integer"}
            write(late, checks, b="boolean")
            assert checks.held == {"a": "string", "b": "boolean"}
            lists(first, checks, "nobody", a="string", nobody="number")
            assert "nobody" not in checks.held
        reached(checks.writes, "no writer called apply")


@scenario(
    MEMBERSHIP_IS_THE_LEGS_OWN,
    APPLY_GETS_ALL_THAT_IS_MOUNTED,
    APPLY_GETS_NOTHING_UNMOUNTED,
    RELEASE_REWRITES_FROM_THE_SAME_RECORDS,
    eras=HANDSHAKE,
)
async def legs_that_mount_different_tools(server: ScriptedServer, connect: Connect) -> None:
    """Two legs mount tools, one of them in common; each mounts fewer; the first one releases."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        lists(first, checks, a="integer", b="integer")
        reached(checks.writes, "no writer called apply")
        with check(APPLY_GETS_ALL_THAT_IS_MOUNTED):
            lists(second, checks, b="integer", c="integer")
            assert checks.held == {"a": "integer", "b": "integer", "c": "integer"}
        with check(MEMBERSHIP_IS_THE_LEGS_OWN):
            lists(second, checks, c="integer")
            assert {"a", "b"} <= set(checks.held), "a sibling's tools are unmounted"
        late = opened(second)
        with check(APPLY_GETS_NOTHING_UNMOUNTED):
            lists(first, checks, a="integer", c="string")
            assert "b" not in checks.held, "nobody mounts it any more"
        with check(RELEASE_REWRITES_FROM_THE_SAME_RECORDS):
            await legs.release(first)
            assert checks.held == {"c": "string"}
            write(late, checks, c="number")
            assert checks.held == {"c": "string"}, "a release set the versions back"
            lists(second, checks, "a", a="number", c="string")
            assert checks.held == {"c": "string", "a": "integer"}, "a release lost the records"


@scenario(UNWRITTEN_LISTING_CHANGES_NOTHING, WRITER_USED_TWICE_IS_NO_NEWER, eras=HANDSHAKE)
async def writers_never_used_and_used_twice(server: ScriptedServer, connect: Connect) -> None:
    """A listing fails, so that its writer is not used; another one's writer is used twice."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        lists(first, checks, a="integer", b="integer")
        reached(checks.writes, "no writer called apply")
        with check(UNWRITTEN_LISTING_CHANGES_NOTHING):
            writes = checks.writes
            opened(first)
            opened(second)
            assert (checks.writes, checks.held) == (writes, {"a": "integer", "b": "integer"})
            lists(second, checks, c="integer")
            assert checks.held == {"a": "integer", "b": "integer", "c": "integer"}
        with check(WRITER_USED_TWICE_IS_NO_NEWER):
            writer = opened(first)
            write(writer, checks, a="integer")
            lists(second, checks, a="string")
            with suppress(VerbFailed):  # it may be refused as well
                write(writer, checks, a="number")
            assert checks.held["a"] == "string"


@scenario(WRITER_OF_A_RELEASED_LEASE_WRITES_NOTHING, eras=HANDSHAKE)
async def writer_after_the_release(server: ScriptedServer, connect: Connect) -> None:
    """A leg opens a listing, releases, and then the answer comes."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        lists(second, checks, b="integer")
        reached(checks.writes, "no writer called apply")
        writer = opened(first)
        await legs.release(first)
        with check(WRITER_OF_A_RELEASED_LEASE_WRITES_NOTHING):
            with suppress(VerbFailed):  # it may be refused as well
                write(writer, checks, a="integer", b="string")
            assert checks.held == {"b": "integer"}
            lists(second, checks, "b", b="number")
            assert checks.held == {"b": "integer"}, "the leg that is gone has written a record"
            lists(second, checks, "a", a="number", b="integer")
            assert checks.held == {"b": "integer"}, "the leg that is gone has written a record"


@scenario(FAILING_APPLY_COSTS_NOBODY_ELSE, variants=("new tool", "known tool"), eras=HANDSHAKE)
async def schema_that_cannot_be_written(server: ScriptedServer, connect: Connect, which: str) -> None:
    """A leg's listing has a schema that no check can be made of, for a tool of its own or of a sibling's."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        lists(first, checks, a="integer", b="integer")
        reached(checks.writes, "no writer called apply")
        bad = {"bad": BAD} if which == "new tool" else {"b": BAD}
        whole = {"a": "integer", "b": "integer", "c": "string"}
        with check(FAILING_APPLY_COSTS_NOBODY_ELSE):
            told: Any
            try:
                told = opened(second)(listed(**bad, c="string"), checks.apply)
            except Exception as raised:
                told = raised
            assert checks.held == whole
            assert told, "the leg that brought it is not told"
            assert not isinstance(told, AttributeError | NameError), f"told by an accident: {told!r}"
            lists(first, checks, a="integer", b="integer")
            assert checks.held == whole
            await legs.release(second)
            assert checks.held == {"a": "integer", "b": "integer"}


@scenario(LAST_RELEASE_CLOSES, eras=HANDSHAKE)
async def release_whose_apply_fails(server: ScriptedServer, connect: Connect) -> None:
    """Two legs have listed, and then no check can be written any more; both release."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        lists(first, checks, a="integer")
        lists(second, checks, b="integer")
        reached(checks.writes, "no writer called apply")
        checks.closed = True
        with check(LAST_RELEASE_CLOSES):
            await legs.start_release(first).ended()
            assert await legs.reaches(second) in legs.open, "closed while a leg still holds it"
            await legs.start_release(second).ended()
            await server.settle()
            assert legs.open == [], "the last release left the connection open"


@scenario(NEW_CONNECTION_STARTS_EMPTY, eras=HANDSHAKE)
async def listing_on_a_fresh_connection(server: ScriptedServer, connect: Connect) -> None:
    """A leg has listed; another leg re-dials, and lists on the new connection."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, old, new = await legs.lease(), Checks(), Checks()
        lists(first, old, a="integer", b="integer")
        reached(old.writes, "no writer called apply")
        late = opened(first)
        second = await legs.lease(fresh=True)
        reached(legs.connection(second) is not legs.connection(first), "no fresh connection")
        with check(NEW_CONNECTION_STARTS_EMPTY):
            lists(second, new, "b", a="string", b="number")
            assert new.held == {"a": "string"}
            write(late, old, a="boolean", b="boolean")
            assert old.held == {"a": "boolean", "b": "boolean"}
            lists(second, new, "a", a="number")
            assert new.held == {"a": "string"}


@scenario(LATER_LISTING_DECIDES_THE_MEMBERSHIP, eras=HANDSHAKE)
async def own_answers_in_reverse(server: ScriptedServer, connect: Connect) -> None:
    """One leg opens two listings; the later one's answer comes first, and has fewer tools."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        lease, checks = await legs.lease(), Checks()
        earlier, later = opened(lease), opened(lease)
        write(later, checks, a="integer")
        reached(checks.writes, "no writer called apply")
        with check(LATER_LISTING_DECIDES_THE_MEMBERSHIP):
            write(earlier, checks, a="integer", b="integer")
            assert checks.held == {"a": "integer"}


@scenario(GONE_NAMES_ARE_GONE_FROM_THE_CHECKS, ONLY_THE_CONNECTION_IS_SHARED, eras=HANDSHAKE)
async def sdk_whose_cache_only_grows(server: ScriptedServer, connect: Connect) -> None:
    """Two legs mount tools on an SDK whose checks are only added to; one of them leaves."""
    async with connect(server) as wrapper, legs_of(wrapper, server) as legs:
        first, second, checks = await legs.lease(), await legs.lease(), Checks()
        if not hasattr(second, "definition"):
            for rule in (GONE_NAMES_ARE_GONE_FROM_THE_CHECKS, ONLY_THE_CONNECTION_IS_SHARED):
                leave_out(rule, "its leases give no definition to judge by")
            return
        opened(first)(listed(a="integer", b="string"), checks.merge)
        opened(second)(listed(b="string", c="number"), checks.merge)
        reached(checks.writes, "no writer called apply")
        with check(GONE_NAMES_ARE_GONE_FROM_THE_CHECKS):
            known = {name: second.definition(name) for name in "abc"}
            assert list(known.values()) == listed(a="integer", b="string", c="number")
            await legs.release(first)
            assert second.definition("a") is None
            assert [second.definition(name) for name in "bc"] == listed(b="string", c="number")
        with check(ONLY_THE_CONNECTION_IS_SHARED):
            assert known_to(first, "b") is None, "a lease that was released is still of use"


def known_to(lease: Any, name: str) -> Any:
    """What a lease gives to judge the answers of a tool by; None where it refuses."""
    try:
        return lease.definition(name)
    except Exception:
        return None
