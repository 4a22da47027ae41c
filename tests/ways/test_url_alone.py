"""A wrapper that is given nothing but a URL, with the SDK's own HTTP, whichever major it is.

It declares no way in: the kit reads in its source that it asks for `dial.url`.
"""

from __future__ import annotations

import os
from contextlib import asynccontextmanager

from mcp import ClientSession
from mcp.client import streamable_http

from pytest_mcp_conformance.contract import Claims, Verdict, Wrapper, adapter
from pytest_mcp_conformance.contract._ways import ways_of
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells

ONE_IN = 1 if os.environ.get("EVERY_PLACE") else 8
"""How many of the catalogue's cells are played; all of them by `tox -e ways`."""

CLAIMS = Claims(eras=("handshake",), follows_pages=False, one_shot=True)


@adapter("url-alone", claims=CLAIMS)
async def url_alone(dial):
    async with streamable_http.streamable_http_client(dial.url) as (read, write, *_):
        async with _over(read, write) as wrapper:
            yield wrapper


@adapter("streams-alone", claims=CLAIMS)
async def streams_alone(dial):
    async with dial.streams() as (read, write):
        async with _over(read, write) as wrapper:
            yield wrapper


@asynccontextmanager
async def _over(read, write):
    async with ClientSession(read, write) as session:
        await session.initialize()

        async def list_tools():
            return (await session.list_tools()).tools

        async def call_tool(tool, arguments):
            return await session.call_tool(getattr(tool, "name", tool), arguments)

        yield Wrapper(list_tools=list_tools, call_tool=call_tool)


def verdicts(subject, way, scenario, variant):
    """What is said of each rule of one scenario."""
    played = play(scenario, subject, era="handshake", way=way, variant=variant, compare=False)
    return {each.rule: each.verdict for each in played.judgements}


def test_it_is_played_over_both_that_have_a_url():
    assert ways_of(url_alone) == ("http", "loopback")


def test_it_is_judged_alike_in_process_and_on_loopback_and_as_the_same_session_over_streams():
    judged = 0
    for scenario, _, variant in cells(url_alone)[::ONE_IN]:
        if not {"memory", "http", "loopback"} <= scenario.ways:
            continue
        there = verdicts(url_alone, "http", scenario, variant)
        assert there == verdicts(url_alone, "loopback", scenario, variant), scenario.name
        # What has no meaning over HTTP is left out there, and a session of 1.x waits for ever for an answer
        # that is cut off; but what is kept over one way is not broken over the other.
        over_streams = verdicts(streams_alone, "memory", scenario, variant)
        for rule in there:
            assert {there[rule], over_streams[rule]} != {Verdict.KEPT, Verdict.BROKEN}, (scenario.name, rule)
        judged += list(there.values()).count(Verdict.KEPT)
    assert judged > 0
