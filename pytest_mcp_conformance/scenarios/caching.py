"""Scenarios of CCH: which listing a wrapper may serve, and for how long."""

from __future__ import annotations

from pytest_mcp_conformance.contract._tool import names_of, tools_of
from pytest_mcp_conformance.contract.caching import (
    EMPTY_LISTING_IS_A_LISTING,
    EQUAL_LISTS_SHARE_ONE_FETCH,
    EXPLICIT_REFRESH_PASSES_EVERY_LAYER,
    FAILED_REFETCH_EMPTIES_NOTHING,
    HANDED_OUT_LIST_IS_NOT_THE_CACHE,
    LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION,
    MULTI_ROUND_ANSWERS_ARE_NOT_CACHED,
    NOTICE_ENDS_FRESHNESS,
    PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL,
    SERVERS_NEVER_SHARE_AN_ENTRY,
)
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.scenarios._channel import must_have_a_channel
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import definition, edit
from pytest_mcp_conformance.scenarios._verbs import perform
from pytest_mcp_conformance.server import ABSENT, HOUR_MS, V1, V2, ScriptedServer
from pytest_mcp_conformance.server.connection import Connection


@scenario(PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL, variants=("private", "absent", "unknown"))
async def private_listing_of_two_principals(server: ScriptedServer, connect: Connect, scope: str) -> None:
    """Two principals list from one server, each its own tools, and list again."""
    server.ttl_ms = HOUR_MS
    server.cache_scope = {"private": "private", "absent": ABSENT, "unknown": "team"}[scope]
    server.has_tools("of_a", principal="A")
    server.has_tools("of_b", principal="B")

    a = await connect.attempt(server, "A")
    refused = a.error is not None and bool(server.ledger.listings())  # it lists when it connects
    if refused or (a.error is None and not await a.try_names()):
        leave_out(PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL, f"takes no listing whose scope is {scope}")
        return
    async with connect(server, "B") as b:
        reached(server.ledger.frames("tools/list", principal="A"), "no listing of A")
        with check(PRIVATE_ANSWER_STAYS_WITH_ITS_PRINCIPAL):
            assert await b.names() == ["of_b"]
            assert server.ledger.frames("tools/list", principal="B")
            assert await a.names() == ["of_a"]


