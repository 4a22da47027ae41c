"""Scenarios of CCH in which an answer is late: what a change, or a newer listing, has overtaken."""

from __future__ import annotations

from pytest_mcp_conformance.contract._tool import names_of
from pytest_mcp_conformance.contract.caching import (
    LATE_OLDER_LISTING_REPLACES_NOTHING,
    LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT,
    OVERTAKEN_LISTING_IS_DISCARDED,
)
from pytest_mcp_conformance.contract.checks import LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import first_listing, says_changed
from pytest_mcp_conformance.server import HOUR_MS, V1, V2, ScriptedServer


@scenario(OVERTAKEN_LISTING_IS_DISCARDED, variants=("settled", "back_to_back", "answer_first"))
async def overtaken_listing(server: ScriptedServer, connect: Connect, order: str) -> None:
    """The very first listing is answered, held on the wire, and overtaken by list_changed.

    The late answer is a truth of the past: it is not what the wrapper serves. It comes when the notice has
    been read, right behind the notice, or right before it.
    """
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    with server.holding("tools/list") as gate:
        first = await first_listing(server, connect, gate)
        server.has_tools(*V2)
        gate.open()
        if order == "answer_first":
            first.late.release()
        await says_changed(server, first.wrapper, connect, settled=order == "settled")
        first.late.release()
    wrapper = await first.ended()
    await wrapper.react()
    with check(OVERTAKEN_LISTING_IS_DISCARDED):
        assert await wrapper.names() == ["a", "new"]


@scenario(OVERTAKEN_LISTING_IS_DISCARDED)
async def overtaken_refetch(server: ScriptedServer, connect: Connect) -> None:
    """A second fetch is out, for whatever reason, when the tools change once more."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/list") as gate:
            server.has_tools(*V2)
            if wrapper.has("refresh"):
                fetch = wrapper.start("refresh")
            else:
                await says_changed(server, wrapper, connect)
                await wrapper.react()
                fetch = wrapper.start_listing()
            late = await gate.arrived()
            server.has_tools("third")
            gate.open()
            await says_changed(server, wrapper, connect)
            late.release()
        await fetch.ended()
        await wrapper.react()
        with check(OVERTAKEN_LISTING_IS_DISCARDED):
            assert await wrapper.names() == ["third"]


@scenario(LATE_OLDER_LISTING_REPLACES_NOTHING, LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK)
async def older_listing_answered_last(server: ScriptedServer, connect: Connect) -> None:
    """A listing is held, a later one is answered, and then the older answer arrives."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    with server.holding("tools/list") as gate:
        first = await first_listing(server, connect, gate)
        server.has_tools(*V2)
        gate.open()
        wrapper = first.wrapper
        if wrapper is None:
            first.late.release()
            for rule in (LATE_OLDER_LISTING_REPLACES_NOTHING, LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK):
                leave_out(rule, "lists at connect: nothing can be asked while that listing is out")
            return
        mark = server.ledger.mark
        later = wrapper.start_listing()
        await server.settle()
        if not server.ledger.listings(since=mark) and wrapper.has("refresh"):
            later = wrapper.start("refresh")
            await server.settle()
        overtaken = bool(server.ledger.listings(since=mark))
        handle = wrapper.handle("a") if overtaken else None
        given_up = first.given_up
        first.late.release()
    await first.ended()
    await later.ended()
    given_up = given_up or first.failed  # its limit may strike while its answer is on the way
    if given_up or not overtaken:
        why = "gives up the older one" if given_up else "asks for a listing only once"
        for rule in (LATE_OLDER_LISTING_REPLACES_NOTHING, LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK):
            leave_out(rule, f"{why}: none can be overtaken")
        return
    with check(LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK):
        outcome = await wrapper.call("a", "n1", handle=handle)
        assert outcome.ok, f"an answer that the newer listing allows: {outcome}"
    with check(LATE_OLDER_LISTING_REPLACES_NOTHING):
        assert await wrapper.names() == ["a", "new"]


@scenario(LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT)
async def listing_behind_a_notice(server: ScriptedServer, connect: Connect) -> None:
    """The first listing is held, the wrapper is told of a change, and then a second list is asked for."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    with server.holding("tools/list") as gate:
        first = await first_listing(server, connect, gate)
        server.has_tools(*V2)
        gate.open()
        wrapper = first.wrapper
        if wrapper is None:
            first.late.release()
            leave_out(
                LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT,
                "lists at connect: nothing can be asked while that listing is out",
            )
            return
        mark = server.ledger.mark
        await says_changed(server, wrapper, connect)
        await wrapper.react()
        second = wrapper.start_listing()
        await server.settle()
        first.late.release()
    await first.ended()
    with check(LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT):
        assert names_of(await second.result()) == ["a", "new"]
        assert server.ledger.listings(since=mark), "the server was not asked after the change"


@scenario(LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT)
async def listing_behind_a_second_notice(server: ScriptedServer, connect: Connect) -> None:
    """A kept list is fetched again, that is held, and the same thing happens to it."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        with server.holding("tools/list") as gate:
            server.has_tools(*V2)
            await says_changed(server, wrapper, connect)
            await wrapper.react()
            first = wrapper.start_listing()
            late = await gate.arrived()
            server.has_tools("third")
            gate.open()
            mark = server.ledger.mark
            await says_changed(server, wrapper, connect)
            await wrapper.react()
            second = wrapper.start_listing()
            await server.settle()
            late.release()
        await first.ended()
        with check(LISTING_ASKED_FOR_AFTER_A_NOTICE_IS_FETCHED_AFTER_IT):
            assert names_of(await second.result()) == ["third"]
            assert server.ledger.listings(since=mark), "the server was not asked after the change"
