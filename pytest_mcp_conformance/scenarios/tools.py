"""Scenarios of TOOL: the definitions that a user is handed."""

from __future__ import annotations

from pytest_mcp_conformance.contract._tool import names_of, tools_of
from pytest_mcp_conformance.contract.tools import (
    CHANGED_DEFINITION_IS_HANDED_OUT_NEW,
    EDITED_DEFINITION_CHANGES_NOTHING,
    REMOVED_TOOL_DISAPPEARS,
    SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import definition, edit
from pytest_mcp_conformance.scenarios._verbs import perform
from pytest_mcp_conformance.server import HOUR_MS, V1, ScriptedServer, tool


@scenario(EDITED_DEFINITION_CHANGES_NOTHING)
async def caller_edits_a_definition(server: ScriptedServer, connect: Connect) -> None:
    """A caller edits the schemas of a tool that it was handed, and then calls the tool."""
    server.has_tools(*V1)
    server.answers("a", "bad")

    async with connect(server) as wrapper:
        tools = await wrapper.list_tools()
        before = [definition(each) for each in tools]
        if not edit(tools):
            leave_out(EDITED_DEFINITION_CHANGES_NOTHING, "hands out no definition that can be edited")
            return
        outcome = await wrapper.call("a", "n1")
        reached(server.ledger.calls("n1"), "the call was not sent")
        with check(EDITED_DEFINITION_CHANGES_NOTHING):
            if wrapper.claims.checks_output == "refuses":
                assert not outcome.ok, f"judged by what its caller wrote into the schema: {outcome}"
            again = [definition(each) for each in await wrapper.list_tools()]
            assert again == before, "a listing after its caller edited the definitions of the one before"


@scenario(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED)
async def one_name_on_two_servers(server: ScriptedServer, connect: Connect) -> None:
    """Two servers have a tool of one name; each is called by what was handed out for it."""
    other = server.another("another server")
    for each in (server, other):
        each.has_tools(tool("search", "integer"))

    async with connect(server) as here:
        await here.list_tools()
        there = await connect.attempt(other)
        if there.error is not None or await there.try_names() is None:
            leave_out(
                SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED, "refuses a second server with a tool of that name"
            )
            return
        await here.call("search", "here")
        await there.call("search", "there")
        reached(server.ledger.calls() or other.ledger.calls(), "no call was sent")
        with check(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED):
            assert [call.arguments["nonce"] for call in server.ledger.calls()] == ["here"]
            assert [call.arguments["nonce"] for call in other.ledger.calls()] == ["there"]


@scenario(CHANGED_DEFINITION_IS_HANDED_OUT_NEW)
async def tool_with_another_schema(server: ScriptedServer, connect: Connect) -> None:
    """A known tool takes another argument and has another text."""
    server.ttl_ms = HOUR_MS
    server.has_tools(tool("a", takes="x", description="takes x"))

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        await wrapper.call("a", None, x="1")
        first = server.ledger.calls()
        server.has_tools(tool("a", takes="y", description="takes y"))
        mark = server.ledger.mark
        await wrapper.make_stale()
        with check(CHANGED_DEFINITION_IS_HANDED_OUT_NEW):
            served = {each.name: each for each in await wrapper.list_tools()}["a"]
            if served.description is not None:
                assert "takes y" in served.description
            if served.input_schema is not None:
                taken = set(served.input_schema.get("properties", ()))
                assert "y" in taken
                assert "x" not in taken
        reached(server.ledger.listings(since=mark), "no second listing reached the server")
        reached(first, "no call was sent by the definition of before")
        mark = server.ledger.mark
        with check(CHANGED_DEFINITION_IS_HANDED_OUT_NEW):
            await wrapper.call("a", None, y="1")
            sent = [dict(call.arguments) for call in server.ledger.calls(since=mark)]
            assert sent == [{"y": "1"}], "what was sent for a call by the new definition"


@scenario(REMOVED_TOOL_DISAPPEARS)
async def tool_that_was_removed(server: ScriptedServer, connect: Connect) -> None:
    """Of two tools one is removed, and the list is fetched again."""
    server.ttl_ms = HOUR_MS
    server.has_tools("a", "b")

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        server.has_tools("a")
        mark = server.ledger.mark
        await wrapper.make_stale()
        with check(REMOVED_TOOL_DISAPPEARS):
            assert await wrapper.names() == ["a"]
        reached(server.ledger.listings(since=mark), "no second listing reached the server")
        if wrapper.has("accessors"):
            for name, accessor in dict(await wrapper.verb("accessors")).items():
                with check(REMOVED_TOOL_DISAPPEARS):
                    shown = names_of(tools_of(await perform(accessor)))
                    assert shown == ["a"], f"read through {name}"
