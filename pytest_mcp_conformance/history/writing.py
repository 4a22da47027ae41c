"""Writing the file of a history, line by line, as it happens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from weakref import WeakSet

import msgspec

from pytest_mcp_conformance.history.codec import encode
from pytest_mcp_conformance.history.condensing import Condenser
from pytest_mcp_conformance.history.digests import Digests
from pytest_mcp_conformance.history.entry import FORMAT, Entry, Footer, Header
from pytest_mcp_conformance.history.event import Event

__all__ = ["HistoryWriter", "being_written"]

_writers: WeakSet[HistoryWriter] = WeakSet()


def being_written() -> frozenset[int]:
    """The descriptors of the files that are being written now: open, and nobody's leak."""
    return frozenset(each._file.fileno() for each in _writers if not each._file.closed)


class HistoryWriter:
    """Writes one file. Every line is with the system before the next event, so a crash leaves what was.

    A folder that takes no more ends the writing and not the play: `trouble` says so.

    Args:
        path: Where; an older file is replaced.
        digests: What stands in the place of payloads, with a key of its own by default.
        claims: What the wrapper promises, by the names of the claims.
        about: The fields of the `Header` that are known: `name`, `era`, `kit`, `sdk`, `clock`, `sees`.

    Attributes:
        trouble: Why the file is not whole, where it is not.

    Raises:
        OSError: The file cannot be made.
    """

    def __init__(
        self,
        path: Path,
        digests: Digests | None = None,
        claims: Mapping[str, Any] | None = None,
        **about: str,
    ) -> None:
        digests = digests if digests is not None else Digests()
        self.path = path
        self.trouble = ""
        self._condenser = Condenser(digests)
        self._events = 0
        self._file = path.open("wb", buffering=0)
        _writers.add(self)
        known = {name: said.encode("utf-8", "backslashreplace").decode() for name, said in about.items()}
        self._put(
            msgspec.convert(
                {"history": FORMAT, "key": digests.name, "claims": dict(claims or {}), **known}, Header
            )
        )

    def __enter__(self) -> HistoryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close(finished=raised is None)

    def write(self, event: Event) -> None:
        """Write one event; nothing once the file is closed."""
        if not self._file.closed:
            self.write_entry(self._condenser.entry(event))

    def write_entry(self, entry: Entry) -> None:
        """Write what was condensed before, or comes from elsewhere; nothing once the file is closed."""
        if not self._file.closed:
            self._events += 1
            self._put(entry)

    def close(self, *, finished: bool = True) -> None:
        """End the file, with a footer where it is finished. A second time is nothing."""
        if self._file.closed:
            return
        if finished:
            self._put(Footer(self._events))
        self._file.close()

    def _put(self, item: Header | Entry | Footer) -> None:
        line = encode(item)
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            self.trouble = error.strerror or str(error)
            self._file.close()
