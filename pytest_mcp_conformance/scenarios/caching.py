"""Scenarios of CCH: which listing a wrapper may serve, and for how long."""

from __future__ import annotations

from pytest_mcp_conformance.contract.caching import (
    EMPTY_LISTING_IS_A_LISTING,
    FAILED_REFETCH_EMPTIES_NOTHING,
    HANDED_OUT_LIST_IS_NOT_THE_CACHE,
    LATE_OLDER_LISTING_REPLACES_NOTHING,
    LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION,
    NOTICE_ENDS_FRESHNESS,
    OVERTAKEN_LISTING_IS_DISCARDED,
    PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL,
)
from pytest_mcp_conformance.contract.checks import LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import HTTP, scenario
from pytest_mcp_conformance.scenarios._steps import definition, edit, first_listing, says_changed
from pytest_mcp_conformance.server import ABSENT, HOUR_MS, V1, V2, ScriptedServer


@scenario(PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL, variants=("private", "absent", "unknown"))
async def private_listing_of_two_principals(server: ScriptedServer, connect: Connect, scope: str) -> None:
    """Two principals list from one server, each its own tools, and list again."""
    server.ttl_ms = HOUR_MS
    server.cache_scope = {"private": "private", "absent": ABSENT, "unknown": "team"}[scope]
    server.has_tools("of_a", principal="A")
    server.has_tools("of_b", principal="B")

    async with connect(server, "A") as a, connect(server, "B") as b:
        if await a.try_names() is None:
            leave_out(PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL, f"refuses a listing whose scope is {scope}")
            return
        reached(server.ledger.frames("tools/list", principal="A"), "no listing of A")
        with check(PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL):
            assert await b.names() == ["of_b"]
            assert server.ledger.frames("tools/list", principal="B")
            assert await a.names() == ["of_a"]


@scenario(NOTICE_ENDS_FRESHNESS)
async def fresh_listing_meets_a_notice(server: ScriptedServer, connect: Connect) -> None:
    """A listing has an hour to live when the notice comes that the tools have changed."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        reached(await server.notify_list_changed(), "no channel on which a notice may be sent")
        await wrapper.react()
        with check(NOTICE_ENDS_FRESHNESS):
            assert await wrapper.names() == ["a", "new"]


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
                fetch = wrapper.start_listing()
            late = await gate.arrived()
            server.has_tools("third")
            gate.open()
            await says_changed(server, wrapper, connect)
            late.release()
        await fetch.ended()
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
        first.late.release()
    await first.ended()
    await later.ended()
    if not overtaken:
        for rule in (LATE_OLDER_LISTING_REPLACES_NOTHING, LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK):
            leave_out(rule, "asks for a listing only once: none can be overtaken")
        return
    with check(LATE_OLDER_LISTING_BRINGS_NO_SCHEMA_BACK):
        outcome = await wrapper.call("a", "n1", handle=handle)
        assert outcome.ok, f"an answer that the newer listing allows: {outcome}"
    with check(LATE_OLDER_LISTING_REPLACES_NOTHING):
        assert await wrapper.names() == ["a", "new"]


@scenario(FAILED_REFETCH_EMPTIES_NOTHING, variants=("error", "malformed"))
async def refetch_fails(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A kept listing has to be fetched again, that fails once, and then it works."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        mark = server.ledger.mark
        if how == "error":
            server.fails("tools/list")
        else:
            server.gives("tools/list", {"tools": "nonsense"})
        await wrapper.make_stale(may_fail=True)
        with check(FAILED_REFETCH_EMPTIES_NOTHING):
            served = await wrapper.try_names()
            assert served in (None, ["a", "old"], ["a", "new"])
        reached(server.ledger.listings(since=mark), "no second listing reached the server")
        with check(FAILED_REFETCH_EMPTIES_NOTHING):
            assert await wrapper.names() == ["a", "new"]


@scenario(EMPTY_LISTING_IS_A_LISTING)
async def empty_listing(server: ScriptedServer, connect: Connect) -> None:
    """The server has tools, and then it has none."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        mark = server.ledger.mark
        await wrapper.list_tools()
        keeps = not server.ledger.listings(since=mark)
        server.has_tools()
        mark = server.ledger.mark
        await wrapper.make_stale()
        with check(EMPTY_LISTING_IS_A_LISTING):
            assert await wrapper.names() == []
        reached(server.ledger.listings(since=mark), "no second listing reached the server")
        mark = server.ledger.mark
        with check(EMPTY_LISTING_IS_A_LISTING):
            assert await wrapper.names() == []
            if keeps:
                assert not server.ledger.listings(since=mark), "an empty listing is fetched again each time"


@scenario(HANDED_OUT_LIST_IS_NOT_THE_CACHE)
async def caller_edits_a_listing(server: ScriptedServer, connect: Connect) -> None:
    """A caller empties the list that it was handed, and edits the definitions in it."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        tools = await wrapper.list_tools()
        reached(server.ledger.listings(), "no listing reached the server")
        before = [definition(each) for each in tools]
        edit(tools)
        if isinstance(wrapper.handed_out, list):
            wrapper.handed_out.clear()
            wrapper.handed_out.append("edited")
        with check(HANDED_OUT_LIST_IS_NOT_THE_CACHE):
            assert [definition(each) for each in await wrapper.list_tools()] == before


@scenario(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION, variants=("closed", "reconnect", "dropped"))
async def listing_after_a_new_connection(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A listing without a lifetime was kept; then the connection is another one, and the tools are others."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        if how == "closed":
            await wrapper.close()
            async with connect(server) as wrapper:
                await _lists_anew(server, wrapper)
        elif how == "reconnect" and wrapper.has("reconnect"):
            await wrapper.verb("reconnect")
            await _lists_anew(server, wrapper)
        elif how == "dropped" and connect.ways.transport in HTTP:
            leave_out(
                LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION, "over HTTP the next answer tells of a loss"
            )
        elif how == "dropped" and wrapper.claims.makes("redials"):
            server.drop()
            await server.settle()
            await _lists_anew(server, wrapper)
        else:
            leave_out(
                LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION,
                "reconnect" if how == "reconnect" else "redials",
            )


async def _lists_anew(server: ScriptedServer, wrapper: Holder) -> None:
    with check(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION):
        served = await wrapper.try_names()
        if served is None:  # the loss may cost one verb
            served = await wrapper.names()
        assert served == ["a", "new"]
    newest = server.connections[-1].number
    reached(server.ledger.frames(connection=newest), "no frame on a new connection")
