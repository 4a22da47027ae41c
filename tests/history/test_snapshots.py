"""Histories as snapshots that are kept in this repository, and have to be met on both majors of the SDK."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from pytest_mcp_conformance.server import tool

pytestmark = pytest.mark.mcp_loop

modern = pytest.mark.skipif(version("mcp") < "2", reason="mcp 1.x does not speak the modern era")


async def test_a_listing_a_call_and_a_notice(mcp_server, mcp_history, listing_history):
    mcp_server.has_tools(tool("sum", "integer"), "old")
    async with mcp_server.dial().session() as session:
        await session.list_tools()
        await session.call_tool("sum", {"nonce": "n1"})
        mcp_server.has_tools(tool("sum", "string"), "new")
        await mcp_server.notify_list_changed()
        await session.list_tools()
        mcp_server.fails("tools/call", -32001)
        with pytest.raises(Exception, match="scripted failure"):
            await session.call_tool("sum", {"nonce": "n2"})
    assert mcp_history == listing_history


async def test_two_users_with_names_that_a_terminal_would_obey(mcp_server, mcp_history, listing_history):
    mcp_server.has_tools("\x1b[31mred\x07", principal="ann")
    mcp_server.has_tools("plain", principal="b\u202eob")
    for user in ("ann", "b\u202eob"):
        async with mcp_server.dial(principal=user).session() as session:
            await session.list_tools()
    mcp_server.refusing = True
    with pytest.raises(ConnectionRefusedError):
        await mcp_server.dial().session().__aenter__()
    assert mcp_history == listing_history


async def test_what_the_wrapper_was_asked_and_gave(mcp_server, mcp_history, listing_history):
    mcp_server.has_tools("a")
    async with mcp_server.dial(principal="ann").session() as session:
        with mcp_history.wanting("ann") as wanted:
            wanted.served((await session.list_tools()).tools)
        with mcp_history.calling("a", {"nonce": "n"}, "ann") as called:
            called.returned(await session.call_tool("a", {"nonce": "n"}))
        mcp_server.fails("tools/call")
        with (
            pytest.raises(Exception, match="scripted failure"),
            mcp_history.calling("a", principal="ann"),
        ):
            await session.call_tool("a", {})
        with pytest.raises(PermissionError), mcp_history.calling("a", principal="ann"):
            raise PermissionError("not you")
        with pytest.raises(OSError, match="gone"), mcp_history.wanting():
            raise OSError("gone")
    assert mcp_history == listing_history


@modern
@pytest.mark.mcp_era("modern")
async def test_the_modern_era(mcp_server, mcp_history, listing_history):
    mcp_server.pages(["a"], ["b"])
    mcp_server.ttl_ms = 60_000
    async with mcp_server.dial().session() as session:
        await session.list_tools()
    assert mcp_history == listing_history
