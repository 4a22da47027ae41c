"""Reading the file of a history, line by line, in constant memory."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import msgspec

from pytest_mcp_conformance.history.codec import (
    LONGEST,
    decode_entries,
    decode_entry,
    decode_footer,
    decode_header,
    format_of,
)
from pytest_mcp_conformance.history.entry import FORMAT, KINDS, Entry, Footer, Header
from pytest_mcp_conformance.history.errors import BrokenHistory, HistoryError, NotAHistory, UnknownFormat

__all__ = ["History"]

_WRONG = (msgspec.MsgspecError, RecursionError)
_TAIL = 4096
_BLOCK = 16 * 1024  # small enough to stay in a cache
_AGAIN = "record it again"
_NO_HISTORY = "name a file that was recorded with --mcp-history"


class History:
    """What happened, read from a file: `History.load(path)`, and then iterated as often as one likes.

    Args:
        path: The file.
        header: Its first line.
        longest: Bytes of a line that are taken.
    """

    def __init__(self, path: Path, header: Header, *, longest: int = LONGEST) -> None:
        self.path = path
        self.header = header
        self._longest = longest

    def __repr__(self) -> str:
        return f"<History {self.path.name!r}>"

    @classmethod
    def load(cls, path: str | PathLike[str], *, longest: int = LONGEST) -> History:
        """Open a file and read its header; the events are read as they are iterated.

        Args:
            path: The file.
            longest: Bytes of a line that are taken.

        Raises:
            HistoryError: It is no history, or of a format that this kit does not read.
        """
        place = Path(path)
        with _opened(place) as file:
            line = _line_of(file, str(place), 1, longest)
        return cls(place, _header_of(line, str(place)), longest=longest)

    @property
    def unfinished(self) -> bool:
        """True when the file has no footer: whoever recorded it was ended, or still records.

        Raises:
            HistoryError: The file cannot be read any more.
        """
        with _opened(self.path) as file:
            try:
                file.seek(max(0, file.seek(0, 2) - _TAIL))
                last = file.read(_TAIL).rstrip().rpartition(b"\n")[2]
            except OSError as error:
                raise _unreadable(self.path, error) from None
        return _footer_of(last) is None

    def __iter__(self) -> Iterator[Entry]:
        """The events, oldest first.

        Raises:
            HistoryError: A line is cut, too long, out of order, repeated, no event, or after the end.
        """
        with _opened(self.path) as file:
            name, lines = str(self.path), 1
            _line_of(file, name, 1, self._longest)
            while block := _block_of(file, name, lines + 1, self._longest):
                entries = _entries_of(block, lines)
                if entries is None:
                    ended = yield from _one_by_one(block, file, name, lines)
                    if ended:
                        return
                    lines += block.count(b"\n")
                else:
                    yield from entries
                    lines += len(entries)


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError | ValueError) -> HistoryError:
    why = getattr(error, "strerror", None) or str(error)
    return NotAHistory(str(path), 0, f"cannot be read: {why}", _NO_HISTORY)


def _line_of(file: BinaryIO, name: str, number: int, longest: int, begun: int = 0) -> bytes:
    """The next line, of which so many bytes have been read; empty at the end of the file."""
    try:
        line = file.readline(longest - begun + 1)
    except OSError as error:
        raise NotAHistory(name, number, f"cannot be read: {error.strerror or error}", _NO_HISTORY) from None
    if begun + len(line) > longest:
        wrong = f"longer than {longest} bytes"
        if number == 1:
            raise NotAHistory(name, number, f"no history begins like this, the line is {wrong}", _NO_HISTORY)
        raise BrokenHistory(name, number, f"the line is {wrong}", "no recorder writes such a line: " + _AGAIN)
    return line


def _block_of(file: BinaryIO, name: str, number: int, longest: int) -> bytes:
    """The next lines, which begin with this number; empty at the end of the file."""
    try:
        block = file.read(min(_BLOCK, longest))
    except OSError as error:
        raise _unreadable(Path(name), error) from None
    if not block or block.endswith(b"\n"):
        return block
    begun = len(block) - 1 - block.rfind(b"\n")
    rest = _line_of(file, name, number + block.count(b"\n"), longest, begun)
    return block + rest


def _entries_of(block: bytes, lines: int) -> list[Entry] | None:
    """The entries of some lines that follow so many others; None where one is not the event that is due."""
    try:
        entries = decode_entries(block)
    except _WRONG:
        return None
    if len(entries) != block.count(b"\n"):
        return None
    numbers = [entry.n for entry in entries]
    return entries if numbers == list(range(lines, lines + len(entries))) else None


def _one_by_one(block: bytes, file: BinaryIO, name: str, lines: int) -> Generator[Entry, None, bool]:
    """The entries of some lines, of which one is no event or not the one that is due; True at the footer."""
    rest = BytesIO(block)
    for expected, line in enumerate(rest, lines):
        number = expected + 1
        try:
            entry = decode_entry(line)
        except _WRONG as wrong:
            footer = _footer_of(line)
            if footer is None:
                raise _no_event(name, number, line, wrong) from None
            _look_at_the_end(rest.read(1) or file.read(1), name, number, footer, expected - 1)
            return True
        if entry.n != expected:
            raise _out_of_order(name, number, entry.n, expected)
        yield entry
    return False


def _header_of(line: bytes, name: str) -> Header:
    if not line:
        raise NotAHistory(name, 0, "is empty", _NO_HISTORY)
    try:
        found = format_of(line)
    except _WRONG:
        raise NotAHistory(name, 1, "no history begins like this", _NO_HISTORY) from None
    if found != FORMAT:
        remedy = "read it with the version of the kit that wrote it, or record it again"
        raise UnknownFormat(name, 1, f"format {found}, and this kit reads format {FORMAT}", remedy)
    try:
        return decode_header(line)
    except _WRONG as wrong:
        raise BrokenHistory(name, 1, f"the header is wrong: {wrong}", _AGAIN) from None


def _footer_of(line: bytes) -> Footer | None:
    try:
        return decode_footer(line)
    except _WRONG:
        return None


def _no_event(name: str, number: int, line: bytes, wrong: Exception) -> HistoryError:
    if not line.endswith(b"\n") and _is_cut(line):
        remedy = f"the recorder was ended here: take line {number} off to read what is before it"
        return BrokenHistory(name, number, "the line is cut in its middle", remedy)
    try:
        kind = msgspec.json.decode(line, type=_Kind).kind
    except _WRONG:
        kind = None
    if kind is not None and kind not in KINDS:
        remedy = "read it with the version of the kit that wrote it"
        return BrokenHistory(name, number, f"an unknown kind of event, {kind[:40]!r}", remedy)
    return BrokenHistory(name, number, f"no event: {str(wrong)[:200]}", _AGAIN)


class _Kind(msgspec.Struct):
    kind: str


def _is_cut(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError as wrong:
        return "truncated" in str(wrong)
    except RecursionError:
        return False
    return False


def _out_of_order(name: str, number: int, found: int, expected: int) -> HistoryError:
    if found > expected:
        wrong = f"event {found} where event {expected} is due: lines are missing or out of order"
    else:
        wrong = f"event {found} again: lines are repeated or out of order"
    return BrokenHistory(name, number, wrong, "events are numbered in the order of the lines: " + _AGAIN)


def _look_at_the_end(more: bytes, name: str, number: int, footer: Footer, events: int) -> None:
    if footer.events != events:
        wrong = f"the footer counts {footer.events} events, and there are {events}"
        raise BrokenHistory(name, number, wrong, "lines are missing or were added: " + _AGAIN)
    if more:
        wrong = "there is more after the footer"
        raise BrokenHistory(name, number + 1, wrong, "one file holds one history: take the rest off")
