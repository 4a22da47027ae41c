"""The SDK that forgets, and a wrapper over it that checks by itself."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.contract import AdapterError, Verdict
from pytest_mcp_conformance.scenarios import Scenario, forgetful
from pytest_mcp_conformance.scenarios._player import play
from pytest_mcp_conformance.scenarios.checks import UNCOMPILABLE
from pytest_mcp_conformance.server import ScriptedServer, tool
from pytest_mcp_conformance.server.sdk_double import Forgetful
from tests.wrong._session import OverSession, wrapping

SCENARIOS = [found for found in vars(forgetful).values() if isinstance(found, Scenario)]
Z = tool("z", "integer")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_wrapper_that_checks_by_itself_keeps_every_rule_over_it(scenario):
    control = wrapping("control", OverSession)
    for variant in scenario.variants:
        played = play(scenario, control, era="handshake", variant=variant, compare=False)
        missing = [j.detail for j in played.judgements if j.verdict is Verdict.NOT_CLAIMED]
        assert set(missing) <= {"generations", "listings_of"}
        assert not [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)]


def test_it_loses_the_checks_behind_a_schema_that_does_not_compile():
    async def main():
        server = ScriptedServer()
        server.has_tools("plain", Z)
        async with server.dial().session(double=Forgetful()) as session:
            await session.list_tools()
            server.answers("z", "wrong")
            with pytest.raises(RuntimeError, match="Invalid structured content"):
                await session.call_tool("z", {})
            server.answers("z", bare=True)
            with pytest.raises(RuntimeError, match="did not return"):
                await session.call_tool("z", {})
            server.has_tools(tool("bad", UNCOMPILABLE["type"]), Z)
            with pytest.raises(Exception, match="nonsense"):
                await session.list_tools()
            return await session.call_tool("z", {})

    assert run(main).content


@pytest.mark.parametrize("auto", [True, False])
def test_it_lists_unseen_after_a_notice_only_when_asked_to(auto):
    async def main():
        server = ScriptedServer()
        server.has_tools(Z)
        async with server.dial().session(double=Forgetful(auto_refresh=auto)):
            await server.notify_list_changed()
            return len(server.ledger.listings())

    assert run(main) == int(auto)


def test_a_refresh_that_is_out_ends_with_its_session():
    async def main():
        server = ScriptedServer()
        with server.holding("tools/list"):
            async with server.dial().session(double=Forgetful(auto_refresh=True)):
                await server.notify_list_changed()
        await server.settle()
        return server.ledger.open_connections()

    assert run(main) == []


def test_what_is_no_double_is_refused_in_words():
    async def main():
        async with ScriptedServer().dial().session(double="forgetful"):
            pass

    with pytest.raises(AdapterError, match="Forgetful"):
        run(main)
