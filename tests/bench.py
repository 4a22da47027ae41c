"""Figures, printed and never asserted: `tox -e bench`.

Whole processes are timed in turn, A B A B, so that a drift of the machine meets both; ratios are of one run.
"""

from __future__ import annotations

import logging
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.scenarios._player import play
from tests.bench_calls import call_figures
from tests.bench_histories import history_figures
from tests.bench_pool import lease_figures
from tests.bench_ways import way_figures
from tests.cells import cells

ROUNDS = 7
PASSES = 5


def seconds_of(command: list[str], folder: str) -> float:
    """One run of a command, in seconds."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def in_turn(commands: dict[str, list[str]], folder: str) -> dict[str, list[float]]:
    """Each command `ROUNDS` times, one after the other, after one run that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for counted in range(ROUNDS + 1):
        for name, command in commands.items():
            seconds = seconds_of(command, folder)
            if counted:
                taken[name].append(seconds)
    return taken


def scenarios_of(name: str) -> list[float]:
    """Seconds of each scenario against one adapter, over several passes; the first pass does not count."""
    subject = bundled()[name]
    taken = []
    for counted in range(PASSES + 1):
        for scenario, era, variant in cells(subject):
            if not scenario.rules:
                continue
            start = time.perf_counter()
            play(scenario, subject, era=era, variant=variant, compare=False)
            if counted:
                taken.append(time.perf_counter() - start)
    return taken


def row(table: Table, name: str, seconds: list[float], beside: Callable[[float], str]) -> None:
    """One row of minimum, median, 95th percentile and maximum, in milliseconds."""
    ordered = sorted(seconds)
    middle = statistics.median(ordered)
    figures = (ordered[0], middle, ordered[int(0.95 * (len(ordered) - 1))], ordered[-1])
    table.add_row(name, *(f"{1000 * figure:.2f}" for figure in figures), beside(middle))


def main() -> None:
    """Print the figures."""
    logging.disable(logging.CRITICAL)  # the SDK logs what it lets through
    console = Console()
    python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_empty.py").write_text("def test_nothing():\n    pass\n")
        quiet = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        processes = in_turn(
            {
                "import mcp": [python, "-c", "import mcp"],
                "pytest, an empty test, without the plugin": [*quiet, "-p", "no:mcp_conformance"],
                "pytest, an empty test, with the plugin": quiet,
                "pytest --mcp-conformance, the reference": [
                    *quiet,
                    "--mcp-conformance",
                    "--mcp-wrapper=reference",
                ],
            },
            folder,
        )
    base = statistics.median(processes["import mcp"])
    console.print(f"Python {sys.version.split()[0]}, mcp {bundled()['mcp-session'].version}; milliseconds\n")
    table = Table("whole processes", "min", "median", "p95", "max", "of an import of mcp")
    for name, seconds in processes.items():
        row(table, name, seconds, lambda middle: f"{middle / base:.2f}")
    console.print(table)
    table = Table("scenarios over memory", "min", "median", "p95", "max", "of an import of mcp")
    for name in bundled():
        seconds = scenarios_of(name)
        row(
            table,
            f"{name} ({len(seconds) // PASSES} scenarios)",
            seconds,
            lambda middle: f"{middle / base:.5f}",
        )
    console.print(table)
    console.print("\na call of a listed tool with an output schema, over memory")
    for line in call_figures():
        console.print(f"  {line}", highlight=False)
    lease_figures(console)
    history_figures(console)
    console.print("\na connect and a listing of the SDK's session over each way in, handshake era")
    way_figures(console)


if __name__ == "__main__":
    main()
