"""An address on this machine that answers anybody, and keeps what it was asked."""

from __future__ import annotations

import selectors
import socket
import threading

__all__ = ["Sink"]

_ANSWER = (
    b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
)


class Sink:
    """Listens on loopback while it stands in a `with` block, in a thread of its own.

    Who asks may do so without an event loop, and block the scenario's until there is an answer.

    Attributes:
        url: Where it listens; it answers every request with an empty JSON object.
        asked: The first line of each request so far.
    """

    def __enter__(self) -> Sink:
        self.asked: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/schema.json"
        self._open = True
        self._thread = threading.Thread(target=self._listen, name="sink", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._open = False
        with socket.create_connection(self._socket.getsockname()):  # wakes the thread
            self._thread.join()
        self._socket.close()

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:  # virtual time passes while a thread waits in one
            selector.register(self._socket, selectors.EVENT_READ)
            while True:
                selector.select()
                visitor, _ = self._socket.accept()
                with visitor:
                    if not self._open:
                        return
                    self.asked.append(visitor.recv(65536).decode("latin-1").partition("\r\n")[0])
                    visitor.sendall(_ANSWER)
