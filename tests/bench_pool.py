"""What a lease of a live connection costs: acquire and release, over a connection that others hold."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp_conformance_reference import ConnectionPool, pooled_session
from rich.console import Console
from rich.table import Table

from pytest_mcp_conformance.server import ScriptedServer

ROUNDS = 20
LEASES = 2000


async def _seconds_of_a_lease() -> list[float]:
    """Seconds of the process for one acquire and one release: the mean of each round, but for the first."""
    pool = ConnectionPool()
    server = ScriptedServer()

    @asynccontextmanager
    async def dial() -> AsyncIterator[object]:
        async with pooled_session(server.dial().streams) as session:
            yield session

    held = await pool.acquire("k", dial)
    assert held is not None
    taken = []
    for counted in range(ROUNDS + 1):
        start = time.process_time()
        for _ in range(LEASES):
            lease = await pool.acquire("k", dial)
            assert lease is not None
            await lease.release()
        if counted:
            taken.append((time.process_time() - start) / LEASES)
    await held.release()
    return taken


def lease_figures(console: Console | None = None) -> None:
    """Print minimum, median and maximum of the rounds, in microseconds."""
    taken = asyncio.run(_seconds_of_a_lease())
    table = Table("leasing a live connection, µs of the process", "min", "median", "max")
    figures = (min(taken), statistics.median(taken), max(taken))
    table.add_row("acquire and release", *(f"{1e6 * figure:.2f}" for figure in figures))
    (console or Console()).print(table)


if __name__ == "__main__":
    lease_figures()
