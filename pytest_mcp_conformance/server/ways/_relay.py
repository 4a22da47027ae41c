"""The child that a stdio client starts: it carries bytes between that client and the script, no more.

Run as `python -I -S _relay.py PORT TOKEN`, with the standard library alone. Over the socket each message is a
kind, a length and a payload. What the way orders and what the client says stay in order, so the answer to a
probe proves that everything before the probe has arrived: what the way had the relay say is in the client's
pipe, and what the client had written is with the way.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys
import threading

HELLO = b"h"  # from the relay: the token and the pid
HEARD = b"i"  # from the relay: bytes of stdin
ENDED = b"z"  # from the relay: stdin has ended
PROBE = b"p"  # from the way, and back once nothing is under way in either direction
SAY = b"o"  # to the relay: bytes for stdout
COMPLAIN = b"e"  # to the relay: bytes for stderr
CLOSE = b"c"  # to the relay: close stdout and live on
EXIT = b"x"  # to the relay: say the rest and end
DIE = b"k"  # to the relay: say the rest and be killed
STAY = b"s"  # to the relay: live on after the end of stdin
DEAF = b"d"  # to the relay: live on after SIGTERM

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows SIGTERM is as hard

_HEAD = struct.Struct("!cI")
_MOST = 65536
_POSIX = os.name == "posix"
_PIPE = getattr(select, "PIPE_BUF", 512)  # so much never blocks where a pipe is free at all


def packed(kind: bytes, payload: bytes = b"") -> bytes:
    """One message as it goes over the socket."""
    return _HEAD.pack(kind, len(payload)) + payload


def taken(buffer: bytearray) -> tuple[bytes, bytes] | None:
    """The kind and the payload of the first message, taken out of the buffer; None while it is not whole."""
    if len(buffer) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack_from(buffer)
    end = _HEAD.size + length
    if len(buffer) < end:
        return None
    payload = bytes(buffer[_HEAD.size : end])
    del buffer[:end]
    return kind, payload


class _Relay:
    def __init__(self, way: socket.socket) -> None:
        self.way = way
        self.stdin: int | socket.socket | None = 0 if _POSIX else _fed_by_a_thread()
        self.unsaid = {1: bytearray(), 2: bytearray()}
        self.orders = bytearray()
        self.probe: bytes | None = None
        self.stays = self.closes = False
        self.last: bytes | None = None

    def turn(self) -> None:
        """Do what can be done now, or wait for it."""
        if self.closes and 1 in self.unsaid and not self.unsaid[1]:
            del self.unsaid[1]
            os.close(1)
        if self.last is not None and not any(self.unsaid.values()):
            if self.last == DIE:
                os.kill(os.getpid(), KILL)
            os._exit(0)
        sources = [self.way] if self.stdin is None else [self.way, self.stdin]
        sinks = [number for number, text in self.unsaid.items() if text]
        heard, free, _ = select.select(sources, sinks, [], 0 if self.probe else None)
        for number in free:
            self.say(number, _PIPE)
        if self.stdin in heard:
            self.hear()
        if self.way in heard:
            self.listen()
        elif self.probe and not heard and not free:
            self.way.sendall(packed(PROBE, self.probe))
            self.probe = None
            self.obey()

    def hear(self) -> None:
        """Hand on what the client says."""
        said = self.stdin.recv(_MOST) if isinstance(self.stdin, socket.socket) else os.read(0, _MOST)
        if said:
            self.way.sendall(packed(HEARD, said))
            return
        self.stdin = None
        self.way.sendall(packed(ENDED))
        if not self.stays:
            os._exit(0)

    def listen(self) -> None:
        """Take what the way says; where the way is gone, so is the relay."""
        said = self.way.recv(_MOST)
        if not said:
            os._exit(1)
        self.orders += said
        self.obey()

    def obey(self) -> None:
        """Follow the orders up to the next probe."""
        while self.probe is None and (order := taken(self.orders)) is not None:
            kind, payload = order
            if kind in (SAY, COMPLAIN):
                number = 1 if kind == SAY else 2
                if self.last is not None or (number == 1 and self.closes):
                    continue
                self.unsaid[number] += payload
                if not _POSIX:  # select() knows sockets only
                    self.say(number, len(payload))
            elif kind == PROBE:
                self.probe = payload
            elif kind == CLOSE:
                self.closes = True
            elif kind in (EXIT, DIE):
                self.last = kind
            elif kind == STAY:
                self.stays = True
            elif kind == DEAF:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def say(self, number: int, most: int) -> None:
        text = self.unsaid[number]
        try:
            del text[: os.write(number, text[:most])]
        except OSError:  # nobody is left to hear it
            text.clear()


def _fed_by_a_thread() -> socket.socket:
    """Stdin as a socket."""
    near, far = socket.socketpair()

    def feed() -> None:
        while said := os.read(0, _MOST):
            far.sendall(said)
        far.close()

    threading.Thread(target=feed, daemon=True).start()
    return near


def main(port: str, token: str) -> None:
    """Carry bytes until either end is gone."""
    try:
        way = socket.create_connection(("127.0.0.1", int(port)))
        way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        way.sendall(packed(HELLO, f"{token} {os.getpid()}".encode()))
        relay = _Relay(way)
        while True:
            relay.turn()
    except OSError:  # the way is gone
        os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
