"""A scripted MCP server over memory streams: JSON in, JSON out, nothing of the SDK's server in between."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage

try:
    from mcp_types import jsonrpc_message_adapter

    def _decoded(frame: dict[str, Any]) -> SessionMessage:
        return SessionMessage(jsonrpc_message_adapter.validate_python(frame, by_name=False))
except ImportError:
    from mcp.types import JSONRPCMessage

    def _decoded(frame: dict[str, Any]) -> SessionMessage:
        return SessionMessage(JSONRPCMessage.model_validate(frame))


MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
HOUR_MS = 3_600_000
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
CAPABILITIES = {"tools": {"listChanged": True}}


def tool(name: str, out: str | dict[str, Any] | None = None) -> dict[str, Any]:
    """A tool that gives `out`, of a JSON type or by a schema; without `out` it declares no output schema."""
    definition: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
    if out is not None:
        schema = {"type": out} if isinstance(out, str) else out
        definition["outputSchema"] = {"type": "object", "properties": {"out": schema}, "required": ["out"]}
    return definition


@dataclass
class Parked:
    """A request that waits at the peer; its result is what was true when it arrived."""

    peer: Peer
    request: dict[str, Any]
    body: dict[str, Any]

    def answer(self) -> None:
        self.peer.send({"id": self.request["id"], **self.body})

    def fail(self) -> None:
        self.peer.send({"id": self.request["id"], "error": {"code": -32603, "message": "out of order"}})


@dataclass
class Peer:
    """One server with one connection.

    `pages` are what `tools/list` gives, `gives` the value that a tool answers. Requests of a method in
    `holds` wait in `parked`, those of a method in `refuses` get an error. Without `lifetimes` the listings of
    the modern era have no `ttlMs`. `frames` is what the client sent, oldest first.
    """

    pages: list[list[dict[str, Any]]]
    gives: dict[str, Any] = field(default_factory=dict)
    ttl_ms: int = 0
    lifetimes: bool = True
    holds: set[str] = field(default_factory=set)
    refuses: set[str] = field(default_factory=set)
    parked: list[Parked] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    streams: list[Any] = field(default_factory=list)

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The parameters of each frame of `method` that the client sent."""
        return [frame.get("params") or {} for frame in self.frames if frame.get("method") == method]

    def has(self, *tools: dict[str, Any]) -> None:
        """From now on these are the tools, on one page."""
        self.pages = [list(tools)]

    def notice(self) -> None:
        """Say that the tools changed: on the connection, or on each stream that the client listens to."""
        method = "notifications/tools/list_changed"
        if not self.streams:
            self.send({"method": method})
        for stream in self.streams:
            self.send({"method": method, "params": {"_meta": {SUBSCRIPTION: stream}}})

    def end_streams(self, how: str) -> None:
        """End what the client listens to: by its result, a cancelled notification, or an error."""
        for stream in self.streams:
            if how == "result":
                meta = {SUBSCRIPTION: stream}
                self.send({"id": stream, "result": {"resultType": "complete", "_meta": meta}})
            elif how == "cancelled":
                self.send({"method": "notifications/cancelled", "params": {"requestId": stream}})
            else:
                self.send({"id": stream, "error": {"code": -32603, "message": "no more streams"}})
        self.streams.clear()

    def send(self, frame: dict[str, Any]) -> None:
        # a copy, so that nothing the client does to what it got can reach the script
        copy = json.loads(json.dumps({"jsonrpc": "2.0", **frame}))
        self._outbox.send_nowait(_decoded(copy))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[Any, Any]]:
        """The two streams of a client's end; it is a transport of mcp 2.x as well."""
        self._outbox, inbox = anyio.create_memory_object_stream[SessionMessage](float("inf"))
        try:
            yield inbox, _WriteEnd(self)
        finally:
            self._outbox.close()
            inbox.close()

    def receive(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        if "method" not in frame or "id" not in frame:
            return
        method = frame["method"]
        if method == "subscriptions/listen":
            self._acknowledge(frame)
            return
        parked = Parked(self, frame, self._body(method, frame.get("params") or {}))
        if method in self.refuses:
            parked.fail()
        elif method in self.holds:
            self.parked.append(parked)
        else:
            parked.answer()

    def _acknowledge(self, frame: dict[str, Any]) -> None:
        self.streams.append(frame["id"])
        params = {"notifications": frame["params"]["notifications"], "_meta": {SUBSCRIPTION: frame["id"]}}
        self.send({"method": "notifications/subscriptions/acknowledged", "params": params})

    def _body(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        version = (params.get("_meta") or {}).get("io.modelcontextprotocol/protocolVersion")
        done = {"resultType": "complete"} if version else {}
        fresh = {**done, "ttlMs": self.ttl_ms, "cacheScope": "private"} if version else {}
        if method == "initialize":
            info = {"name": "scripted", "version": "0"}
            return {
                "result": {"protocolVersion": HANDSHAKE, "capabilities": CAPABILITIES, "serverInfo": info}
            }
        if method == "server/discover":
            return {"result": {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, **fresh}}
        if method == "tools/list":
            page = int(params.get("cursor") or 0)
            listed = {key: hint for key, hint in fresh.items() if key != "ttlMs" or self.lifetimes}
            more = {"nextCursor": str(page + 1)} if page + 1 < len(self.pages) else {}
            return {"result": {"tools": self.pages[page], **more, **listed}}
        if method == "tools/call":
            text = json.dumps(params.get("arguments") or {})
            value = (
                {"structuredContent": {"out": self.gives[params["name"]]}}
                if params["name"] in self.gives
                else {}
            )
            return {"result": {"content": [{"type": "text", "text": text}], **value, **done}}
        return {"error": {"code": -32601, "message": f"Method not found: {method}"}}


class _WriteEnd:
    """Hands each message to the peer at once: what was sent was received."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def send(self, message: SessionMessage) -> None:
        await anyio.lowlevel.checkpoint()
        self._peer.receive(message.message.model_dump(by_alias=True, mode="json", exclude_none=True))

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> _WriteEnd:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass
