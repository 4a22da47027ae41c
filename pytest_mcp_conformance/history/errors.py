"""What is wrong with the file of a history. Each message names the file, the line and the remedy.

HistoryError
├── NotAHistory       the file is not there, cannot be read, or does not begin as a history does
├── UnknownFormat     a format that this kit does not read
└── BrokenHistory     a line is cut, too long, out of order, repeated, no event, or after the end
"""

from __future__ import annotations

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history.plain import clean

__all__ = ["BrokenHistory", "HistoryError", "NotAHistory", "UnknownFormat"]


class HistoryError(UsageError):
    """A file that cannot be read as a history.

    Args:
        file: Its name.
        line: The number of the line, from 1; 0 where it is the file as a whole.
        wrong: What is wrong.
        remedy: What to do about it.
    """

    def __init__(self, file: str, line: int, wrong: str, remedy: str) -> None:
        place = f"{file}, line {line}" if line else file
        super().__init__(" ".join(clean(f"{place}: {wrong}; {remedy}").split("\n")))
        self.file = file
        self.line = line
        self.wrong = wrong
        self.remedy = remedy


class NotAHistory(HistoryError):
    """It is not there, cannot be read, or does not begin as a history does."""


class UnknownFormat(HistoryError):
    """A format that this kit does not read."""


class BrokenHistory(HistoryError):
    """A line is cut, too long, out of order, repeated, no event, or after the end."""
