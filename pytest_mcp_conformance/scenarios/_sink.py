"""An address on this machine that answers anybody, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import selectors
import socket
import threading
from collections.abc import Collection

from pytest_mcp_conformance.clock import Party, parties

__all__ = ["Sink"]

_ANSWER = (
    b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
)


class Sink:
    """Listens on loopback while it stands in a `with` block, in a thread of its own.

    Who asks may do so without an event loop, and block the scenario's until there is an answer. Where a loop
    runs, this is one of its parties: time passes there while nobody asks.

    Attributes:
        url: Where it listens; it answers every request with an empty JSON object.
        asked: The first line of each request so far.
    """

    def __enter__(self) -> Sink:
        self.asked: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/schema.json"
        self._open = True
        self._busy = False
        self._thread = threading.Thread(target=self._listen, name="sink", daemon=True)
        self._thread.start()
        self._parties = self._of_the_loop()
        self._parties.add(self)
        return self

    def __exit__(self, *exc: object) -> None:
        self._open = False
        with socket.create_connection(self._socket.getsockname()):  # wakes the thread
            self._thread.join()
        self._socket.close()
        self._parties.discard(self)

    # -- what the loop asks, see `outside.Party` -------------------------------------------------------------

    @property
    def threads(self) -> Collection[threading.Thread]:
        """The one that listens."""
        return (self._thread,)

    @property
    def children(self) -> Collection[int]:
        """None."""
        return ()

    @property
    def addresses(self) -> Collection[tuple[str, int]]:
        """None: a connection that leads here is about to be answered."""
        return ()

    def idle(self) -> bool:
        """Whether nobody is at the door, and nobody was let in and has no answer yet. Asked in this order."""
        return not (self._somebody_comes(within=0) or self._busy)

    def _somebody_comes(self, within: float | None) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return bool(selector.select(within))

    # -- in the thread ---------------------------------------------------------------------------------------

    def _listen(self) -> None:
        while True:
            self._somebody_comes(within=None)
            self._busy = True  # before the door is seen to be empty
            visitor, _ = self._socket.accept()
            with visitor:
                if not self._open:
                    return
                self.asked.append(visitor.recv(65536).decode("latin-1").partition("\r\n")[0])
                visitor.sendall(_ANSWER)
            self._busy = False

    @staticmethod
    def _of_the_loop() -> set[Party]:
        try:
            return parties(asyncio.get_running_loop())
        except RuntimeError:  # whoever needs no loop
            return set()
