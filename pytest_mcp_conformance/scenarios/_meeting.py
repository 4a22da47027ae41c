"""The first meeting with a wrapper in an era: does it connect and list at all?"""

from __future__ import annotations

from collections.abc import Callable

from pytest_mcp_conformance.contract import ERAS, Adapter, eras_over, ways_of
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import reached
from pytest_mcp_conformance.scenarios._scenario import Scenario
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.ways import not_installed

__all__ = ["FIRST_MEETING", "refusal"]


async def _first_meeting(server: ScriptedServer, connect: Connect) -> None:
    server.has_tools("a")
    async with connect(server) as wrapper:
        await wrapper.list_tools()
        reached(server.ledger.listings(), "list_tools sent no tools/list, not even at connect")


FIRST_MEETING = Scenario("first_meeting", (), _first_meeting, "Connect, and list once.", frozenset(ERAS))


def refusal(
    adapter: Adapter, era: str, way: str, meet: Callable[[Adapter, str, str], str]
) -> tuple[bool, str]:
    """Why scenarios of `era` are not played against `adapter`, and whether that is the wrapper's good right.

    An era that the adapter does not declare is its good right to refuse, as long as it speaks the other one;
    so is a way in. So is one whose library is not installed, as long as its first one can be played.

    Args:
        adapter: Whom to meet.
        era: Which family of the protocol.
        way: Over which way in.
        meet: Plays the first meeting; gives what went wrong, or empty.

    Returns:
        `(legal, reason)`; an empty reason when nothing is in the way.
    """
    declared = adapter.claims.eras
    if declared is not None and era not in declared:
        return True, f"eras: the adapter declares {' and '.join(declared)} only"
    taken = adapter.claims.transports
    if taken is not None and way not in taken:
        return True, f"transports: the adapter declares {' and '.join(taken)} only"
    if era not in eras_over(way):
        return True, f"eras: {way} is of {' and '.join(eras_over(way))} only"
    missing = not_installed(way)
    if missing:
        return not not_installed(ways_of(adapter)[0]), missing
    reason = meet(adapter, era, way)
    if not reason:
        return True, ""
    others = [other for other in ERAS if other != era]
    legal = declared is None and any(not meet(adapter, other, way) for other in others)
    return legal, f"eras: does not speak {era} ({reason})" if legal else reason
