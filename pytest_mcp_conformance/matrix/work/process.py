"""A process with whatever it starts: ended together, by a limit of time or when it is told to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ended", "run"]

_LOOK = 0.1
_PATIENCE = 3.0


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes:
        code: Its exit code; below zero for a signal, None where it was made to end.
        why: Why it was made to end: `limit`, `stop` or `lingers`; empty where it ended by itself.
    """

    code: int | None
    why: str = ""


def run(
    command: Sequence[str],
    *,
    folder: Path,
    log: Path,
    environ: Mapping[str, str],
    limit: float,
    stop: threading.Event,
    done: Callable[[], bool] = lambda: False,
    grace: float = 30.0,
) -> Ended:
    """Run a command to its end. Nothing that it started in its group is there afterwards.

    Args:
        command: The words.
        folder: Where it runs.
        log: The file that takes all that it prints.
        environ: Its environment.
        limit: Seconds that it may take.
        stop: Set when it is to end.
        done: Whether it has done all that it is there for, so that it ought to end.
        grace: Seconds that it may take to end after that.
    """
    with log.open("wb") as printed:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            why = _watched(process, time.monotonic() + limit, stop, done, grace)
        finally:
            _end(process)
    return Ended(None if why else process.returncode, why)


def _watched(
    process: subprocess.Popen[bytes],
    end: float,
    stop: threading.Event,
    done: Callable[[], bool],
    grace: float,
) -> str:
    last = end
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK)
            return ""
        now = time.monotonic()
        if stop.is_set():
            return "stop"
        if last == end and done():
            last = min(end, now + grace)
        if now >= last:
            return "lingers" if done() else "limit"


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the group, whether or not its first process lives."""
    if process.poll() is None:
        _signal(process, "SIGTERM")
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
    _signal(process, "SIGKILL")
    process.wait()


def _signal(process: subprocess.Popen[bytes], name: str) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, getattr(signal, name))
    elif process.poll() is None:
        process.kill()
