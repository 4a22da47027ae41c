"""The histories of items as files, where `--mcp-history` asks for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.history import HistoryWriter
from pytest_mcp_conformance.history.event import Event
from pytest_mcp_conformance.plugin.cells import Cell
from pytest_mcp_conformance.plugin.collect import NAME
from pytest_mcp_conformance.reports.json import version_of

__all__ = ["Recording", "file_name"]

_LONGEST = 160


class Recording:
    """Records what is played in its `with` block.

    The file is made with the first event, so an item of which nothing was played has none. It has no footer
    where the block was left by an exception, or with its process.

    Args:
        folder: Where files are written; None for nowhere.
        cell: What is played.
        nodeid: The item's node id, which names the file.
        others: Whoever else is told of each event.

    Attributes:
        trouble: Why the file is not whole, where it is not. It is no matter of the verdict.
    """

    def __init__(
        self,
        folder: Path | None,
        cell: Cell,
        nodeid: str,
        others: Sequence[Callable[[Event], None]] = (),
    ) -> None:
        self.trouble = ""
        self._path = folder / file_name(nodeid) if folder is not None else None
        self._cell = cell
        self._writer: HistoryWriter | None = None
        self._listeners = [*others, *([self._write] if self._path is not None else [])]

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._writer is not None:
            self._writer.close(finished=kind is None)
            self._blame(self._writer.trouble)

    @property
    def listening(self) -> dict[str, Any]:
        """What the player is to be told beside the rest: nothing where nobody listens."""
        return {"listener": self._tell} if self._listeners else {}

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)

    def _write(self, event: Event) -> None:
        if self._writer is None and not self.trouble:
            self._open()
        if self._writer is not None:
            self._writer.write(event)

    def _open(self) -> None:
        assert self._path is not None
        name = f"{self._cell.scenario.name}[{self._cell.id}]"
        kit, sdk = version_of("pytest-mcp-conformance"), version_of("mcp")
        try:
            self._writer = HistoryWriter(
                self._path,
                claims=self._cell.found.adapter.claims.stated(),
                name=name,
                era=self._cell.era,
                kit=kit,
                sdk=sdk,
            )
        except OSError as error:
            self._blame(error.strerror or str(error))

    def _blame(self, why: str) -> None:
        if why:
            self.trouble = f"history not written to {self._path}: {why}"


def file_name(nodeid: str) -> str:
    """A name that every file system takes: the node id, without what stands for the catalogue."""
    name = re.sub(r"[^\w.\[\]-]", "_", nodeid.removeprefix(f"{NAME}::"), flags=re.ASCII)
    if len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}-{sha256(nodeid.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"
    return f"{name}.history.jsonl"
