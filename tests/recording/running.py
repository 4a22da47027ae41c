"""The recorder as a process of its own, as clients start it, and servers to stand behind it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_mcp_conformance.history import Entry, History

__all__ = [
    "PROGRAM",
    "ROOT",
    "environment",
    "listening",
    "python",
    "read",
    "recorded_http",
    "recorder",
    "running",
]

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-c", "from pytest_mcp_conformance.cli import main; main()"]
PATIENCE = 60  # real seconds in which something goes wrong, and nobody waits otherwise


def environment(**more: str) -> dict[str, str]:
    """What a child needs to find the kit."""
    path = [str(ROOT), str(ROOT / "reference"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), **more}


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


@contextmanager
def listening() -> Iterator[str]:
    """The shop over HTTP: its address, once it has said on stderr that it listens."""
    shop = [sys.executable, str(Path(__file__).parent / "shop.py"), "http"]
    with running(shop) as child:
        port = b""
        for line in child.stderr:
            if b"Uvicorn running on" in line:
                port = line.partition(b"127.0.0.1:")[2].split()[0]
                break
        assert port.isdigit(), "the shop has ended before it listened"
        threading.Thread(target=child.stderr.read, daemon=True).start()
        yield f"http://127.0.0.1:{port.decode()}/mcp"


@contextmanager
def recorded_http(path: Path, url: str) -> Iterator[str]:
    """The recorder before a server over HTTP: the address for clients. On leaving its file is finished."""
    with running([*PROGRAM, "record", "--to", str(path), "--url", url, "--port", "0"]) as child:
        told = child.stdout.readline().decode()
        assert "is recorded to" in told, child.stderr.read().decode()
        yield told.split()[0]
        child.terminate()
        child.wait(PATIENCE)
        assert child.returncode == 0, child.stderr.read().decode()
