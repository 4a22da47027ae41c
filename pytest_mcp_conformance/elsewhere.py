"""Nothing of this process connects to another machine, and nobody is asked for a name, while it must not.

Python tells of every connection before it is made, whatever library makes it, and in whatever thread. It does
not tell of code in C that opens sockets of its own (uvloop, grpc), nor of the sockets of other processes.
"""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from ipaddress import ip_address
from typing import Any
from weakref import WeakSet

__all__ = ["loopback_only"]

_guards: list[Callable[[str], object]] = []
_strangers: WeakSet[threading.Thread] = WeakSet()
_FAMILIES = (socket.AF_INET, socket.AF_INET6)
_METHODS = ("connect", "connect_ex", "sendto")


@contextmanager
def loopback_only(tell: Callable[[str], object] = lambda what: None) -> Iterator[None]:
    """Refuse every connection and every lookup that would leave this machine. May be entered within itself.

    Whoever tries gets a `ConnectionRefusedError`. Sockets of this machine alone, as those of AF_UNIX, and
    those that are connected already, are left alone.

    Args:
        tell: Called with one line for each attempt, in the thread that made it. Nobody is told of threads
            that are older than the first use of this in the process: what they try is no act of a test.
    """
    _install()
    _strangers.discard(threading.current_thread())
    _guards.append(tell)
    try:
        with _names_are_looked_at_first():
            yield
    finally:
        _guards.remove(tell)


@cache
def _install() -> None:
    """Hook in, once a process: what is hooked in stays, and does nothing while nobody asks for it."""
    _strangers.update(threading.enumerate())
    sys.addaudithook(partial(_hear, _guards, _ASKED))


def _hear(
    guards: list[Any], asked: dict[str, Callable[..., str]], event: str, given: tuple[Any, ...]
) -> None:
    if guards and event in asked:
        _refuse(asked[event](*given))


def _refuse(whom: str) -> None:
    """Raise for a place that is elsewhere; an empty one is nowhere."""
    if not whom:
        return
    said = f"the wrapper under test tried to connect to {whom}: scenarios allow 127.0.0.1 only"
    if not _is_a_stranger():
        for tell in tuple(_guards):
            tell(said)
    raise ConnectionRefusedError(said)


def _is_a_stranger() -> bool:
    here = threading.get_ident()
    known = (thread for thread in threading.enumerate() if thread.ident == here)
    thread = next(known, None)
    return thread is None or isinstance(thread, threading._DummyThread) or thread in _strangers


# -- where each event leads to: a host, with its port, or nowhere --------------------------------------------


def _address(sock: socket.socket, address: Any = None) -> str:
    if sock.family not in _FAMILIES or not isinstance(address, tuple) or len(address) < 2:
        return ""
    return "" if _is_here(address[0]) else _spelt(*address[:2])


def _lookup(host: Any, port: Any = None, *_: Any) -> str:
    # Digits are not looked up, and whoever asks for the name of this machine stays on it.
    here = _is_here(host) or _ip(host) is not None or _text(host) == socket.gethostname()
    return "" if here else _spelt(host, port)


_ASKED: dict[str, Callable[..., str]] = {
    "socket.connect": _address,
    "socket.sendto": _address,
    "socket.sendmsg": _address,
    "socket.getaddrinfo": _lookup,
    "socket.gethostbyname": _lookup,
    "socket.gethostbyaddr": lambda host: "" if _is_here(host) else _spelt(host),
}


def _is_here(host: Any) -> bool:
    text = _text(host)
    if text in ("", "localhost") or text.endswith(".localhost"):
        return True
    found = _ip(host)
    found = getattr(found, "ipv4_mapped", None) or found
    return found is not None and (found.is_loopback or found.is_unspecified)


def _ip(host: Any) -> Any:
    try:
        return ip_address(_text(host))
    except ValueError:
        return None


def _text(host: Any) -> str:
    if host is None:
        return ""
    text = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)
    return text.partition("%")[0].rstrip(".").lower()


def _spelt(host: Any, port: Any = None) -> str:
    text = f"[{_text(host)}]" if ":" in _text(host) and port else _text(host)
    return f"{text}:{_text(port)}" if port else text


# -- a name that is given to a socket itself is looked up before the event -----------------------------------


@contextmanager
def _names_are_looked_at_first() -> Iterator[None]:
    if len(_guards) > 1:
        yield
        return
    own = {name: vars(socket.socket).get(name) for name in _METHODS}
    for name in own:
        setattr(socket.socket, name, _looking(getattr(socket.socket, name)))
    try:
        yield
    finally:
        for name, method in own.items():
            if method is None:
                delattr(socket.socket, name)
            else:
                setattr(socket.socket, name, method)


def _looking(method: Any) -> Any:
    def looking(self: socket.socket, /, *given: Any) -> Any:
        if _guards and given:
            _refuse(_address(self, given[-1]))
        return method(self, *given)

    return looking
