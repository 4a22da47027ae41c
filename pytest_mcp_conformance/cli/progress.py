"""How far each wrapper is: a table that changes in a terminal, and a line for each step elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pytest_mcp_conformance.reports.text import one_line, short

__all__ = ["Progress"]

_SHOWN = ("kept", "broken", "known-gap", "not-testable", "unknown")


class Progress:
    """Shows the steps of some wrappers.

    Args:
        console: Where.
        keys: The wrappers, in their order.
    """

    def __init__(self, console: Console, keys: Sequence[str]) -> None:
        self._console = console
        self._steps: dict[str, tuple[Text, float]] = {key: (Text("waiting", "dim"), 0.0) for key in keys}
        self._ended: set[str] = set()
        self._lock = threading.Lock()
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if self._console.is_terminal:
            self._live = Live(get_renderable=self._table, console=self._console, refresh_per_second=2)
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def tell(self, key: str, what: str) -> None:
        """A wrapper is at a step."""
        self._say(key, Text(short(what)))

    def done(self, key: str, entry: Mapping[str, Any]) -> None:
        """A wrapper has an entry."""
        good = entry["state"] == "judged"
        counts = entry["counts"]
        said = ", ".join(f"{counts[name]} {name.replace('-', ' ')}" for name in _SHOWN if counts.get(name))
        why = f": {one_line(entry['why'])}" if entry["why"] else f": {said}"
        with self._lock:
            self._ended.add(key)
        self._say(key, Text(f"{entry['state']}{why}", "green" if good else "red"))

    def _say(self, key: str, what: Text) -> None:
        with self._lock:
            self._steps[key] = what, time.monotonic()
        if self._live is None:
            self._console.print(Text.assemble(f"{key}: ", what), soft_wrap=True)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        with self._lock:
            steps, ended = dict(self._steps), set(self._ended)
        for key, (what, since) in steps.items():
            seconds = f"{time.monotonic() - since:.0f} s" if since and key not in ended else ""
            table.add_row(Text(key, "bold"), Text(seconds, "dim", justify="right"), what)
        return table
