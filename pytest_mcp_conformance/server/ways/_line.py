"""One connection of the script over HTTP, which is many requests there, and the streams of its answers."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.server.connection import Connection
from pytest_mcp_conformance.server.faults import FORGOTTEN_SESSION, Fault
from pytest_mcp_conformance.server.ways._faults import reply_of
from pytest_mcp_conformance.server.ways._streams import PIECES, Message, Stream

__all__ = ["Line"]


class Line:
    """Takes what the script says on one connection to the stream where it belongs.

    Attributes:
        connection: The connection.
        answers: The streams of the requests that are out, by their JSON-RPC ids.
    """

    connection: Connection

    def __init__(self) -> None:
        self.answers: dict[Any, Stream] = {}

    def sink(self, message: Message | Fault | None, related: Any) -> None:
        """What the script's connection calls for each message and fault, and with `None` to hang up."""
        if message is None:
            for each in self.streams():
                each.cut()
            return
        if isinstance(message, Fault):
            self.suffer(message, related)
            return
        stream = self.answers.get(related)
        if stream is None and "method" in message:
            stream = self.elsewhere()
        if stream is None:
            return
        stream.put(message)
        if "method" not in message or _gives_up(message, related):
            self.answers.pop(related, None)
            stream.end()

    def suffer(self, fault: Fault, related: Any) -> None:
        """Have the answer to a request come in bits, or something else in its place."""
        if fault.answers:
            self.answers[related].pause = fault.seconds / PIECES
            return
        stream = self.answers.pop(related)
        stream.instead = reply_of(fault)
        stream.end()
        if fault.name == FORGOTTEN_SESSION.name:
            self.end()
            self.connection.drop()

    def streams(self) -> list[Stream]:
        """What the client holds open."""
        return list(self.answers.values())

    def end(self) -> None:
        """End every stream, whatever was still to come."""
        for stream in self.streams():
            stream.end()

    def elsewhere(self) -> Stream | None:
        """Where a notification or a request goes that belongs to no request of the client's."""
        return None


def _gives_up(message: Message, related: Any) -> bool:
    """True when the server says by a notification that it will not answer the request."""
    params = message.get("params") or {}
    return message["method"] == "notifications/cancelled" and bool(params.get("requestId") == related)
