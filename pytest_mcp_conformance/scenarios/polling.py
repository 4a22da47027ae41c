"""The scenario of CCH about wrappers that list by a timer."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from statistics import mean

from pytest_mcp_conformance.contract.caching import POLLING_SPREADS_AND_BACKS_OFF
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import V1, NotReached, ScriptedServer

GAPS = 8


@scenario(POLLING_SPREADS_AND_BACKS_OFF)
async def polls_of_a_failing_server(server: ScriptedServer, connect: Connect) -> None:
    """A wrapper that polls is watched for eight polls, and then each further one fails.

    It slows down when one gap is twice the longest of the healthy ones, when it falls silent, or when the
    gaps are longer by a fifth in the mean: jitter alone does not make them so.
    """
    every = connect.claims.polls or 60.0
    server.ttl_ms = round(1000 * every)
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        mark = server.ledger.mark
        await server.ledger.until(
            lambda: len(_gaps(server, mark)) == GAPS, f"{GAPS + 1} polls", deadline=20 * every
        )
        healthy = _gaps(server, mark)
        with check(POLLING_SPREADS_AND_BACKS_OFF):
            spread = max(healthy) - min(healthy)
            assert spread > every / 1000, f"a poll every {healthy[0]:g} s, without jitter"

        server.fails("tools/list", times=float("inf"))
        mark = server.ledger.mark
        seen: list[float] = []

        def enough() -> bool:
            seen[:] = _gaps(server, mark)
            return len(seen) == GAPS or max(seen, default=0.0) > 2 * max(healthy)

        with suppress(NotReached):  # it has stopped: nobody is slower
            await server.ledger.until(enough, "polls that slow down", deadline=20 * every)
        with check(POLLING_SPREADS_AND_BACKS_OFF):
            assert len(seen) < GAPS or max(seen) > 2 * max(healthy) or mean(seen[2:]) > 1.2 * mean(healthy), (
                f"a poll every {mean(healthy):.3g} s while they are answered, and every {mean(seen):.3g} s "
                "while they fail"
            )


def _gaps(server: ScriptedServer, mark: int) -> list[float]:
    """The seconds between one listing and the next."""
    return [later.at - earlier.at for earlier, later in pairwise(server.ledger.listings(since=mark))]
