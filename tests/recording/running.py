"""The recorder as a process of its own, as clients start it, and servers of a few lines to stand behind it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_mcp_conformance.history import Entry, History

__all__ = ["PROGRAM", "ROOT", "environment", "python", "read", "recorder", "running"]

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-c", "from pytest_mcp_conformance.cli import main; main()"]
PATIENCE = 60  # real seconds in which something goes wrong, and nobody waits otherwise


def environment(**more: str) -> dict[str, str]:
    """What a child needs to find the kit; nothing else of this process's path."""
    return {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'reference'}", **more}


def python(code: str, *arguments: str) -> list[str]:
    """A server of a few lines."""
    return [sys.executable, "-u", "-c", code, *arguments]


def recorder(path: Path, command: list[str]) -> list[str]:
    """The command that records `command` to `path`."""
    return [*PROGRAM, "record", "--to", str(path), "--", *command]


@contextmanager
def running(command: list[str], **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process with pipes on every side, killed at the end where it still lives."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(**environ),
    )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        for pipe in (child.stdin, child.stdout, child.stderr):
            with suppress(BrokenPipeError):
                pipe.close()
        child.wait(PATIENCE)


def read(path: Path) -> tuple[History, list[Entry]]:
    """A history and its entries."""
    history = History.load(path)
    return history, [*history]
