"""Several clients of the reference as one, against one scripted server each."""

from __future__ import annotations

import pytest
from mcp_conformance_reference import DialFailed, ReferenceClient, StaleTool
from mcp_conformance_reference.several import SeveralClients

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer


def servers(*tools):
    """A server for each name, which has one tool."""
    made = {}
    for number, name in enumerate(tools):
        made[f"server{number}"] = server = ScriptedServer(name=f"server{number}")
        server.has_tools(name)
    return made


def several(made):
    return SeveralClients({name: ReferenceClient(server.dial().streams) for name, server in made.items()})


def test_a_tool_is_called_by_its_name_as_handed_out():
    async def main():
        made = servers("search", "search")
        async with several(made) as held:
            assert [tool.name for tool in await held.list_tools()] == ["server0_search", "server1_search"]
            await held.call_tool("server1_search", {"nonce": "n1"})
        return [len(server.ledger.calls("n1")) for server in made.values()]

    assert run(main) == [0, 1]


def test_a_name_that_nobody_has_is_refused_unsent():
    async def main():
        async with several(servers("search")) as held:
            with pytest.raises(StaleTool):
                await held.call_tool("search", {})

    run(main)


def test_one_that_fails_takes_the_others_with_it():
    async def main():
        made = servers("a", "b")
        made["server1"].refusing = True
        with pytest.raises(DialFailed):
            async with several(made):
                pass
        return [await server.left_open() for server in made.values()]

    assert run(main) == [[], []]


def test_after_the_close_none_is_said_to_be_connected():
    async def main():
        async with several(servers("a", "b")) as held:
            before = held.connected()
        return before, held.connected()

    assert run(main) == (["server0", "server1"], [])
