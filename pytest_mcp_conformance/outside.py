"""Who is outside a loop and may still speak to it, and who of them can be asked."""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import socket
import sys
import threading
from collections.abc import Collection, Iterable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

try:
    import fcntl
    import termios
except ImportError:  # Windows
    fcntl = termios = None  # type: ignore[assignment]

__all__ = ["Party", "expected", "parties", "under_way"]


class Party(Protocol):
    """Somebody outside a loop who knows when he has nothing more to say before he is spoken to.

    A loop waits really for whatever may still speak to it. What a party answers for needs no waiting while
    the party is idle.

    Attributes:
        threads: Its own, which work for nobody else.
        children: The pids of processes that say nothing unless they are spoken to. One that ends, or is about
            to, belongs to them no more, so that its end is waited for.
        addresses: Host and port of sockets on which nothing is said unless it was asked for.
    """

    @property
    def threads(self) -> Collection[threading.Thread]:
        """See above."""
        ...

    @property
    def children(self) -> Collection[int]:
        """See above."""
        ...

    @property
    def addresses(self) -> Collection[tuple[str, int]]:
        """See above."""
        ...

    def idle(self) -> bool:
        """Whether, at some moment of this call, nothing was under way: neither to the party nor from it.

        Under way is what the other end has written and the party has not handed to its loop, and what the
        loop has said and cannot be read at the other end yet. Called in the loop's thread, while nothing in
        the loop is ready; may block for some milliseconds of real time, better less.
        """
        ...


_parties: WeakKeyDictionary[asyncio.AbstractEventLoop, set[Party]] = WeakKeyDictionary()


def parties(loop: asyncio.AbstractEventLoop) -> set[Party]:
    """The parties of this loop: add one to have it asked, discard it when it is gone."""
    return _parties.setdefault(loop, set())


def under_way(file: int) -> int:
    """How many bytes were written to a connected socket whose other end has not confirmed that it has them.

    Over loopback too the system delivers when it likes. Where it does not tell, this is 0.
    """
    if fcntl is None:
        return 0
    with contextlib.suppress(OSError):  # no socket, or another system's
        return int.from_bytes(fcntl.ioctl(file, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    return 0


def expected(key: selectors.SelectorKey, among: Iterable[Party]) -> bool:
    """Whether a file that an asyncio loop listens to is the loop's own, or is answered for by a party.

    A socket to which the loop has written is not, until all of it has arrived.
    """
    registered = key.data if isinstance(key.data, tuple) else ()
    handles: list[Any] = [each for each in registered if isinstance(each, asyncio.Handle)]
    if any(getattr(handle._callback, "__name__", "") == "_read_from_self" for handle in handles):
        return True
    children = {child for handle in handles if (child := _child_behind(handle)) is not None}
    address = None if children or under_way(key.fd) else _peer(key.fd)
    return any(children & set(party.children) or address in party.addresses for party in among)


def _child_behind(handle: Any) -> int | None:
    """The pid of the process whose pipe or pidfd this callback serves."""
    owner, arguments = getattr(handle._callback, "__self__", None), handle._args
    if getattr(handle._callback, "__name__", "") == "_do_wait":  # a pidfd
        return arguments[0] if arguments and isinstance(arguments[0], int) else None
    if isinstance(owner, asyncio.ReadTransport | asyncio.WriteTransport):
        child = getattr(owner.get_protocol(), "proc", None)
        return child.get_pid() if isinstance(child, asyncio.SubprocessTransport) else None
    return None


def _peer(file: int) -> tuple[str, int] | None:
    """Host and port at the other end of a connected socket."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(file)) as copy:
        name = copy.getpeername()
        return (name[0], name[1]) if isinstance(name, tuple) else None
    return None
