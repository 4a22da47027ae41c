"""Server-sent events, read as their pieces come."""

from __future__ import annotations

from collections.abc import Callable

from pytest_mcp_conformance.recording.frames import LONGEST
from pytest_mcp_conformance.recording.lines import Lines

__all__ = ["EventStream"]


class EventStream:
    """Takes the bytes of a stream, and hands out the data of each message with the id of its event.

    Args:
        take: Is given both; the id is empty where there is none.
        skip: Is told of each event that is too long, in its place.
        longest: Bytes of an event that are kept.
    """

    def __init__(
        self, take: Callable[[bytes, bytes], None], skip: Callable[[], None], longest: int = LONGEST
    ) -> None:
        self._take = take
        self._skip = skip
        self._longest = longest
        self._lines = Lines(self._line, self._too_long, longest)
        self._began = False
        self._returned = False
        self._data: list[bytes] = []
        self._name = self._id = b""
        self._size = 0
        self._long = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        if self._returned and piece.startswith(b"\n"):  # the second half of a line's end
            piece = piece[1:]
        if piece:
            self._returned = piece.endswith(b"\r")
        self._lines.feed(piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))

    def _line(self, line: bytes) -> None:
        if not self._began:
            self._began = True
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            self._dispatch()
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            self._size += len(value)
            if self._size > self._longest:
                self._too_long()
        elif name == b"event":
            self._name = value
        elif name == b"id":
            self._id = value

    def _dispatch(self) -> None:
        if self._long:
            self._skip()
        elif self._data and self._name in (b"", b"message"):
            text = b"\n".join(self._data)
            if text.strip():  # servers number a stream by an event that is empty
                self._take(text, self._id)
        self._forget()

    def _too_long(self) -> None:
        self._data.clear()
        self._long = True

    def _forget(self) -> None:
        self._data = []
        self._name = self._id = b""
        self._size = 0
        self._long = False
