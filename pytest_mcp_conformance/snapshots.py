"""Histories as snapshots of syrupy: one readable text a test, equal in every run that went alike.

Needs the extra `snapshots`; the fixture `listing_history` is bound to it.
"""

from __future__ import annotations

from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history import Header
from pytest_mcp_conformance.history.normal import normal_lines

__all__ = ["HistorySnapshot"]


class HistorySnapshot(SingleFileSnapshotExtension):
    """Keeps the normal form of a history beside its test, as `__snapshots__/FILE/TEST.history`.

    What is kept is made of entries, never of messages: there is no payload in it.
    """

    _write_mode = WriteMode.TEXT
    file_extension = "history"

    def serialize(self, data: Any, *, exclude: Any = None, include: Any = None, matcher: Any = None) -> str:
        """The text of a history, recorded or loaded.

        Raises:
            UsageError: `data` is no history, or parts of it are to be left out.
        """
        if exclude is not None or include is not None:
            raise UsageError("a history is compared as a whole: leave exclude= and include= out")
        header = getattr(data, "header", None)
        if not isinstance(header, Header):
            raise UsageError(
                f"a snapshot of a history was compared with {type(data).__name__}: "
                "compare mcp_history, or what History.load gives"
            )
        return "".join(f"{line}\n" for line in normal_lines(data, header))
