"""Scenarios about one object that holds several servers: whose tools it shows, and where its calls go."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract.caching import SERVERS_NEVER_SHARE_AN_ENTRY
from pytest_mcp_conformance.contract.calls import FAILED_CALL_IS_NEVER_REDIRECTED
from pytest_mcp_conformance.contract.tools import (
    SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED,
    TOOLS_OF_ONE_NAME_ARE_TOLD_APART,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._together import call_all, refusal_of, together, two_servers
from pytest_mcp_conformance.server import FAULTS, ScriptedServer

UNKNOWN = replace(FAULTS["error"], code=-32602, text="Unknown tool")
FAILS = {"error": FAULTS["error"], "dropped": FAULTS["hangs_up"], "unknown": UNKNOWN}
"""How a call fails at its server."""

SAYS_TAKEN = re.compile(
    r"search|duplicat|conflict|collid|collision|clash|already|unique|ambiguous|same name|prefix",
    re.IGNORECASE,
)
"""Words by which an error says that a name is given twice."""


@scenario(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED, variants=("two_servers", "two_accounts"))
async def one_name_in_one_object(server: ScriptedServer, connect: Connect, of: str) -> None:
    """One object holds two servers, or one server for two accounts; all tools of one name are called."""
    one, two = two_servers(server, "search", "search")
    principals: tuple[str, ...] = ()
    if of == "two_accounts":
        if not connect.claims.makes("isolates_principals"):
            leave_out(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED, "isolates_principals")
            return
        two, principals = one, ("A", "B")

    async with connect(server) as wrapper:
        held = await connect.attempt_together(wrapper, one, two, principals=principals)
        refusal = await refusal_of(held)
        if refusal is not None:
            said = describe(refusal)
            tells = isinstance(refusal, Exception) and bool(SAYS_TAKEN.search(said))
            reached(tells or await _holds_others(server, connect, wrapper), f"no two servers: {said}")
            with check(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED):
                assert tells, f"two tools of one name are refused by {said}, which does not tell why"
            return
        with check(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED):
            shown = await held.list_tools()
            names = [each.name for each in shown]
            assert len(names) == 2, f"each of two has a tool of one name, and {names} are handed out"
            await call_all(held, shown, "n")
            calls = [call for each in {one, two} for call in each.ledger.calls()]
            landed = {(call.server, call.principal) for call in calls}
            assert len(calls) == 2, f"{names} were called, and so many calls arrived"
            assert len(landed) == 2, f"{names} were called, and both calls went to the same of the two"


async def _holds_others(server: ScriptedServer, connect: Connect, wrapper: Holder) -> bool:
    """Whether two servers can be held whose tools are named apart."""
    return await refusal_of(await connect.attempt_together(wrapper, *two_servers(server))) is None


@scenario(TOOLS_OF_ONE_NAME_ARE_TOLD_APART)
async def one_name_is_usable_twice(server: ScriptedServer, connect: Connect) -> None:
    """One object holds two servers that give themselves one name, and both have a tool of one name."""
    one, two = two_servers(server, "search", "search")
    async with connect(server) as wrapper:
        held = await connect.attempt_together(wrapper, one, two)
        refusal = await refusal_of(held)
        if refusal is not None:
            reached(await _holds_others(server, connect, wrapper), f"no two servers: {describe(refusal)}")
            with check(TOOLS_OF_ONE_NAME_ARE_TOLD_APART):
                assert refusal is None, f"two tools of one name cannot be used together: {describe(refusal)}"
            return
        await call_all(held, await held.list_tools(), "n")
        reached(one.ledger.calls() or two.ledger.calls(), "no call was sent")
        with check(TOOLS_OF_ONE_NAME_ARE_TOLD_APART):
            for each in (one, two):
                assert each.ledger.calls(), f"all tools were called, and that of server {each.label} was not"


@scenario(SERVERS_NEVER_SHARE_AN_ENTRY)
async def lists_of_one_object(server: ScriptedServer, connect: Connect) -> None:
    """One object holds two servers that give themselves one name; it lists twice, and calls all."""
    one, two = two_servers(server, "mine", "theirs")
    async with together(server, connect, (one, two)) as held:
        with check(SERVERS_NEVER_SHARE_AN_ENTRY):
            for _ in range(2):
                shown = sorted(await held.list_tools(), key=lambda each: "theirs" in each.name)
                told = [re.findall("mine|theirs", each.name) for each in shown]
                assert told == [["mine"], ["theirs"]]
            await call_all(held, shown, "n")
            assert one.ledger.calls("n-0"), "the first server's tool was called, and not there"
            assert two.ledger.calls("n-1"), "the second server's tool was called, and not there"


@scenario(FAILED_CALL_IS_NEVER_REDIRECTED, variants=tuple(FAILS))
async def failure_in_one_object(server: ScriptedServer, connect: Connect, how: str) -> None:
    """One object holds two servers with a tool of one name, and a call of one of the tools fails."""
    two = two_servers(server, "search", "search")
    async with connect(server) as wrapper:
        held = await connect.attempt_together(wrapper, *two)
        if await refusal_of(held) is not None:
            leave_out(FAILED_CALL_IS_NEVER_REDIRECTED, "refuses two tools of one name")
            return
        for each in two:
            each.suffers(FAILS[how], "call", times=float("inf"))
        tool = (await held.list_tools())[0]
        await held.start_call(tool.name, "n1", tool.handle).ended()  # or never, which is about other rules
        await asyncio.sleep(60.0)
        there = [each.label for each in two if each.ledger.calls("n1")]
        reached(there, "the call was not sent")
        with check(FAILED_CALL_IS_NEVER_REDIRECTED):
            assert len(there) == 1, f"one call, which failed, went to {there}"
