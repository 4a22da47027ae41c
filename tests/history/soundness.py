"""How sound the checker is, and how much it sees: `python -m tests.history.soundness N`, on mcp 2.x.

Random schedules are played on each wrong wrapper, of which those in which the fault showed itself should give
a finding; then N on the reference, of which none may. The table is written into the docs.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

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
        stuck: How many did not come to their end.
        told: The first findings of schedules in which nothing showed, in words.
    """

    name: str
    runs: int = 0
    showed: int = 0
    found: int = 0
    accused: int = 0
    events: int = 0
    stuck: int = 0
    told: tuple[str, ...] = ()

    def __add__(self, other: Row) -> Row:
        return Row(
            self.name,
            self.runs + other.runs,
            self.showed + other.showed,
            self.found + other.found,
            self.accused + other.accused,
            self.events + other.events,
            self.stuck + other.stuck,
            (*self.told, *other.told)[:3],
        )


def adapter_of(name: str) -> Adapter:
    """The reference, or a wrong wrapper, by its name."""
    return bundled()[name] if name == "reference" else next(w.adapter for w in WRONG if w.name == name)


def row_of(name: str, first: int, count: int) -> Row:
    """What comes of the schedules of these seeds on one wrapper, in each era that it speaks in turn."""
    adapter, row = adapter_of(name), Row(name)
    eras = adapter.claims.eras or ("handshake",)
    signs, names = WATCHED.get(name, (frozenset(), frozenset()))
    gc.disable()  # a fifth of the time, for a few schedules' worth of garbage
    for seed in range(first, first + count):
        shown = play_schedule(seed, adapter, eras[seed % len(eras)])
        showed = any(shown.showed[sign] for sign in signs)
        found = any(finding.name in names for finding in shown.findings)
        told = () if showed or not shown.findings else (f"{seed}: {shown.findings[0]}",)
        accused, stuck = bool(shown.findings), bool(shown.trouble)
        row += Row(name, 1, showed, showed and found, accused, len(shown.entries), stuck, told)
    gc.collect()
    gc.enable()
    return row


def rows_of(plan: dict[str, int], log: Path, processes: int, until: float = math.inf) -> Iterator[Row]:
    """The rows of some schedules on each wrapper, in pieces, as they come.

    Args:
        plan: How many schedules on each.
        log: Where each piece is written as it comes; what is there already is not played again.
        processes: How many play at once.
        until: When no more are begun, as `time.monotonic` counts.
    """
    log.touch()
    done = {(p["name"], p["first"], p["runs"]): p for p in map(json.loads, log.read_text().splitlines())}
    pieces = [
        (name, first, min(CHUNK, count - first))
        for name, count in plan.items()
        for first in range(0, count, CHUNK)
    ]
    for piece in pieces:
        if piece in done:
            yield Row(**{field.name: done[piece][field.name] for field in fields(Row)})
    left = [piece for piece in pieces if piece not in done]
    with ProcessPoolExecutor(processes) as workers, log.open("a", encoding="utf-8") as written:
        played = workers.map(row_of, *zip(*left, strict=True)) if left else iter(())
        for piece, row in zip(left, track(played, "schedules", len(left)), strict=False):
            written.write(json.dumps({**asdict(row), "first": piece[1]}) + "\n")
            written.flush()
            yield row
            if time.monotonic() > until:
                workers.shutdown(wait=False, cancel_futures=True)
                return


def main() -> None:
    """Play, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.history.soundness", description=__doc__)
    parser.add_argument("schedules", type=int, help="how many schedules on the reference")
    parser.add_argument("--each", type=int, default=400, help="how many on each wrong wrapper")
    parser.add_argument("--log", type=Path, help="where to note what was played, so as to go on another time")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="for how long on the reference")
    told = parser.parse_args()
    console = Console()
    rows: dict[str, Row] = {}
    with TemporaryDirectory() as folder:
        log = told.log or Path(folder, "log")
        for row in rows_of(dict.fromkeys(WATCHED, told.each), log, told.processes):
            rows[row.name] = rows.get(row.name, Row(row.name)) + row
        until = time.monotonic() + 60 * told.minutes
        for row in rows_of({"reference": told.schedules}, log, told.processes, until):
            rows[row.name] = rows.get(row.name, Row(row.name)) + row
    for row in rows.values():
        console.print(str(row), markup=False, highlight=False)
    if told.each:
        PAGE.write_text(page(rows), encoding="utf-8")
        console.print(f"wrote {PAGE.relative_to(REFERENCE.parents[1])}")


if __name__ == "__main__":
    main()
