"""Bytes as they come, cut into lines."""

from __future__ import annotations

from collections.abc import Callable

from pytest_mcp_conformance.recording.frames import LONGEST, Frames, Side

__all__ = ["Lines", "lines_of"]


class Lines:
    """Takes bytes as they come, and hands out whole lines without their ends.

    Args:
        take: Is given each line.
        skip: Is told of each line that is too long, in its place.
        longest: Bytes of a line that are kept.
    """

    def __init__(
        self, take: Callable[[bytes], None], skip: Callable[[], None], longest: int = LONGEST
    ) -> None:
        self._take = take
        self._skip = skip
        self._longest = longest
        self._rest = bytearray()
        self._skips = False

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._add(line)
            self.end()
        self._add(rest)

    def end(self) -> None:
        """Take it that the line ends here."""
        line, self._rest = bytes(self._rest), bytearray()
        if self._skips:
            self._skips = False
            self._skip()
        else:
            self._take(line)

    def _add(self, part: bytes) -> None:
        if self._skips:
            return
        self._rest += part
        if len(self._rest) > self._longest:
            self._rest = bytearray()
            self._skips = True


def lines_of(frames: Frames, by: Side, longest: int = LONGEST) -> Lines:
    """What takes the bytes of one side of a connection over stdio, where a line is a message."""

    def take(line: bytes) -> None:
        if line.strip():
            frames.said(by, line)

    return Lines(take, lambda: frames.garbled(by), longest)
