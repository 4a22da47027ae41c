"""Scenarios about one object that holds several servers, for rules of several areas."""

from __future__ import annotations

import re

from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract.tools import SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import V1, ScriptedServer, tool

SAYS_TAKEN = re.compile(
    r"search|duplicat|conflict|collid|collision|clash|already|unique|ambiguous|same name|prefix",
    re.IGNORECASE,
)
"""Words by which an error says that a name is given twice."""


async def _refusal(held: Holder) -> BaseException | None:
    """What the set-up raised, or the first listing."""
    if held.error is not None:
        return held.error
    listing = held.start_listing()
    reached(await listing.ended(), "list_tools did not end")
    return listing.error


@scenario(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED, variants=("two_servers", "two_accounts"))
async def one_name_in_one_object(server: ScriptedServer, connect: Connect, of: str) -> None:
    """One object holds two servers, or one server for two accounts; all tools of one name are called."""
    server.has_tools(*V1)
    one = server.another("one")
    one.has_tools(tool("search"))
    two = server.another("two")
    principals: tuple[str, ...] = ()
    if of == "two_accounts":
        if not connect.claims.makes("isolates_principals"):
            leave_out(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED, "isolates_principals")
            return
        two, principals = one, ("A", "B")
    two.has_tools(tool("search"))

    async with connect(server) as wrapper:
        held = await connect.attempt_together(wrapper, one, two, principals=principals)
        refusal = await _refusal(held)
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
            assert len(names) == 2, "one tool of each of two is handed out"
            landed = []
            for number, each in enumerate(shown):
                await held.call(each.name, f"n{number}", each.handle)
                landed += [(call.server, call.principal) for call in one.ledger.calls(f"n{number}")]
                landed += [
                    (call.server, call.principal) for call in two.ledger.calls(f"n{number}") if two is not one
                ]
            assert len(landed) == 2, f"{names} were called, and these calls arrived"
            assert landed[0] != landed[1], f"{names} were called, and both calls went to one of the two"


async def _holds_others(server: ScriptedServer, connect: Connect, wrapper: Holder) -> bool:
    """Whether two servers can be held whose tools are named apart."""
    others = [server.another(f"other {number}") for number in range(2)]
    for each in others:
        each.has_tools(each.name.replace(" ", "_"))
    return await _refusal(await connect.attempt_together(wrapper, *others)) is None
