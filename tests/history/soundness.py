"""How sound the checker is, and how much it sees: `python -m tests.history.soundness N`, on mcp 2.x.

N random schedules are played on the reference, of which none may give a finding; then some on each wrong
wrapper, of which those in which the fault showed itself should. The table is written into the docs.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from rich.console import Console
from rich.progress import track

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.contract import Adapter
from tests.history.checker_page import PAGE, page
from tests.history.schedules import play_schedule
from tests.history.watched import WATCHED
from tests.pages import REFERENCE
from tests.wrong import WRONG

__all__ = ["Row", "row_of", "rows_of"]

CHUNK = 20


@dataclass(frozen=True)
class Row:
    """What came of some schedules on one wrapper.

    Attributes:
        name: The wrapper.
        runs: How many schedules were played.
        showed: In how many of them the fault showed itself.
        found: In how many of those the checker found it.
        accused: In how many the checker found anything.
        events: How many events there were.
        told: The first findings of schedules in which nothing showed, in words.
    """

    name: str
    runs: int = 0
    showed: int = 0
    found: int = 0
    accused: int = 0
    events: int = 0
    told: tuple[str, ...] = ()

    def __add__(self, other: Row) -> Row:
        return Row(
            self.name,
            self.runs + other.runs,
            self.showed + other.showed,
            self.found + other.found,
            self.accused + other.accused,
            self.events + other.events,
            (self.told + other.told)[:3],
        )


def adapter_of(name: str) -> Adapter:
    """The reference, or a wrong wrapper, by its name."""
    return bundled()[name] if name == "reference" else next(w.adapter for w in WRONG if w.name == name)


def row_of(name: str, first: int, count: int) -> Row:
    """What comes of the schedules of these seeds on one wrapper, in each era that it speaks in turn."""
    adapter, row = adapter_of(name), Row(name)
    eras = adapter.claims.eras or ("handshake",)
    signs, names = WATCHED.get(name, (frozenset(), frozenset()))
    for seed in range(first, first + count):
        shown = play_schedule(seed, adapter, eras[seed % len(eras)])
        showed = any(shown.showed[sign] for sign in signs)
        found = any(finding.name in names for finding in shown.findings)
        told = () if showed or not shown.findings else (f"{seed}: {shown.findings[0]}",)
        accused = bool(shown.findings)
        row += Row(name, 1, showed, showed and found, accused, len(shown.entries), told)
    return row


def rows_of(plan: dict[str, int]) -> Iterator[Row]:
    """The rows of some schedules on each wrapper, in pieces, as they come."""
    pieces = [
        (name, first, min(CHUNK, count - first))
        for name, count in plan.items()
        for first in range(0, count, CHUNK)
    ]
    with ProcessPoolExecutor(os.cpu_count() or 1) as workers:
        yield from track(workers.map(row_of, *zip(*pieces, strict=True)), "schedules", len(pieces))


def main() -> None:
    """Play, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.history.soundness", description=__doc__)
    parser.add_argument("schedules", type=int, help="how many schedules on the reference")
    parser.add_argument("--each", type=int, default=400, help="how many on each wrong wrapper")
    told = parser.parse_args()
    console = Console()
    rows: dict[str, Row] = {}
    began = time.perf_counter()
    for row in rows_of({"reference": told.schedules}):
        rows[row.name] = rows.get(row.name, Row(row.name)) + row
    seconds = time.perf_counter() - began
    console.print(f"{rows['reference']}\n{told.schedules / seconds:.1f} schedules a second", markup=False)
    if told.each:
        for row in rows_of(dict.fromkeys(WATCHED, told.each)):
            rows[row.name] = rows.get(row.name, Row(row.name)) + row
        for row in rows.values():
            console.print(str(row), markup=False, highlight=False)
        PAGE.write_text(page(rows), encoding="utf-8")
        console.print(f"wrote {PAGE.relative_to(REFERENCE.parents[1])}")


if __name__ == "__main__":
    main()
