"""What a process has beside its loops: threads, open files and sockets, children.

Files and children are read in /proc; where there is none, only threads are seen.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import thread as pools
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pytest_mcp_conformance.clock import Hand
from pytest_mcp_conformance.history import being_written

__all__ = ["Census", "Thing"]

_FILES = "/proc/self/fd"
_FRAMES = 3
_BENEATH = frozenset({"_bootstrap", "_bootstrap_inner"})


@dataclass(frozen=True)
class Thing:
    """One thing that is there and was not there before.

    Attributes:
        kind: `thread`, `process`, `file`, `socket`, `pipe` or `anon_inode`.
        text: Which one, for people.
    """

    kind: str
    text: str


class Census:
    """What this process has now.

    Attributes:
        threads: Those that Python code has started, but for the kit's own.
        verbs: The kit's: each runs one verb.
    """

    def __init__(self) -> None:
        alive = threading.enumerate()
        self.verbs = {each for each in alive if isinstance(each, Hand)}
        # Whoever came from elsewhere, as threads of execnet, may have been there for long.
        self.threads = {each for each in alive if not isinstance(each, threading._DummyThread | Hand)}
        self._pools = {pool for each in self.threads if (pool := _pool_of(each)) is not None}
        self._files = dict(_files())
        self._children = _children()

    def since(self, before: Census) -> list[Thing]:
        """What was not there before. What has merely taken the place of something else does not count."""
        return [
            *(Thing("thread", _in_words(each)) for each in self.threads if self._is_new(each, before)),
            *(Thing("process", _command(pid)) for pid in sorted(self._children - before._children)),
            *self._new_files(before),
        ]

    def _is_new(self, thread: threading.Thread, before: Census) -> bool:
        """Whether it is a new thread, and not one more of a pool that was there before."""
        return thread not in before.threads and _pool_of(thread) not in before._pools

    def _new_files(self, before: Census) -> Iterator[Thing]:
        known = Counter(before._files.values())
        room = Counter(map(_kind, self._files.values()))
        room.subtract(Counter(map(_kind, before._files.values())))
        for number, target in sorted(self._files.items()):
            kind = _kind(target)
            if known[target]:
                known[target] -= 1
            elif room[kind] > 0:
                room[kind] -= 1
                yield Thing(kind, _socket(number) if kind == "socket" else _file(kind, target))


def _pool_of(thread: threading.Thread) -> int | None:
    """Which pool of the standard library it works for."""
    if getattr(thread, "_target", None) is not pools._worker:
        return None
    given: Any = getattr(thread, "_args", None)
    pool = given[0]() if given else None
    return None if pool is None else id(pool)


def _in_words(thread: threading.Thread) -> str:
    frame = sys._current_frames().get(thread.ident or 0)
    places: list[str] = []
    while frame is not None and len(places) < _FRAMES:
        code = frame.f_code
        if code.co_name not in _BENEATH and code is not threading.Thread.run.__code__:
            places.append(f"{code.co_name} ({os.path.basename(code.co_filename)}:{frame.f_lineno})")
        frame = frame.f_back
    where = f" in {' called from '.join(places)}" if places else ""
    return f"thread {thread.name!r}{where}"


def _files() -> Iterator[tuple[int, str]]:
    ours = being_written()
    with suppress(OSError):
        for number in os.listdir(_FILES):
            with suppress(OSError):  # the one by which the folder was read
                if int(number) not in ours:
                    yield int(number), os.readlink(f"{_FILES}/{number}")


def _kind(target: str) -> str:
    head = target.partition(":")[0]
    return head if head in ("socket", "pipe", "anon_inode") else "file"


def _file(kind: str, target: str) -> str:
    return {
        "pipe": "an open pipe",
        "anon_inode": f"an open {target.partition(':')[2].strip('[]')}",
    }.get(kind, f"the open file {target}")


def _socket(number: int) -> str:
    """Where a socket leads to."""
    try:
        with socket.socket(fileno=os.dup(number)) as copy:
            if copy.family not in (socket.AF_INET, socket.AF_INET6):
                return f"a socket of {getattr(copy.family, 'name', copy.family)}"
            if copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                return f"a socket that listens on {_spelt(copy.getsockname())}"
            with suppress(OSError):
                return f"a socket to {_spelt(copy.getpeername())}"
            return f"a socket of {_spelt(copy.getsockname())}"
    except OSError:
        return "a socket"


def _spelt(address: Any) -> str:
    return f"{address[0]}:{address[1]}"


def _children() -> frozenset[int]:
    """The children that have not ended. To ask whether there is any is cheap, to look for them is not."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (AttributeError, OSError):
        return frozenset()
    me = str(os.getpid()).encode()
    found = set()
    for name in os.listdir("/proc") if os.path.isdir(_FILES) else ():
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if parent == me and state not in (b"Z", b"X"):
                    found.add(int(name))
    return frozenset(found)


def _command(pid: int) -> str:
    words = ""
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read(200).replace(b"\0", b" ").decode(errors="replace").strip()
    return f"process {pid} ({words})" if words else f"process {pid}"
