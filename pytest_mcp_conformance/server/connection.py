"""One connection at the server's side: frames in, frames out, and what is subscribed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.history import Event, copied, kind_from_client, kind_from_server
from pytest_mcp_conformance.server.eras import SUBSCRIPTION
from pytest_mcp_conformance.server.faults import Fault

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.script import ScriptedServer

__all__ = ["Connection"]

Message = dict[str, Any]
Sink = Callable[["Message | Fault | None", Any], None]

LIST_CHANGED = "notifications/tools/list_changed"

_MOST_NOISE = 80


class Connection:
    """One client's connection, whichever way it came in.

    Args:
        server: The script that answers.
        number: From 1, in the order of opening.
        sink: Takes each frame for the client with the id of the request that it belongs to, `None` once the
            server hangs up, and each fault that is the way's to play. Called in the task that caused it; must
            not wait.
        principal: Whoever the credentials stand for.
        headers: What the client sent along.

    Attributes:
        idle: True while the client holds nothing of it open: between two requests of a protocol that has no
            sessions.
    """

    def __init__(
        self,
        server: ScriptedServer,
        number: int,
        sink: Sink,
        principal: str | None,
        headers: Mapping[str, str],
    ) -> None:
        self.server = server
        self.number = number
        self.principal = principal
        self.headers = dict(headers)
        self.open = True
        self.idle = False
        self.ready = False
        self.subscriptions: dict[Any, dict[str, Any]] = {}
        self._sink = sink
        self._asked: dict[Any, str] = {}

    def record_opening(self) -> None:
        """Write that it is open."""
        self._record("opened", text=f"a connection to {self.server.name}" if self.server.label else "")

    def receive(
        self,
        message: Message,
        headers: Mapping[str, str] | None = None,
        principal: str | EllipsisType | None = ...,
    ) -> None:
        """Take one frame of the client and answer it as the script says.

        Args:
            message: The frame.
            headers: What came with it, where that is not what came with the connection.
            principal: Whoever sent it, where frames have credentials of their own.
        """
        if not self.open:
            return
        message = copied(message)
        method = message.get("method") or ""
        kind = kind_from_client(message)
        event = self._record(
            kind,
            message,
            id=message.get("id"),
            method=method,
            headers=headers or self.headers,
            principal=self.principal if principal is ... else principal,
        )
        if kind == "asked":
            self._asked[event.id] = method
            self.server.on_request(self, event)
        elif kind == "told":
            self._on_notification(event)

    def receive_noise(self, line: str) -> None:
        """Take a line of the client that is no frame: it is written down, and nobody answers."""
        if self.open:
            self._record("garbled", how="client", text=f"not a frame: {line[:_MOST_NOISE]}")

    def answer(self, request: Event, result: Message) -> None:
        """Send the result of `request`."""
        self.send({"jsonrpc": "2.0", "id": request.id, "result": result}, related=request.id)

    def fail(self, request: Event, code: int, message: str, data: Any = None) -> None:
        """Send a JSON-RPC error for `request`."""
        error = {"code": code, "message": message, **({"data": data} if data is not None else {})}
        self.send({"jsonrpc": "2.0", "id": request.id, "error": error}, related=request.id)

    def notify(self, method: str, params: Message | None = None, *, related: Any = None) -> None:
        """Send a notification, with the request that it belongs to where there is one."""
        self.send(
            {"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})}, related=related
        )

    def send(self, message: Message, *, related: Any = None) -> None:
        """Send any frame. On a connection that is closed it is nothing."""
        if not self.open:
            return
        method = message.get("method") or self._asked.get(message.get("id"), "")
        self._record(kind_from_server(message), message, id=message.get("id"), method=method)
        self._sink(copied(message), related)

    def subscribe(self, request: Event) -> None:
        """Open the listen stream that `request` asked for, and acknowledge it."""
        granted = {
            key: value
            for key, value in dict(request.params.get("notifications") or {}).items()
            if key in self.server.grants
        }
        self.subscriptions[request.id] = granted
        stamp = {"notifications": granted, "_meta": {SUBSCRIPTION: request.id}}
        self.notify("notifications/subscriptions/acknowledged", stamp, related=request.id)

    def end_subscriptions(self, how: str) -> int:
        """End every listen stream: by `result`, by a `cancelled` notice, or by `error`. Returns how many."""
        ended = list(self.subscriptions)
        for number in ended:
            self.end_subscription(number, how)
        return len(ended)

    def end_subscription(self, number: Any, how: str) -> None:
        """End one listen stream, by the id of the request that opened it; `how` as for all."""
        del self.subscriptions[number]
        if how == "result":
            result = {"resultType": "complete", "_meta": {SUBSCRIPTION: number}}
            self.send({"jsonrpc": "2.0", "id": number, "result": result}, related=number)
        elif how == "cancelled":
            self.notify(
                "notifications/cancelled", {"requestId": number, "reason": "teardown"}, related=number
            )
        else:
            error = {"code": -32603, "message": "the stream was cut"}
            self.send({"jsonrpc": "2.0", "id": number, "error": error}, related=number)

    def notify_subscriber(self, number: Any) -> None:
        """Send the tools' change notice on one listen stream."""
        self.notify(LIST_CHANGED, {"_meta": {SUBSCRIPTION: number}}, related=number)

    def log(self, text: str, *, related: Event) -> None:
        """Send a log message that belongs to the request `related`."""
        self.notify("notifications/message", {"level": "info", "data": text}, related=related.id)

    def list_changed(self) -> int:
        """Send the tools' change notice on the channel of the era. Returns on how many channels it went."""
        if self.server.era == "handshake":
            tells = [partial(self.notify, LIST_CHANGED)] if self.open and self.ready else []
        else:
            streams = [each for each, asked in self.subscriptions.items() if asked.get("toolsListChanged")]
            tells = [partial(self.notify_subscriber, number) for number in streams]
        fault = self.server.meets("notice") if tells else None
        if fault is not None:
            fault.play(self, None, lambda: lambda: _do(tells))
            return 0
        _do(tells)
        return len(tells)

    def suffer(self, fault: Fault, request: Event | None) -> None:
        """Have the way in play a fault, in place of the answer to `request` or before it."""
        if not self.open:
            return
        if request is not None and not fault.answers:
            text = f"{request.method}: {fault.says}"
            self._record("failed", id=request.id, method=request.method, text=text)
        self._sink(fault, request.id if request is not None else None)

    def drop(self, by: Fault | None = None) -> None:
        """Hang up on the client, now; over stdio by a fault, as that the child is killed."""
        if self.open:
            self._close("server", "dropped by the server")
            self._sink(by, None)

    def broke(self) -> None:
        """The transport under it broke: nothing gets through any more, either way."""
        if self.open:
            self._close("broken", "dropped, for its transport broke")

    def closed_by_client(self, when: str = "") -> None:
        """The client hung up; `when` says more, as "during its handshake"."""
        if self.open:
            self._close("client", f"by the client {when}".rstrip())

    def _close(self, how: str, text: str) -> None:
        self.open = False
        self.subscriptions.clear()
        self._record("closed", how=how, text=text)

    def _on_notification(self, event: Event) -> None:
        if event.method == "notifications/initialized":
            self.ready = True
        elif event.method == "notifications/cancelled":
            self.subscriptions.pop(event.params.get("requestId"), None)

    def _record(self, kind: str, message: Message | None = None, **fields: Any) -> Event:
        return self.server.history.record(
            kind,
            connection=self.number,
            message=message if message is not None else {},
            generation=self.server.generation,
            server=self.server.label,
            **{"principal": self.principal, **fields},
        )


def _do(tells: Iterable[Callable[[], None]]) -> None:
    for tell in tells:
        tell()
