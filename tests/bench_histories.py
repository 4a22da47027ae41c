"""What checking a history costs, beside the decoding of its JSON alone."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from pytest_mcp_conformance.history import FORMAT, Entry, Footer, Header, History, Listed, check
from pytest_mcp_conformance.history.codec import decode_entry, decode_footer, decode_header, encode

__all__ = ["history_figures", "long_history"]

SIZES = (10_000, 100_000, 1_000_000)
TOOLS = 8
FORMS = 16
"""So often a tool changes, and then it is as it was before: of more forms the checker forgets the oldest."""
CLAIMS = {"reacts_to_list_changed": 0.0, "caches_listings": True, "clock": True, "own_timeout": 30.0}
CLOCK = 0.01


def long_history(path: Path, events: int) -> None:
    """Write a history of so many events: lists, calls, notices, and a new connection now and then."""
    header = Header(FORMAT, "0" * 16, claims=CLAIMS)  # type: ignore[arg-type]
    with path.open("wb") as file:
        file.write(encode(header))
        for entry, _ in zip(_entries(), range(events), strict=False):
            file.write(encode(entry))
        file.write(encode(Footer(events)))


def _entries() -> Iterator[Entry]:
    numbers, ops, ids = count(1), count(1), count(1)

    def entry(kind: str, **fields: object) -> Entry:
        n = next(numbers)
        return Entry(n, n * CLOCK, kind, **fields)  # type: ignore[arg-type]

    yield entry("entered", who=1)
    for round in count(1):
        connection = 1 + round // 1000
        if round % 1000 == 0 or round == 1:
            if round > 1:
                yield entry("closed", connection=connection - 1, how="client")
            yield entry("opened", connection=connection)
            yield entry("asked", connection=connection, id=0, method="initialize")
            yield entry("answered", connection=connection, id=0, method="initialize")
        generation = round // 10 % FORMS
        tools = tuple(
            Listed(f"tool_{i}", *(f"{generation + i + k:016x}" for k in range(3)), f"{generation + i:016x}")
            for i in range(TOOLS)
        )
        shown = tuple(Listed(t.name, t.description, t.input, t.output) for t in tools)
        if round % 10 == 0:
            yield entry(
                "noticed", connection=connection, list="tools", method="notifications/tools/list_changed"
            )
        op, id = next(ops), next(ids)
        yield entry("wanted", who=1, op=op, list="tools", verb="list_tools")
        yield entry("asked", connection=connection, id=id, method="tools/list", list="tools")
        yield entry("answered", connection=connection, id=id, method="tools/list", list="tools", tools=tools)
        yield entry("served", who=1, op=op, list="tools", tools=shown, verb="list_tools")
        for _ in range(4):
            op, id = next(ops), next(ids)
            about = {"tool": "tool_1", "arguments": f"{id:016x}"}
            yield entry("called", who=1, op=op, verb="call_tool", **about)
            yield entry("asked", connection=connection, id=id, method="tools/call", **about)
            result = f"{id:016x}"
            yield entry("answered", connection=connection, id=id, method="tools/call", ok=True, result=result)
            yield entry("returned", who=1, op=op, ok=True, outcome="ok", result=result, **about)


def _seconds(work: Callable[[], object]) -> float:
    """Seconds of this process, which are less at the mercy of what else runs there."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _decoded(path: Path, decode: Callable[[bytes], object]) -> None:
    with path.open("rb") as file:
        for line in file:
            decode(line)


def _decoded_as_entries(path: Path) -> None:
    with path.open("rb") as file:
        decode_header(file.readline())
        line = file.readline()
        while following := file.readline():
            decode_entry(line)
            line = following
        decode_footer(line)


def _checked(path: Path) -> None:
    found = next(check(History.load(path)), None)
    assert found is None, found


def _peak(path: Path) -> float:
    """Megabytes at the most, of a process that reads and checks the file."""
    code = (
        "import resource, sys; from pytest_mcp_conformance import History, check; "
        "list(check(History.load(sys.argv[1]))); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    told = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    return float(told.stdout)


def history_figures(console: Console) -> None:
    """Print a row for each size; a ratio is of one run, in which all took turns."""
    decoders = ("of its decoding alone", "of json.loads", "of msgspec to dicts")
    columns = ("events", "checked, events/s", *decoders, "peak, MB")
    table = Table("a history read and checked", *columns)
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            path = Path(folder) / f"{size}.history.jsonl"
            long_history(path, size)
            works: list[Callable[[], object]] = [
                lambda path=path: _checked(path),  # type: ignore[misc]
                lambda path=path: _decoded_as_entries(path),  # type: ignore[misc]
                lambda path=path: _decoded(path, json.loads),  # type: ignore[misc]
                lambda path=path: _decoded(path, msgspec.json.Decoder().decode),  # type: ignore[misc]
            ]
            turns = [[_seconds(work) for work in works] for _ in range(3 if size < SIZES[-1] else 1)]
            checked, *alone = (min(column) for column in zip(*turns, strict=True))
            figures = (f"{size / checked:,.0f}", *(f"{checked / each:.2f}" for each in alone))
            table.add_row("", f"{size:,}", *figures, f"{_peak(path):.0f}")
    console.print(table)


if __name__ == "__main__":
    history_figures(Console())
