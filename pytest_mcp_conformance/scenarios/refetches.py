"""More scenarios of NTC: the listing that a notice asks for, and what may come in its way."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from pytest_mcp_conformance.contract import Tool
from pytest_mcp_conformance.contract._tool import names_of, tools_of
from pytest_mcp_conformance.contract.notices import (
    CHANGE_BEFORE_THE_ACKNOWLEDGMENT_IS_NOT_MISSED,
    FAILED_REFRESH_LEAVES_THE_LIST_STALE,
    NOTHING_STARTS_AFTER_CLOSE,
    NOTICE_DURING_A_REFRESH_IS_NOT_LOST,
    NOTICE_STORM_COSTS_ONE_MORE_WALK,
    OVERLAPPING_LOADS_LIST_EACH_TOOL_ONCE,
    REFRESHED_LIST_IS_THE_ONE_IN_USE,
)
from pytest_mcp_conformance.scenarios._channel import must_have_a_channel
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import arrives_or_ends, first_listing
from pytest_mcp_conformance.scenarios._verbs import Pending, perform
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, Gate, Held, NotReached, ScriptedServer

STORM = 50
"""Notices in one storm, each after a change of the tools."""


@scenario(NOTICE_STORM_COSTS_ONE_MORE_WALK, variants=("settled", "back_to_back"))
async def storm_of_notices(server: ScriptedServer, connect: Connect, order: str) -> None:
    """The walk that a notice asked for is out when fifty more changes are told, one after the other."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        mark = server.ledger.mark
        with server.holding("tools/list") as gate:
            verb, _ = await _refetch(server, wrapper, gate)
            for n in range(STORM):
                server.has_tools(f"change_{n}")
                await server.notify_list_changed(settled=order == "settled")
            await server.settle()  # all of them have been heard before the walk may go on
        await _ended(verb)
        await server.settle()
        await wrapper.react()
        walks = [frame for frame in server.ledger.listings(since=mark) if "cursor" not in frame.params]
        with check(NOTICE_STORM_COSTS_ONE_MORE_WALK):
            assert len(walks) <= 2, f"{STORM} notices within one walk cost {len(walks) - 1} more"
            assert await wrapper.names() == [f"change_{STORM - 1}"]


