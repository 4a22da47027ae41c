"""The SDK's `ClientSession`, 1.x or 2.x: what a user gets who wraps nothing around it."""

from dataclasses import replace
from datetime import timedelta
from importlib.metadata import version

from mcp import ClientSession

from pytest_mcp_conformance.adapters._calls import page_params
from pytest_mcp_conformance.adapters._sdk import CLAIMS, LIMIT, verbs_of
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Wrapper, adapter

MODERN = hasattr(ClientSession, "discover")
ERAS = ("handshake", "modern") if MODERN else ("handshake",)


@adapter("mcp-session", version=version("mcp"), claims=replace(CLAIMS, eras=ERAS))
async def adapter_(dial, *, limit=LIMIT):
    """A session; each verb is a method of its own."""
    async with (
        streams_of(dial) as (read, write),
        ClientSession(read, write, read_timeout_seconds=limit_of(limit)) as session,
    ):
        await (session.discover() if dial.era == "modern" else session.initialize())

        async def list_page(cursor):
            if MODERN:
                page = await session.list_tools(params=page_params(cursor))
                return page.tools, page.next_cursor
            page = await session.list_tools(cursor)  # the first major knows no other way before 1.18
            return page.tools, page.nextCursor

        verbs = verbs_of(session, limit_of)
        yield Wrapper(**verbs, refresh=verbs["list_tools"], list_page=list_page)


def limit_of(seconds):
    """A limit of time, or none, as this SDK takes it."""
    return seconds if MODERN or seconds is None else timedelta(seconds=seconds)
