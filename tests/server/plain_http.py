"""Requests to the HTTP engine as plain data, and its replies as such."""

from __future__ import annotations

import json
from typing import Any

from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.http import HttpEngine, Reply, Request

HANDSHAKE = "2025-11-25"
MODERN = "2026-07-28"
BOTH = "application/json, text/event-stream"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def message(method: str, number: Any = None, **params: Any) -> dict[str, Any]:
    """A JSON-RPC request, or a notification where there is no number."""
    body = {"jsonrpc": "2.0", "method": method}
    return {**body, **({} if number is None else {"id": number}), **({"params": params} if params else {})}


def post(body: Any, **headers: Any) -> Request:
    """A POST; a header is named with `_` for `-`, and `None` takes one of the usual ones away."""
    usual = {"content_type": "application/json", "accept": BOTH}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Request("POST", "/mcp", fields({**usual, **headers}), content)


def modern(method: str, number: Any = 1, *, headers: dict[str, Any] | None = None, **params: Any) -> Request:
    """A request of the modern era with all the headers that it has to have, but for those given."""
    usual = {"mcp_protocol_version": MODERN, "mcp_method": method}
    if "name" in params:
        usual["mcp_name"] = params["name"]
    return post(message(method, number, **{"_meta": META, **params}), **{**usual, **(headers or {})})


def fields(headers: dict[str, Any]) -> list[tuple[str, str]]:
    return [(name.replace("_", "-"), value) for name, value in headers.items() if value is not None]


async def content(reply: Reply) -> bytes:
    """The whole body."""
    return b"".join([piece async for piece in reply.body])


async def events(reply: Reply) -> list[dict[str, str]]:
    """The events of a body that ends, each as its fields."""
    blocks = (await content(reply)).decode().split("\n\n")
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks if block]


async def messages(reply: Reply) -> list[Any]:
    """The JSON-RPC messages of a body that ends."""
    if reply.headers["content-type"] == "application/json":
        return [json.loads(await content(reply))]
    return [json.loads(event["data"]) for event in await events(reply) if event.get("data")]


async def next_message(reply: Reply) -> Any:
    """The next message of a stream of events."""
    piece = (await anext(reply.body)).decode()
    return json.loads(piece.split("data: ", 1)[1])


async def opened(engine: HttpEngine, **headers: Any) -> dict[str, str]:
    """The headers of a session that is past its handshake."""
    first = message("initialize", 0, protocolVersion=HANDSHAKE, capabilities={}, clientInfo={})
    reply = await engine.handle(post(first, **headers))
    await content(reply)
    session = {"mcp_session_id": reply.headers["mcp-session-id"], "mcp_protocol_version": HANDSHAKE}
    assert (
        await engine.handle(post(message("notifications/initialized"), **session, **headers))
    ).status == 202
    return {**session, **headers}


def engine(era: str = "handshake", *tools: Any) -> tuple[ScriptedServer, HttpEngine]:
    """A script with these tools, and an engine in front of it."""
    server = ScriptedServer(era)
    server.has_tools(*tools)
    return server, HttpEngine(server)