@scenario(NOTICE_DURING_A_REFRESH_IS_NOT_LOST, variants=("answered", "failed", "retried"))
async def notice_during_a_refresh(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The tools change once more while a refresh is out; it is answered with what was true before, or fails.

    Where a wrapper tries a failed refresh again, the newer listing is answered first, and that one last.
    """
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        with server.holding("tools/list") as gate:
            verb, late = await _refetch(server, wrapper, gate)
            if how == "retried":
                late.fail()
                if not await _arrives(gate, 2, within=60.0):
                    leave_out(NOTICE_DURING_A_REFRESH_IS_NOT_LOST, "tries no failed refresh again")
                    return
            server.has_tools("third")
            must_have_a_channel(server, await server.notify_list_changed())
            newer = wrapper.start_listing() if how == "retried" else None
            await server.settle()
            gate.open()
            if how == "failed":
                late.fail()
            for held in reversed(gate.held):
                held.release()
                await server.settle()
        await _ended(verb, newer)
        await wrapper.react()
        with check(NOTICE_DURING_A_REFRESH_IS_NOT_LOST):
            assert await wrapper.names() == ["third"]


@scenario(NOTHING_STARTS_AFTER_CLOSE, variants=("notice", "held_refetch"))
async def close_behind_a_notice(server: ScriptedServer, connect: Connect, when: str) -> None:
    """A holder closes right behind a notice, or while the listing for it is out, which is answered then.

    In the minute that follows nothing is asked; another holder is not served what came in late.
    """
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)
    if connect.claims.makes("pools_connections"):
        leave_out(
            NOTHING_STARTS_AFTER_CLOSE, "pools_connections: a connection may live on, and be kept current"
        )
        return

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        with server.holding("tools/list") as gate:
            if when == "notice":
                server.has_tools(*V2)
                must_have_a_channel(server, await server.notify_list_changed(settled=False))
            else:
                await _refetch(server, wrapper, gate)
            await wrapper.close()
            mark, dialled = server.ledger.mark, wrapper.connections
            server.has_tools("third")
            gate.open()
            gate.release_all()
            await server.settle()
            await server.notify_list_changed()
        await asyncio.sleep(60.0)
        with check(NOTHING_STARTS_AFTER_CLOSE):
            asked = server.ledger.frames(kind="asked", since=mark)
            assert [frame.method for frame in asked] == []
            assert wrapper.connections == dialled, "dialled after it was closed"
    async with connect(server) as other:
        with check(NOTHING_STARTS_AFTER_CLOSE):
            assert await other.names() != ["a", "new"], "served an answer that came after the close"


@scenario(FAILED_REFRESH_LEAVES_THE_LIST_STALE, variants=("error", "malformed"))
async def refresh_after_a_notice_fails(server: ScriptedServer, connect: Connect, fault: str) -> None:
    """The listing that a notice asks for fails once; nobody says again that the tools have changed."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await server.settle()
        server.has_tools(*V2)
        mark = server.ledger.mark
        server.suffers(fault, "list")
        must_have_a_channel(server, await server.notify_list_changed())
        await wrapper.react()
        with check(FAILED_REFRESH_LEAVES_THE_LIST_STALE):
            if not server.ledger.listings(since=mark):  # it fetches when it is asked
                assert await wrapper.try_names() in (None, ["a", "old"], ["a", "new"])
        reached(server.ledger.listings(since=mark), "no listing was asked for after the notice")
        with check(FAILED_REFRESH_LEAVES_THE_LIST_STALE):
            assert await wrapper.names() == ["a", "new"]


@scenario(OVERLAPPING_LOADS_LIST_EACH_TOOL_ONCE, variants=("in_order", "reverse"))
async def first_load_meets_a_notice(server: ScriptedServer, connect: Connect, order: str) -> None:
    """The very first listing is out when a notice comes, and a second one beside it; then one more notice."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    with server.holding("tools/list") as gate:
        first = await first_listing(server, connect, gate)
        server.has_tools(*V1, "more")
        await server.notify_list_changed()
        second = first.wrapper.start_listing() if first.wrapper is not None else None
        await server.settle()
        gate.open()
        for held in gate.held if order == "in_order" else reversed(gate.held):
            held.release()
            await server.settle()
    wrapper = await first.ended()
    await _ended(second)
    for turn in ("first", "second"):
        if turn == "second":
            await server.notify_list_changed()
        await wrapper.react()
        with check(OVERLAPPING_LOADS_LIST_EACH_TOOL_ONCE):
            names = await wrapper.names()
            assert len(set(names)) == len(names), f"the {turn} turn: {names}"


@scenario(CHANGE_BEFORE_THE_ACKNOWLEDGMENT_IS_NOT_MISSED)
async def change_before_the_acknowledgment(server: ScriptedServer, connect: Connect) -> None:
    """The subscription is acknowledged late. The tools change before that, when no notice may be sent."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    with server.holding("subscriptions/listen") as gate:
        opening = connect.start(server)
        await arrives_or_ends(gate, opening)
        await server.settle()
        listing = None
        if opening.done:  # else it connects only once it is acknowledged
            listing = (await opening.result()).start_listing()
            await server.settle()
        with suppress(NotReached):
            await gate.arrived()
        must_have_a_channel(server, gate.held)
        server.has_tools(*V2)
    wrapper = await opening.result()
    reached(wrapper.error is None, wrapper.failure)
    await _ended(listing)
    await server.settle()
    await wrapper.react()
    with check(CHANGE_BEFORE_THE_ACKNOWLEDGMENT_IS_NOT_MISSED):
        assert await wrapper.names() == ["a", "new"]


@scenario(REFRESHED_LIST_IS_THE_ONE_IN_USE)
async def every_view_after_a_notice(server: ScriptedServer, connect: Connect) -> None:
    """The tools are looked at in every way, one is called, and the tools change; then all of it again."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await _views(wrapper)
        await wrapper.call("old", "n1")
        await server.settle()
        server.has_tools(*V2)
        must_have_a_channel(server, await server.notify_list_changed())
        await wrapper.react()
        with check(REFRESHED_LIST_IS_THE_ONE_IN_USE):
            assert await wrapper.names() == ["a", "new"]
            for name, shown in (await _views(wrapper)).items():
                assert shown == ["a", "new"], f"read through {name}"
            handles = {name: wrapper.handle(name) for name in ("a", "new")}
            if wrapper.has("bind"):
                bound = {f"{name} as bound": await wrapper.verb("bind", name) for name in ("a", "new")}
                handles.update(bound)
            for name, handle in handles.items():
                outcome = await wrapper.call(name, name, handle=handle)
                assert outcome.ok, f"a call of {name}: {outcome}"
                assert server.ledger.calls(name), f"a call of {name} was not sent"


async def _refetch(
    server: ScriptedServer, wrapper: Holder, gate: Gate
) -> tuple[Pending[list[Tool]] | None, Held]:
    """Change the tools to `V2` and say so; gives the listing that is asked for then, held at `gate`.

    The wrapper asks by itself, or else by a verb, which is given too.
    """
    server.has_tools(*V2)
    must_have_a_channel(server, await server.notify_list_changed())
    if await _arrives(gate, 1, within=wrapper.claims.reacts_to_list_changed or 0.0):
        return None, gate.held[0]
    verb = wrapper.start_listing()
    return verb, await gate.arrived()


async def _arrives(gate: Gate, nth: int, *, within: float) -> bool:
    """True when the nth request is held at `gate` within so many seconds."""
    try:
        await gate.arrived(nth, deadline=within)
    except NotReached:
        return False
    return True


async def _ended(*verbs: Pending[list[Tool]] | None) -> None:
    for verb in verbs:
        if verb is not None:
            await verb.ended()


async def _views(wrapper: Holder) -> dict[str, list[str]]:
    """The names of the tools through every accessor that there is."""
    if not wrapper.has("accessors"):
        return {}
    accessors = dict(await wrapper.verb("accessors"))
    return {name: names_of(tools_of(await perform(each))) for name, each in accessors.items()}
