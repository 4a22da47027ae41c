"""The SDK's own clients through the recorder, to the SDK's own server."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from tests.recording.running import PATIENCE, listening, read, recorded_http, recorder
from tests.server import http_clients, stdio_clients

SHOP = [sys.executable, str(Path(__file__).parent / "shop.py")]
BEFORE, AFTER = ["price", "restock"], ["price", "restock", "refund"]


def visited(visit):
    """Run a visit in an event loop of its own, for a while at most."""

    async def bounded():
        with anyio.fail_after(PATIENCE):
            await visit()

    anyio.run(bounded)


async def shops(session):
    """List, call well and badly, change the tools, and list again."""
    assert await http_clients.names(session) == BEFORE
    await session.call_tool("price", {"item": "pen"})
    await session.call_tool("price", {"item": "nothing"})
    await session.call_tool("restock", {})
    assert await http_clients.names(session) == AFTER


def at(entries, *kinds):
    return [entry for entry in entries if entry.kind in kinds]


def looks_right(entries):
    """What `shops` has done is there, each answer with its request."""
    listings = [entry for entry in at(entries, "answered") if entry.list == "tools"]
    assert [[tool.name for tool in entry.tools] for entry in listings] == [BEFORE, AFTER]
    calls = [entry for entry in at(entries, "asked") if entry.method == "tools/call"]
    assert [entry.tool for entry in calls] == ["price", "price", "restock"]
    assert calls[0].arguments != calls[1].arguments
    ends = {(entry.connection, entry.id): entry for entry in at(entries, "answered")}
    assert [ends[entry.connection, entry.id].ok for entry in calls] == [True, False, True]
    assert len({(entry.connection, entry.id) for entry in at(entries, "asked")}) == len(at(entries, "asked"))
    assert at(entries, "garbled", "failed", "cancelled") == []
    assert {entry.generation for entry in entries} == {None}


@pytest.mark.parametrize("era", http_clients.ERAS)
def test_a_session_over_stdio_is_recorded_as_it_was(tmp_path, era):
    path = tmp_path / "one.history.jsonl"

    async def visit():
        async with stdio_clients.connected(recorder(path, SHOP), era) as session:
            await shops(session)

    visited(visit)
    history, entries = read(path)
    assert not history.unfinished
    looks_right(entries)
    assert (entries[-1].kind, entries[-1].how, {entry.connection for entry in entries}) == (
        "closed",
        "client",
        {1},
    )
    if era == "handshake":
        notice = at(entries, "noticed")[0]
        restocked = [entry for entry in at(entries, "answered") if entry.method == "tools/call"][-1]
        assert (notice.list, notice.n) == ("tools", restocked.n - 1)


@pytest.fixture(scope="module")
def shop():
    """The address of a shop; every test of this module goes to it, so it may have all its tools."""
    with listening() as url:
        yield url


@pytest.fixture
def new_shop():
    with listening() as url:
        yield url


@pytest.mark.parametrize("era", http_clients.ERAS)
def test_a_session_over_http_is_recorded_as_it_was(tmp_path, era, new_shop):
    path = tmp_path / "one.history.jsonl"
    with recorded_http(path, new_shop) as url:

        async def visit():
            async with http_clients.session(url, era) as session:
                await shops(session)

        visited(visit)
    history, entries = read(path)
    assert (history.header.sees, history.header.clock, history.unfinished) == ("wire", "real", False)
    looks_right(entries)
    assert {entry.connection for entry in entries} == {1}
    assert (entries[-1].kind, entries[-1].how) == ("closed", "client" if era == "handshake" else "")


@pytest.mark.parametrize("era", http_clients.ERAS)
def test_a_notice_comes_at_once_on_the_stream_that_listens(tmp_path, era, shop):
    path = tmp_path / "one.history.jsonl"
    heard = []
    with recorded_http(path, shop) as url:

        async def visit():
            async with (
                http_clients.session(url, era, heard=heard) as session,
                http_clients.listening(session, era) as subscription,
            ):
                while not any("list_changed" in each for each in heard):  # the stream may still be opening
                    await session.call_tool("restock", {})
                    if subscription is not None:
                        await anext(aiter(subscription))
                        break

        visited(visit)
    entries = read(path)[1]
    notices = at(entries, "noticed")
    assert {(entry.connection, entry.list) for entry in notices} == {(1, "tools")}
    if era == "modern":
        granted = at(entries, "listened")[0]
        assert (granted.lists, granted.subscription) == (("toolsListChanged",), notices[0].subscription)
        left = at(entries, "cancelled")[0]
        assert (left.id, left.how) == (granted.subscription, "client")


def test_two_sessions_are_two_connections(tmp_path, shop):
    path = tmp_path / "one.history.jsonl"
    with recorded_http(path, shop) as url:

        async def visit():
            async with http_clients.session(url) as one, http_clients.session(url) as two:
                await one.send_ping()
                await two.send_ping()
                await one.send_ping()

        visited(visit)
    entries = read(path)[1]
    pings = [entry.connection for entry in at(entries, "asked") if entry.method == "ping"]
    assert pings == [1, 2, 1]
    assert [entry.connection for entry in at(entries, "closed")] == [2, 1]
    sessions = {entry.headers.get("mcp-session-id") for entry in at(entries, "asked")} - {None}
    assert sorted(map(len, sessions)) == [16, 16]


def test_credentials_are_ordinals(tmp_path, shop):
    path = tmp_path / "one.history.jsonl"
    tokens = ["planted-one", "planted-two", "planted-one"]
    with recorded_http(path, shop) as url:

        async def visit():
            for token in tokens:
                async with http_clients.session(url, headers={"Authorization": f"Bearer {token}"}) as one:
                    await one.send_ping()

        visited(visit)
    pings = [entry.principal for entry in read(path)[1] if entry.method == "ping" and entry.kind == "asked"]
    assert pings == ["credentials 1", "credentials 2", "credentials 1"]
    assert b"planted" not in path.read_bytes()


@pytest.mark.skipif(not http_clients.MODERN, reason="mcp 1.x has no era without sessions")
def test_clients_without_sessions_are_told_apart_by_their_handshakes(tmp_path, shop):
    path = tmp_path / "one.history.jsonl"
    with recorded_http(path, shop) as url:

        @asynccontextmanager
        async def one():
            async with http_clients.session(url, "modern") as session:
                yield session

        async def visit():
            async with one() as first, one() as second:
                await http_clients.names(first)
                await http_clients.names(second)

        visited(visit)
    entries = read(path)[1]
    asked = [(entry.connection, entry.id) for entry in at(entries, "asked")]
    assert len(set(asked)) == len(asked)
    assert {entry.connection for entry in entries} == {1, 2}
