"""Turns of a schedule that mere luck brings about too seldom: a few steps each, in an order that matters."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_mcp_conformance.server import HOUR_MS
from pytest_mcp_conformance.server.ledger import Ledger
from tests.history.users import User

__all__ = ["TURNS"]


async def overtaken(schedule: Any, user: User) -> None:
    """A listing is out when the tools change, and comes afterwards; perhaps somebody else asks meanwhile."""
    server = schedule.server
    server.ttl_ms = HOUR_MS
    if schedule.busy:
        return
    paged = schedule.paged and schedule.luck.random() < 0.7
    with server.holding("tools/list", when=lambda r: "cursor" in r.params if paged else True) as gate:
        if schedule.luck.random() < 0.7:
            await schedule.invalidate(user)
        first = schedule.listing(user)
        await server.settle()
        if not gate.held:
            schedule.keep(user, first)
            return
        gate.open()
        if user.holder.claims.makes("reacts_to_list_changed") and schedule.luck.random() < 0.6:
            await schedule.change_and_say(user, lifetime=HOUR_MS)
        else:
            schedule.change(user.principal, HOUR_MS)
            await schedule.invalidate(user)
        second = schedule.listing(user) if schedule.luck.random() < 0.5 else first
        await server.settle()
        gate.release_all()
    await schedule.end(first)
    await schedule.end(second)
    await server.settle()
    await schedule.list(user)


async def passed(schedule: Any, user: User) -> None:
    """Of two listings the later one is answered first, and nobody says that anything changed."""
    server = schedule.server
    if schedule.busy:
        return
    server.ttl_ms = HOUR_MS
    await schedule.invalidate(user)
    with server.holding("tools/list") as gate:
        first = schedule.listing(user)
        await server.settle()
        schedule.change(user.principal, HOUR_MS)
        second = schedule.starting("refresh", user)
        await server.settle()
        gate.open()
        for held in reversed(gate.held):
            held.release()
            await server.settle()
            if schedule.luck.random() < 0.8:
                await schedule.list(user)
    await schedule.end(second)
    await schedule.end(first)
    await server.settle()
    await schedule.list(user)


async def between_pages(schedule: Any, user: User) -> None:
    """The tools change while the first of two pages is out, and the second is asked for afterwards."""
    server = schedule.server
    if schedule.busy:
        return
    paged, schedule.paged = schedule.paged, True
    schedule.change(user.principal, HOUR_MS)
    await schedule.invalidate(user)
    with server.holding("tools/list") as gate:
        first = schedule.listing(user)
        await server.settle()
        gate.open()
        await schedule.change_and_say(user, lifetime=HOUR_MS)
        await server.settle()
        gate.release_all()
    await schedule.end(first)
    await server.settle()
    await schedule.list(user)
    schedule.paged = paged


async def lapse(schedule: Any, user: User) -> None:
    """A listing is exactly as old as its lifetime, or older."""
    schedule.change(user.principal, 5000)
    await schedule.change_and_say(user, lifetime=5000)
    await schedule.list(user)
    await schedule.list(user)
    schedule.change(user.principal, 5000)
    await asyncio.sleep(schedule.luck.choice((5.0, 5.0, 6.0, 70.0)))
    await schedule.list(user)


async def reverse(schedule: Any, user: User) -> None:
    """Calls that are out together are answered the other way round."""
    if schedule.busy:
        return
    with schedule.server.holding("tools/call") as gate:
        calls = [schedule.calling(user) for _ in range(2)]
        await schedule.server.settle()
        for held in reversed(gate.held):
            held.release()
    for call in calls:
        await schedule.end(call)


async def schema_goes(schedule: Any, user: User) -> None:
    """A tool had an output schema, and has none any more."""
    if schedule.busy:
        return
    schedule.kind = "integer"
    await schedule.change_and_say(user)
    await schedule.end(schedule.starting("refresh", user))
    await schedule.list(user)
    await schedule.end(schedule.calling(user))
    schedule.kind = None
    await schedule.change_and_say(user)
    await schedule.end(schedule.starting("refresh", user))
    await schedule.list(user)
    await schedule.end(schedule.calling(user, judged=True))
    schedule.kind = ""


async def new_connection(schedule: Any, user: User) -> None:
    """The tools change unsaid, and a new connection is opened."""
    await schedule.list(user)
    schedule.change(user.principal)
    await schedule.reconnect(user)
    await schedule.list(user)


async def failing_call(schedule: Any, user: User) -> None:
    """A call fails, or what goes on around it does."""
    if schedule.busy:
        return
    if schedule.luck.random() < 0.5:
        schedule.server.fails("tools/call")
    else:
        schedule.spoil()
        schedule.server.fails("tools/list", when=lambda r: _is_called(schedule.server.ledger, schedule.calls))
    await schedule.end(schedule.calling(user))
    schedule.server.recovers()


def _is_called(ledger: Ledger, calls: int) -> bool:
    return bool(ledger.calls(f"n{calls - 1}"))


async def given_up(schedule: Any, user: User) -> None:
    """One of two calls is given up."""
    if schedule.busy:
        return
    with schedule.server.holding("tools/call") as gate:
        calls = [schedule.calling(user) for _ in range(2)]
        await schedule.server.settle()
        if gate.held:
            gate.held[-1].release()
        await schedule.server.settle()
        for call in calls:
            if not call.done:
                await call.cancel()
    await schedule.server.settle()


TURNS = (
    overtaken,
    passed,
    between_pages,
    lapse,
    reverse,
    schema_goes,
    new_connection,
    failing_call,
    given_up,
)
"""Each of them."""
