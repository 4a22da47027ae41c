"""One recording: events are numbered, timed and written the moment they happen, and not kept."""

from __future__ import annotations

import threading
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.history import Digests, Event, HistoryWriter

__all__ = ["Record"]


class Record:
    """Writes what was seen between a client and a server. It may be told from several threads.

    Recording never disturbs the traffic: a file that takes no more, or an event that cannot be written, ends
    the recording, and `trouble` says why.

    Args:
        path: The file; an older one is replaced.
        name: What is recorded, in words that tell no secret.
        digests: What stands in the place of payloads, with a key of its own by default.

    Raises:
        OSError: The file cannot be made.
    """

    def __init__(self, path: Path, name: str, digests: Digests | None = None) -> None:
        self.path = path
        self._writer = HistoryWriter(path, digests, sees="wire", clock="real", name=name, kit=_kit())
        self._began = time.monotonic()
        self._number = 0
        self._connections = 0
        self._wrong = ""
        self._lock = threading.RLock()

    @property
    def trouble(self) -> str:
        """Why the file is not whole, where it is not."""
        return self._wrong or self._writer.trouble

    def next_connection(self) -> int:
        """The number of a new connection."""
        with self._lock:
            self._connections += 1
            return self._connections

    def event(self, kind: str, **fields: Any) -> None:
        """Write one event of the wire."""
        with self._lock:
            if self._wrong:
                return
            self._number += 1
            at = round(time.monotonic() - self._began, 6)
            try:
                self._writer.write(Event(self._number, at, kind, generation=None, **fields))
            except Exception as error:  # whatever a peer says, the other one is to hear it
                self._wrong = f"an event of kind {kind} cannot be written: {type(error).__name__}"
                self._writer.close(finished=False)

    def close(self) -> None:
        """End the file."""
        with self._lock:
            self._writer.close(finished=not self._wrong)


def _kit() -> str:
    try:
        return version("pytest-mcp-conformance")
    except PackageNotFoundError:
        return ""
