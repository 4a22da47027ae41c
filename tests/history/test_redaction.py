"""No secret is in the file, wherever it was carried."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pytest_mcp_conformance.history import (
    Digests,
    Event,
    Finding,
    History,
    HistoryWriter,
    explain,
    normal_lines,
)
from pytest_mcp_conformance.history.lanes import lanes
from pytest_mcp_conformance.server import tool
from tests.history.plays import KEY, recorded
from tests.reference.peer import ERAS

TOKEN = "sk-planted-7c1f"
FLOOD = {f"k{n}": TOKEN for n in range(3)}


async def everything_says_the_token(server, connect):
    """The token is in arguments, `_meta`, results, errors, schemas, cursors, logs and handles."""
    spoken = tool("a", "string", description=TOKEN, title=TOKEN, _meta=FLOOD)
    server.pages([spoken], [tool("b", "integer")], cursors=[TOKEN])
    async with connect(server, "ann") as wrapper:
        await wrapper.list_tools()
        server.answers("a", TOKEN, text=TOKEN)
        assert (await wrapper.call("a", TOKEN, extra=TOKEN)).shows(TOKEN)
        await wrapper.start_call_with("a", TOKEN, FLOOD, None).result()
        server.answers("a", is_error=True, text=TOKEN)
        assert TOKEN in (await wrapper.call("a", "n")).text
        server.fails("tools/call", -32000, TOKEN)
        assert TOKEN in (await wrapper.call("a", "n")).text
        server.fails("tools/list", -32000, TOKEN)
        with suppress(Exception):
            await wrapper.verb("refresh")
        for connection in server.connections:
            connection.notify("notifications/message", {"level": "info", "data": TOKEN, "_meta": FLOOD})
        await server.settle()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["memory", "http"])
def test_a_token_that_was_said_everywhere_is_written_nowhere(tmp_path, era, way):
    path = tmp_path / "one.history.jsonl"
    said = []

    async def body(server, connect):
        await everything_says_the_token(server, connect)
        said.extend(
            event for event in server.history if TOKEN in repr((event.message, event.data, event.text))
        )

    entries = [*recorded(path, body, era=era, way=way)]
    assert {event.kind for event in said} >= {"asked", "answered", "failed", "called", "returned", "served"}
    assert len(entries) > 20
    content = path.read_bytes()
    finding = Finding("all", "CALL-1", "All of it.", tuple(entry.n for entry in entries))
    drawn = explain(finding, entries)
    for text in (drawn.text, drawn.svg, *lanes(entries), *normal_lines(entries, History.load(path).header)):
        assert TOKEN not in text
    assert TOKEN.encode() not in content
    assert b"Bearer" not in content
    assert b"scripted-" not in content


CARRIERS = [
    "Authorization",
    "Cookie",
    "Set-Cookie",
    "Proxy-Authorization",
    "X-Api-Key",
    "Mcp-Session-Id",
    "X-Token",
]


@pytest.mark.parametrize("kind", ["asked", "told", "opened", "answered"])
@pytest.mark.parametrize("name", [*CARRIERS, *map(str.lower, CARRIERS)])
def test_no_header_carries_it(tmp_path, kind, name):
    path = tmp_path / "one.history.jsonl"
    with HistoryWriter(path, Digests(KEY)) as writer:
        writer.write(Event(1, 0.0, kind, method="tools/list", headers={name: TOKEN}))
    assert TOKEN.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    "event",
    [
        Event(1, 0.0, "garbled", text=f"not a frame: {TOKEN}"),
        Event(1, 0.0, "astray", text=f"GET https://example.com/?key={TOKEN}"),
        Event(1, 0.0, "raised", who=1, text=f"list_tools: ValueError: {TOKEN}"),
        Event(1, 0.0, "requested", method="elicitation/create", message={"params": {"message": TOKEN}}),
        Event(1, 0.0, "replied", message={"result": {"content": TOKEN}}),
        Event(1, 0.0, "asked", method="resources/read", message={"params": {"uri": f"file:///{TOKEN}"}}),
        Event(1, 0.0, "asked", method="initialize", message={"params": {"clientInfo": {"name": TOKEN}}}),
        Event(1, 0.0, "told", method="notifications/cancelled", message={"params": {"reason": TOKEN}}),
        Event(1, 0.0, "noticed", method="notifications/message", message={"params": {"data": TOKEN}}),
    ],
    ids=lambda event: f"{event.kind} {event.method}".strip(),
)
def test_no_text_and_no_params_carry_it(tmp_path, event):
    path = tmp_path / "one.history.jsonl"
    with HistoryWriter(path) as writer:
        writer.write(event)
    assert TOKEN.encode() not in path.read_bytes()
