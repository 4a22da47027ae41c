"""The near end of the relays: a thread that listens on loopback, in real time, whatever other loops do."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from pytest_mcp_conformance.server.ways import _relay

__all__ = ["Line", "Listener"]

_GREETING = 10.0  # real seconds in which whoever connects has to show the token
_LONGEST_GREETING = 256


class Hearer(Protocol):
    """Whom the listener tells; always in the hearer's own loop, in the order in which things happened."""

    def connected(self, line: Line) -> None:
        """A relay has shown the token."""

    def heard(self, line: Line, said: bytes) -> None:
        """Its client has written this."""

    def ended(self, line: Line) -> None:
        """Its client has closed its stdin, or it is dead."""


class Listener:
    """Takes relays that show the token. Its methods serve the hearer's loop, and none needs that loop to run.

    Args:
        hearer: Whom it tells.
        loop: The hearer's loop.

    Attributes:
        port: On 127.0.0.1.
        token: What a relay has to show.
        thread: The one that listens.
    """

    def __init__(self, hearer: Hearer, loop: asyncio.AbstractEventLoop) -> None:
        self.token = secrets.token_hex(16)
        self._hearer = hearer
        self._hearers_loop = loop
        self._lines: set[Line] = set()
        self._loop = asyncio.SelectorEventLoop()
        self._over = self._loop.create_future()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.thread = threading.Thread(target=self._listen, name="stdio listener", daemon=True)
        self.thread.start()

    def do(self, what: Callable[..., object], *arguments: Any) -> None:
        """Have something done in the thread, in order; nothing once it is closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what, *arguments)

    def tell(self, what: Callable[..., object], *arguments: Any) -> None:
        """Have something done in the hearer's loop, in order; nothing once that is closed."""
        with suppress(RuntimeError):
            self._hearers_loop.call_soon_threadsafe(what, *arguments)

    @property
    def steady(self) -> set[int]:
        """The pids of the relays that are neither gone nor about to go."""
        return {line.pid for line in tuple(self._lines) if line.steady}

    def all_quiet(self, within: float) -> bool:
        """Whether, at some moment of this call, nothing was under way between any client and the hearer.

        Args:
            within: In real seconds; where a relay needs longer to say so, the answer is no.
        """
        probe = _Probe()
        self.do(probe.ask, self._lines)
        return probe.done.wait(within)

    def close(self) -> None:
        """Hang up on every relay, and end the thread."""
        self.do(self._over.set_result, None)
        self.thread.join()

    def _listen(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await self._loop.create_server(lambda: Line(self), sock=self._socket)
        await self._over
        server.close()
        for line in list(self._lines):
            line.abort()
        await server.wait_closed()
        await asyncio.sleep(0)  # up to Python 3.11 the server does not wait for its connections

    def joined(self, line: Line) -> None:
        """Somebody has connected."""
        self._lines.add(line)

    def left(self, line: Line) -> None:
        """A line is gone."""
        self._lines.discard(line)

    def greeted(self, line: Line) -> None:
        """A line has shown the token."""
        self.tell(self._hearer.connected, line)
        line.known = True

    def said(self, line: Line, what: bytes) -> None:
        """A line's client has said something."""
        self.tell(self._hearer.heard, line, what)

    def ended(self, line: Line) -> None:
        """A line's client has nothing more to say."""
        self.tell(self._hearer.ended, line)


class Line(asyncio.Protocol):
    """One relay, seen from here.

    Attributes:
        pid: Of the relay; 0 until it has shown the token.
        gone: Set once its process is dead.
        known: Whether the hearer has been told of it.
    """

    def __init__(self, listener: Listener) -> None:
        self.pid = 0
        self.gone = threading.Event()
        self.known = False
        self.probes: dict[bytes, _Probe] = {}
        self._listener = listener
        self._received = bytearray()
        self._stays = False
        self._leaves = False

    @property
    def steady(self) -> bool:
        """Whether it is known, and neither gone nor about to go."""
        return self.known and not self._leaves

    # -- from the hearer's loop ----------------------------------------------------------------------------

    def send(self, kind: bytes, payload: bytes = b"") -> None:
        """Have the relay do something; never waits."""
        if kind == _relay.STAY:
            self._stays = True
        elif kind in (_relay.EXIT, _relay.DIE):
            self._leaves = True
        self._listener.do(self.write, kind, payload)

    # -- in the listener's thread --------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """See `asyncio.Protocol`."""
        self._transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._listener.joined(self)
        self._limit = asyncio.get_running_loop().call_later(_GREETING, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._limit.cancel()
        self._listener.left(self)
        self._leaves = True
        self.gone.set()
        if self.pid:
            self._listener.ended(self)
        for probe in self.probes.values():
            probe.answered(self)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._received += data
        while not self._transport.is_closing() and (message := _relay.taken(self._received)) is not None:
            self._take(*message)
        if not self.pid and len(self._received) > _LONGEST_GREETING:
            self.abort()

    def write(self, kind: bytes, payload: bytes = b"") -> None:
        """Send one order."""
        if not self._transport.is_closing():
            self._transport.write(_relay.packed(kind, payload))

    def abort(self) -> None:
        """Hang up at once."""
        self._transport.abort()

    def _take(self, kind: bytes, payload: bytes) -> None:
        if not self.pid:
            self._greet(kind, payload)
        elif kind == _relay.HEARD:
            self._listener.said(self, payload)
        elif kind == _relay.PROBE:
            self.probes.pop(payload).answered(self)
        elif kind == _relay.ENDED:
            if not self._stays:
                self._leaves = True
            self._listener.ended(self)

    def _greet(self, kind: bytes, payload: bytes) -> None:
        token, _, pid = payload.partition(b" ")
        if (
            kind == _relay.HELLO
            and secrets.compare_digest(token, self._listener.token.encode())
            and pid.isdigit()
        ):
            self.pid = int(pid)
            self._limit.cancel()
            self._listener.greeted(self)
        else:
            self.abort()


class _Probe:
    """One question to every relay at once: is anything under way?"""

    def __init__(self) -> None:
        self.done = threading.Event()
        self._waiting: set[Line] = set()

    def ask(self, lines: set[Line]) -> None:
        """Ask every line that has shown its token."""
        self._waiting = {line for line in lines if line.pid}
        for line in self._waiting:
            name = str(id(self)).encode()
            line.probes[name] = self
            line.write(_relay.PROBE, name)
        self._end()

    def answered(self, line: Line) -> None:
        """Everything that this line had carried has arrived, or the line is gone."""
        self._waiting.discard(line)
        self._end()

    def _end(self) -> None:
        if not self._waiting:
            self.done.set()
