"""One request over HTTP and its response, as the events that they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_mcp_conformance.recording.connections import SESSION, Connections
from pytest_mcp_conformance.recording.events import EventStream
from pytest_mcp_conformance.recording.frames import LONGEST, Frames, frames_of

__all__ = ["Exchange"]

_MODERN = "2026"  # versions are dates; before that a client that leaves a response cancels nothing


class Exchange:
    """What one request and its response tell of a connection.

    Args:
        connections: Among which its connection is.
        method: `GET`, `POST`…
        headers: What the request bears.
        peer: The address that it comes from.
        body: Its body.
    """

    def __init__(
        self, connections: Connections, method: str, headers: Mapping[str, str], peer: Any, body: bytes
    ) -> None:
        self._connections = connections
        self._method = method
        self._headers = headers
        said = [*frames_of(body)] if method == "POST" and body.strip() else []
        frames = [frame for frame in said if frame is not None]
        self._asked = [frame["id"] for frame in frames if frame.get("method") and "id" in frame]
        self._status = 0
        self._replied: Mapping[str, str] = {}
        self._collected: bytearray | None = None
        self._events: EventStream | None = None
        self.connection: Frames = connections.of(headers, peer, frames)
        principal = connections.principal_of(headers)
        for frame in said:
            if frame is None:
                self.connection.garbled("client")
            else:
                self.connection.from_client(frame, headers, principal)

    def begins(self, status: int, headers: Mapping[str, str]) -> None:
        """Take the status and the headers of the response."""
        self._status, self._replied = status, headers
        if SESSION in headers and SESSION not in self._headers and self._asked:
            self._connections.name(self.connection, headers[SESSION])
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        plain = headers.get("content-encoding", "identity") == "identity"
        if kind in ("text/event-stream", "application/json") and not plain:
            self.connection.garbled("server")
        elif kind == "text/event-stream":
            self._events = EventStream(self._event, lambda: self.connection.garbled("server"))
        elif kind == "application/json":
            self._collected = bytearray()
        if self._method == "DELETE" and status != 404:
            self.connection.close("client")

    @property
    def waits(self) -> bool:
        """Whether the last piece of the response is to wait until its end was taken: it is no stream."""
        return self._events is None

    def feed(self, piece: bytes) -> None:
        """Take the next bytes of the response."""
        if self._events is not None:
            self._events.feed(piece)
        elif self._collected is not None and len(self._collected) <= LONGEST:
            self._collected += piece

    def ends(self) -> None:
        """Take it that the response is whole."""
        if self._collected is not None and len(self._collected) > LONGEST:
            self.connection.garbled("server")
        elif self._collected is not None and self._collected.strip():
            self._read(bytes(self._collected))
        if self._status >= 400:
            for number in self._asked:
                self.connection.refused(number, self._replied)
        if self._status == 404 and SESSION in self._headers:
            self.connection.close("server")

    def left(self) -> None:
        """Take it that the client did not wait for the end."""
        if self._method == "DELETE":
            self.connection.close("client")
        if self._headers.get("mcp-protocol-version", "") >= _MODERN and SESSION not in self._headers:
            for number in self._asked:
                self.connection.gave_up(number)

    def _event(self, text: bytes, number: bytes) -> None:
        known = number != b"" and self.connection.is_again(number)
        if not (known and "last-event-id" in self._headers):
            self.connection.said("server", text, self._replied)

    def _read(self, body: bytes) -> None:
        for frame in frames_of(body):
            if frame is None:
                if self._status < 400:
                    self.connection.garbled("server")
            elif "error" in frame and frame.get("id") not in self._asked and len(self._asked) == 1:
                # a server that could not, or would not, read the request names no id of it
                self.connection.from_server({**frame, "id": self._asked[0]}, self._replied)
            else:
                self.connection.from_server(frame, self._replied)
