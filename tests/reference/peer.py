"""A small scripted MCP server over memory streams, for the tests of the reference client."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from typing import Any

import anyio
import anyio.lowlevel
from mcp.shared.message import SessionMessage
from mcp_conformance_reference import MAJOR

if MAJOR == 2:
    from mcp_types import jsonrpc_message_adapter

    def _decode(message: dict[str, Any]) -> Any:
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
else:
    from mcp.types import JSONRPCMessage

    def _decode(message: dict[str, Any]) -> Any:
        return SessionMessage(JSONRPCMessage.model_validate(message))


def _encode(item: Any) -> dict[str, Any]:
    how = {"exclude_unset": True} if MAJOR == 2 else {"exclude_none": True}
    return deepcopy(item.message.model_dump(by_alias=True, mode="json", **how))


ERAS = ["handshake"] if MAJOR == 1 else ["handshake", "modern"]
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
VERSION = "io.modelcontextprotocol/protocolVersion"
HOUR = 3_600_000


def tool(name: str, out: str | None = None, **more: Any) -> dict[str, Any]:
    """A tool that takes any object; `out` is the type of its structured `value`."""
    entry = {"name": name, "description": f"the tool {name}", "inputSchema": {"type": "object"}}
    if out is not None:
        entry["outputSchema"] = {
            "type": "object",
            "properties": {"value": {"type": out}},
            "required": ["value"],
        }
    return {**entry, **more}


def value(content: Any, text: str = "done") -> dict[str, Any]:
    """A result whose structured content is {"value": content}."""
    return {"content": [{"type": "text", "text": text}], "structuredContent": {"value": content}}


class Held:
    """A request that is not answered yet. Its answer was made when it arrived."""

    def __init__(self, line: Line, request: dict[str, Any], answer: dict[str, Any] | None) -> None:
        self.line, self.request, self._answer = line, request, answer

    def release(self) -> None:
        if self._answer is not None:
            self.line.send({"id": self.request["id"], **self._answer})

    def fail(self, code: int = -32603, message: str = "scripted failure") -> None:
        self.line.send({"id": self.request["id"], "error": {"code": code, "message": message}})

    def answer(self, result: dict[str, Any]) -> None:
        self.line.send({"id": self.request["id"], "result": result})


class Line:
    """One connection as the server sees it."""

    def __init__(self, peer: Peer, out: Any) -> None:
        self.peer, self._out = peer, out
        self.open = True
        self.received: list[dict[str, Any]] = []
        self.listens: list[Any] = []

    def send(self, message: dict[str, Any]) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._out.send_nowait(_decode({"jsonrpc": "2.0", **deepcopy(message)}))

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        message: dict[str, Any] = {"method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def tools_changed(self) -> None:
        if self.peer.era == "handshake":
            self.notify("notifications/tools/list_changed")
        for listen in self.listens:
            self.notify("notifications/tools/list_changed", {"_meta": {SUBSCRIPTION_ID: listen}})

    def cut(self) -> None:
        self.open = False
        self._out.close()

    def end_listen(self, how: str) -> None:
        for listen in self.listens:
            if how == "result":
                self.send({"id": listen, "result": {"resultType": "complete"}})
            elif how == "error":
                self.send({"id": listen, "error": {"code": -32603, "message": "stream broke"}})
            else:
                self.notify("notifications/cancelled", {"requestId": listen, "reason": "shutdown"})
        self.listens.clear()


class Peer:
    """The script, and the log of every frame."""

    def __init__(self, era: str = "handshake", *tools: Any) -> None:
        self.era = era
        self.tools: list[Any] = [tool(known) if isinstance(known, str) else known for known in tools]
        self.ttl: Any = HOUR if era == "modern" else None
        self.results: dict[str, Any] = {}
        self.lines: list[Line] = []
        self.holding: set[str] = set()
        self.held: list[Held] = []
        self.next: dict[str, deque[Callable[[dict[str, Any]], dict[str, Any] | None]]] = defaultdict(deque)
        self.refuse: Exception | None = None
        self.announces = True
        self.grants = True

    # -- what happened

    @property
    def line(self) -> Line:
        return self.lines[-1]

    @property
    def live(self) -> int:
        return sum(line.open for line in self.lines)

    def frames(self, method: str) -> list[dict[str, Any]]:
        return [frame for line in self.lines for frame in line.received if frame.get("method") == method]

    def count(self, method: str) -> int:
        return len(self.frames(method))

    @property
    def lists(self) -> int:
        return self.count("tools/list")

    @property
    def calls(self) -> int:
        return self.count("tools/call")

    @property
    def dials(self) -> int:
        return self.count("initialize") + self.count("server/discover")

    @property
    def cancelled(self) -> list[Any]:
        return [frame["params"]["requestId"] for frame in self.frames("notifications/cancelled")]

    # -- what happens next

    def has(self, *tools: Any) -> None:
        self.tools = [tool(known) if isinstance(known, str) else known for known in tools]

    def pages(self, *pages: dict[str, Any]) -> None:
        """Serve pages: each a dict of `tools` and perhaps `nextCursor`, in the order of the requests."""
        for page in pages:
            self.next["tools/list"].append(lambda _, page=page: {"result": self._fresh(page)})

    def fails(self, method: str, code: int = -32603, message: str = "scripted failure") -> None:
        self.next[method].append(lambda _: {"error": {"code": code, "message": message}})

    def hold(self, method: str) -> None:
        self.holding.add(method)

    def take(self) -> Held:
        """The oldest held request; from now on its method is answered again."""
        held = self.held.pop(0)
        self.holding.discard(held.request["method"])
        return held

    # -- the wire

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        if self.refuse is not None:
            raise self.refuse
        send, receive = anyio.create_memory_object_stream[Any](float("inf"))
        line = Line(self, send)
        self.lines.append(line)
        try:
            yield receive, _WriteEnd(line)
        finally:
            line.open = False
            send.close()
            receive.close()

    def _receive(self, line: Line, frame: dict[str, Any]) -> None:
        line.received.append(frame)
        if "id" not in frame or "method" not in frame:
            if frame.get("method") == "notifications/cancelled":
                line.listens = [held for held in line.listens if held != frame["params"]["requestId"]]
            return
        method = frame["method"]
        scripted = self.next[method]
        answer = scripted.popleft()(frame) if scripted else self._answer(line, frame)
        if method in self.holding:
            self.held.append(Held(line, frame, answer))
        elif answer is not None:
            line.send({"id": frame["id"], **answer})

    def _answer(self, line: Line, frame: dict[str, Any]) -> dict[str, Any] | None:
        method, params = frame["method"], frame.get("params", {})
        capabilities = {"tools": {"listChanged": True} if self.announces else {}}
        if method == "initialize" and self.era == "handshake":
            return {
                "result": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": capabilities,
                    "serverInfo": {"name": "peer", "version": "0"},
                }
            }
        if method == "server/discover" and self.era == "modern":
            return {
                "result": self._fresh(
                    {"supportedVersions": ["2026-07-28"], "capabilities": capabilities}, ttl=0
                )
            }
        if method == "tools/list":
            return {"result": self._fresh({"tools": self.tools})}
        if method == "tools/call":
            result = self.results.get(params["name"], {"content": [{"type": "text", "text": params["name"]}]})
            return {"result": result(params) if callable(result) else result}
        if method == "subscriptions/listen" and self.era == "modern":
            line.listens.append(frame["id"])
            granted = params["notifications"] if self.grants else {}
            acknowledgement = {
                "method": "notifications/subscriptions/acknowledged",
                "params": {"notifications": granted, "_meta": {SUBSCRIPTION_ID: frame["id"]}},
            }
            if method in self.holding:
                return acknowledgement
            line.send(acknowledgement)
            return None
        return {"error": {"code": -32601, "message": f"Method not found: {method}"}}

    def _fresh(self, result: dict[str, Any], **ttl: Any) -> dict[str, Any]:
        result = deepcopy(result)
        if self.era == "modern":
            if (lifetime := ttl.get("ttl", self.ttl)) is not None:
                result.setdefault("ttlMs", lifetime)
            return {"resultType": "complete", "cacheScope": "private", **result}
        return result


class _WriteEnd:
    """The client's write stream: what is sent is received in the same turn."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._closed = False

    async def send(self, item: Any) -> None:
        await anyio.lowlevel.checkpoint()
        if self._closed:
            raise anyio.ClosedResourceError
        if not self._line.open:
            raise anyio.BrokenResourceError
        self._line.peer._receive(self._line, _encode(item))

    async def aclose(self) -> None:
        self._closed = True

    async def __aenter__(self) -> _WriteEnd:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closed = True
