"""A proxy between a client and the server that it starts: it is started in the place of the server.

Bytes go through unchanged, a piece at a time, in both directions at once. A piece is recorded before it is
passed on, so nothing in the file comes after what it has caused.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import IO, Literal

from pytest_mcp_conformance.contract import ConformanceError
from pytest_mcp_conformance.recording.frames import LONGEST, Frames
from pytest_mcp_conformance.recording.lines import lines_of
from pytest_mcp_conformance.recording.record import Record

__all__ = ["NotStarted", "record_stdio"]

_MOST = 64 * 1024

GRACE = 10.0
"""Real seconds for a server to end once its stdin was closed, and again once it was told to."""

_PASSED_ON = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")


class NotStarted(ConformanceError):
    """The command of the server cannot be run."""


def record_stdio(
    command: Sequence[str], record: Record, *, longest: int = LONGEST, grace: float = GRACE
) -> int:
    """Run a server between this process's stdin and stdout, and record what is said.

    Args:
        command: The server and its arguments.
        record: Where to; it is closed on return.
        longest: Bytes of a line that are read.
        grace: Seconds for the server to end once its stdin was closed, and again once it was told to.

    Returns:
        The exit code of the server; less than zero where a signal has ended it, as `Popen.returncode` says.

    Raises:
        NotStarted: There is no such command, or it may not be run.
    """
    try:
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise NotStarted(f"{command[0]}: {why}; give the command that starts the server after --") from None
    return _Between(child, record, longest, grace).run()


class _Between:
    def __init__(self, child: subprocess.Popen[bytes], record: Record, longest: int, grace: float) -> None:
        assert child.stdin is not None and child.stdout is not None
        self._child = child
        self._to_server: IO[bytes] = child.stdin
        self._from_server: IO[bytes] = child.stdout
        self._record = record
        self._frames = Frames(record)
        self._longest = longest
        self._grace = grace
        self._by_client = False
        self._passed = 0
        self._passing = False

    def run(self) -> int:
        by_keyboard = _terminal_tells_the_child()
        for name in _PASSED_ON if by_keyboard else (*_PASSED_ON, "SIGINT"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._pass_on)
        if by_keyboard:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=self._hear_the_client, name="from the client", daemon=True).start()
        speaking = threading.Thread(target=self._hear_the_server, name="from the server", daemon=True)
        speaking.start()
        code = self._child.wait()
        self._wait_for(speaking)
        self._frames.close(self._closed_by())
        self._record.close()
        return code

    def _hear_the_client(self) -> None:
        lines = lines_of(self._frames, "client", self._longest)
        while piece := _read(0):
            lines.feed(piece)
            if not _written(self._to_server.fileno(), piece):
                _let_go(0)  # the server hears nothing more, and the client is to learn it
                return
        lines.end()
        self._by_client = True
        with suppress(OSError):
            self._to_server.close()
        if not self._ends():
            self._child.terminate()
        if not self._ends():
            self._child.kill()

    def _hear_the_server(self) -> None:
        lines = lines_of(self._frames, "server", self._longest)
        while piece := _read(self._from_server.fileno()):
            lines.feed(piece)
            self._passing = True
            if not _written(1, piece):
                self._by_client = True
                self._from_server.close()  # whoever writes to it learns that nobody reads
                return
            self._passing = False
            self._passed += 1
        lines.end()
        self._frames.close(self._closed_by())
        _let_go(1)

    def _wait_for(self, speaking: threading.Thread) -> None:
        """Wait for the last words of a server that has ended; a child of its own may hold the pipe open."""
        passed = -1
        while speaking.is_alive() and (self._passing or passed != self._passed):
            passed = self._passed
            speaking.join(self._grace)

    def _ends(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(self._grace)
        return self._child.returncode is not None

    def _closed_by(self) -> Literal["client", "server"]:
        return "client" if self._by_client else "server"

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        with suppress(OSError):
            self._child.send_signal(number)


def _read(number: int) -> bytes:
    try:
        return os.read(number, _MOST)
    except OSError:
        return b""


def _written(number: int, piece: bytes) -> bool:
    """Write all of it; False where nobody is left to read it."""
    try:
        while piece:
            piece = piece[os.write(number, piece) :]
    except OSError:
        return False
    return True


def _let_go(number: int) -> None:
    """Close an end of a pipe, and have no other file take its number."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, number)
        os.close(nothing)


def _terminal_tells_the_child() -> bool:
    """Whether an interrupt from the keyboard reaches the server by itself, for both are in the foreground."""
    if not hasattr(os, "tcgetpgrp"):
        return sys.platform == "win32"
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
