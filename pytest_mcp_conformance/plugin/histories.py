"""The histories of items as files, where `--mcp-history` asks for them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp_conformance.history import HistoryWriter
from pytest_mcp_conformance.history.event import Event
from pytest_mcp_conformance.plugin.cells import Cell
from pytest_mcp_conformance.plugin.collect import NAME
from pytest_mcp_conformance.reports.json import version_of

__all__ = ["file_name", "recording"]

_LONGEST = 160


@contextmanager
def recording(folder: Path | None, cell: Cell, nodeid: str) -> Iterator[dict[str, Any]]:
    """Record what is played in this block.

    Gives what the player is to be told: nothing where nothing is to be written. The file is made with the
    first event, so an item of which nothing was played has none. It has no footer where the block was left
    by an exception, or with its process.

    Args:
        folder: Where files are written.
        cell: What is played.
        nodeid: The item's node id, which names the file.
    """
    if folder is None:
        yield {}
        return
    recorder = _Recorder(folder / file_name(nodeid), cell)
    finished = False
    try:
        yield {"listener": recorder.write}
        finished = True
    finally:
        recorder.close(finished=finished)


def file_name(nodeid: str) -> str:
    """A name that every file system takes: the node id, without what stands for the catalogue."""
    name = re.sub(r"[^\w.\[\]-]", "_", nodeid.removeprefix(f"{NAME}::"), flags=re.ASCII)
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}-{sha256(nodeid.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"
    return f"{name}.history.jsonl"


class _Recorder:
    """Writes one file, which is made with the first event. What cannot be written is warned of once."""

    def __init__(self, path: Path, cell: Cell) -> None:
        self._path = path
        self._cell = cell
        self._writer: HistoryWriter | None = None
        self._trouble = ""

    def write(self, event: Event) -> None:
        if self._writer is None and not self._trouble:
            try:
                self._writer = self._open()
            except OSError as error:
                self._trouble = error.strerror or str(error)
        if self._writer is not None:
            self._writer.write(event)

    def close(self, *, finished: bool) -> None:
        if self._writer is not None:
            self._writer.close(finished=finished)
            self._trouble = self._writer.trouble
        if self._trouble:
            told = f"history not written to {self._path}: {self._trouble}"
            warnings.warn(pytest.PytestWarning(told), stacklevel=2)

    def _open(self) -> HistoryWriter:
        cell = self._cell
        name = f"{cell.scenario.name}[{cell.id}]"
        kit, sdk = version_of("pytest-mcp-conformance"), version_of("mcp")
        return HistoryWriter(self._path, name=name, era=cell.era, kit=kit, sdk=sdk)
