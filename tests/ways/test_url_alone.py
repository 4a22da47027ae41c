"""A wrapper that is given nothing but a URL, with the SDK's own HTTP, whichever major it is.

It declares no way in: the kit reads in its source that it asks for `dial.url`.
"""

from __future__ import annotations

import os

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from pytest_mcp_conformance.contract import Claims, Verdict, Wrapper, adapter
from pytest_mcp_conformance.contract._ways import ways_of
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells

ONE_IN = 1 if os.environ.get("EVERY_PLACE") else 8
"""How many of the catalogue's cells are played; all of them by `tox -e ways`."""


@adapter("url-alone", claims=Claims(eras=("handshake",), follows_pages=False, one_shot=True))
async def url_alone(dial):
    async with streamable_http_client(dial.url) as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()

        async def list_tools():
            return (await session.list_tools()).tools

        async def call_tool(tool, arguments):
            return await session.call_tool(getattr(tool, "name", tool), arguments)

        yield Wrapper(list_tools=list_tools, call_tool=call_tool)


def test_it_is_played_over_both_that_have_a_url_and_not_over_the_transport_before_them():
    assert ways_of(url_alone) == ("http", "loopback")


def test_it_is_judged_alike_in_process_and_on_loopback():
    said = {}
    for scenario, era, variant in cells(url_alone)[::ONE_IN]:
        if {"http", "loopback"} <= scenario.ways:
            for way in ("http", "loopback"):
                played = play(scenario, url_alone, era=era, way=way, variant=variant, compare=False)
                assert not played.adapter_error
                said[way] = {each.rule: each.verdict for each in played.judgements}
                said.setdefault("all", []).extend(said[way].values())
            assert said["http"] == said["loopback"], scenario.name
    assert Verdict.KEPT in said["all"]