@scenario(SERVERS_NEVER_SHARE_AN_ENTRY, variants=("side_by_side", "one_after_the_other"))
async def two_servers_of_one_name(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Two servers that give themselves the same name, each with tools of its own, are listed."""
    other = server.another("another server")
    for each, name in ((server, "mine"), (other, "theirs")):
        each.ttl_ms = HOUR_MS
        each.has_tools(name)

    async with connect(server) as here:
        mine = await here.names()
        if how == "one_after_the_other":
            await here.close()
        there = await connect.attempt(other)
        if there.error is not None:
            leave_out(SERVERS_NEVER_SHARE_AN_ENTRY, "refuses a second server")
            return
        with check(SERVERS_NEVER_SHARE_AN_ENTRY):
            assert mine == ["mine"]
            assert await there.names() == ["theirs"]
            assert other.ledger.listings(), "the second server was not asked"
            if how == "side_by_side":
                assert await here.names() == ["mine"]
                assert await there.names() == ["theirs"]


@scenario(MULTI_ROUND_ANSWERS_ARE_NOT_CACHED)
async def resource_read_in_two_rounds(server: ScriptedServer, connect: Connect) -> None:
    """A resource is read in two rounds, both answers say that they live for an hour, and it is read again."""
    server.has_tools(*V1)
    server.capabilities["resources"] = {}
    hints = {"ttlMs": HOUR_MS, "cacheScope": "private"}

    def answer(connection: Connection, request: Event) -> None:
        if "requestState" in request.params:
            contents = [{"uri": request.params["uri"], "text": "read"}]
            connection.answer(request, {"resultType": "complete", "contents": contents, **hints})
        else:
            connection.answer(request, {"resultType": "input_required", "requestState": "s1", **hints})

    server.acts("resources/read", answer, times=float("inf"))

    async with connect(server) as wrapper:
        states = await _states_of_a_read(server, wrapper)
        reached(states == [None, "s1"], f"the read was not driven through two rounds: {states}")
        states = await _states_of_a_read(server, wrapper)
        with check(MULTI_ROUND_ANSWERS_ARE_NOT_CACHED):
            assert states, "the second read was answered without the server"
            assert states[0] is None, "the second read began with the state of the first"


async def _states_of_a_read(server: ScriptedServer, wrapper: Holder) -> list[str | None]:
    """The `requestState` of each frame that one read sent."""
    mark = server.ledger.mark
    await wrapper.verb("read_resource", "scripted://one")
    return [frame.params.get("requestState") for frame in server.ledger.frames("resources/read", since=mark)]


@scenario(NOTICE_ENDS_FRESHNESS)
async def fresh_listing_meets_a_notice(server: ScriptedServer, connect: Connect) -> None:
    """A listing has an hour to live when the notice comes that the tools have changed."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        must_have_a_channel(server, await server.notify_list_changed())
        await wrapper.react()
        with check(NOTICE_ENDS_FRESHNESS):
            assert await wrapper.names() == ["a", "new"]


@scenario(FAILED_REFETCH_EMPTIES_NOTHING, variants=("error", "malformed"))
async def refetch_fails(server: ScriptedServer, connect: Connect, fault: str) -> None:
    """A kept listing has to be fetched again, that fails once, and then it works."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        mark = server.ledger.mark
        server.suffers(fault, "list")
        way = await wrapper.make_stale(may_fail=True)
        with check(FAILED_REFETCH_EMPTIES_NOTHING):
            served = await wrapper.try_names()
            assert served in (None, ["a", "old"], ["a", "new"])
        reached(server.ledger.listings(since=mark), "no second listing reached the server")
        if way == "refresh":  # it has said that it failed, and the user asks once more
            await wrapper.make_stale()
        with check(FAILED_REFETCH_EMPTIES_NOTHING):
            assert "new" in await wrapper.names()


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
async def caller_edits_a_list(server: ScriptedServer, connect: Connect) -> None:
    """A caller takes everything out of the list that it was handed, and writes something else into it."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        reached(server.ledger.listings(), "no listing reached the server")
        if isinstance(wrapper.handed_out, list):  # nobody edits a tuple
            wrapper.handed_out.clear()
            wrapper.handed_out.append("edited")
        with check(HANDED_OUT_LIST_IS_NOT_THE_CACHE):
            names = await wrapper.names()
            assert names == ["a", "old"], "a listing after a caller emptied the list of another one"


@scenario(HANDED_OUT_LIST_IS_NOT_THE_CACHE)
async def caller_edits_definitions(server: ScriptedServer, connect: Connect) -> None:
    """A caller edits the definitions that it was handed, and leaves the list around them alone."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        tools = await wrapper.list_tools()
        reached(server.ledger.listings(), "no listing reached the server")
        before = [definition(each) for each in tools]
        edit(tools)
        with check(HANDED_OUT_LIST_IS_NOT_THE_CACHE):
            again = await wrapper.list_tools()
            after = [definition(each) for each in again]
            assert after == before, "a listing after a caller edited the definitions of another one"
            edit(again)  # which a wrapper that keeps lists has not fetched for this caller
            after = [definition(each) for each in await wrapper.list_tools()]
            assert after == before, "a listing after a caller edited the definitions of a kept one"


@scenario(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION, variants=("closed", "reconnect", "dropped"))
async def listing_after_a_new_connection(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A listing without a lifetime was kept; then the connection is another one, and the tools are others."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        if how == "closed":
            await wrapper.close()
            if connect.claims.makes("pools_connections") and await server.left_open():
                leave_out(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION, "pools_connections: it lives on")
                return
            async with connect(server) as wrapper:
                await _lists_anew(server, wrapper)
        elif how == "reconnect" and wrapper.has("reconnect"):
            await wrapper.verb("reconnect")
            await _lists_anew(server, wrapper)
        elif how == "dropped" and not connect.tells_of_a_loss:
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
    served = await wrapper.try_names()
    if served is None:  # the loss may cost one verb
        served = await wrapper.try_names()
    newest = server.connections[-1]
    if served is None and not newest.open:
        leave_out(
            LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION, "serves nothing, and did not dial after the loss"
        )
        return
    if served == ["a", "old"] and not wrapper.claims.lifetimes:
        leave_out(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION, "lifetimes: it is kept as documented")
        return
    reached(served is not None, "no list was served over the new connection")
    with check(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION):
        assert served == ["a", "new"]
    reached(server.ledger.frames(connection=newest.number), "no frame on a new connection")


@scenario(EQUAL_LISTS_SHARE_ONE_FETCH, variants=("first", "second"))
async def equal_lists_at_once(server: ScriptedServer, connect: Connect, who: str) -> None:
    """Three lists are asked for at once, their answer is held, and one of the three gives up."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools(*V2)
        hears = wrapper.claims.makes("reacts_to_list_changed")
        if not hears:
            await wrapper.make_stale()
        with server.holding("tools/list") as gate:
            if hears:
                must_have_a_channel(server, await server.notify_list_changed())
                await wrapper.react()
            before = len(gate.held)  # asked by the wrapper itself, for the notice
            lists = [wrapper.start_listing() for _ in range(3)]
            await server.settle()
            if not gate.held:
                leave_out(EQUAL_LISTS_SHARE_ONE_FETCH, "has a new list before anybody asks for it")
                return
            with check(EQUAL_LISTS_SHARE_ONE_FETCH):
                asked = len(gate.held) - before
                assert asked <= 1, f"{asked} tools/list for three lists asked for at once"
            if wrapper.is_async("list_tools"):  # what runs in a thread cannot be given up
                await lists.pop(("first", "second").index(who)).cancel()
        with check(EQUAL_LISTS_SHARE_ONE_FETCH):
            for each in lists:
                assert names_of(await each.result()) == ["a", "new"]


@scenario(EXPLICIT_REFRESH_PASSES_EVERY_LAYER, variants=("refresh", "invalidate"))
async def way_out_of_a_fresh_listing(server: ScriptedServer, connect: Connect, verb: str) -> None:
    """A listing has an hour to live, the tools change without a word, and the user says that they did."""
    server.ttl_ms = HOUR_MS
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        if not wrapper.has(verb):
            leave_out(EXPLICIT_REFRESH_PASSES_EVERY_LAYER, verb)
            return
        await wrapper.list_tools()
        server.has_tools(*V2)
        mark = server.ledger.mark
        await wrapper.verb(verb)
        with check(EXPLICIT_REFRESH_PASSES_EVERY_LAYER):
            assert "new" in await wrapper.names()  # whether "old" is gone is another rule's
            assert server.ledger.listings(since=mark), "the server was not asked"
        if wrapper.has("accessors"):
            for name, accessor in dict(await wrapper.verb("accessors")).items():
                with check(EXPLICIT_REFRESH_PASSES_EVERY_LAYER):
                    shown = names_of(tools_of(await perform(accessor)))
                    assert "new" in shown, f"read through {name}"
