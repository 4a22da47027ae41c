"""A wrapper that lists by itself after each notice, later, and again where that fails: nothing accuses it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from mcp import ClientSession

from pytest_mcp_conformance import Claims, Wrapper, adapter
from pytest_mcp_conformance.contract import Verdict
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells

CLAIMED = {"caches_listings": True, "single_flight": True, "same_task_close": True, "one_shot": True}


class Listener:
    """Keeps the newest list; after a notice it waits a while and fetches, three times if need be."""

    def __init__(self, delay):
        self.delay = delay
        self.changes = 0
        self.kept_at = -1
        self.told = asyncio.Event()
        self.fetching = asyncio.Lock()

    async def hear(self, message):
        notice = getattr(message, "root", message)
        if getattr(notice, "method", "") == "notifications/tools/list_changed":
            self.changes += 1
            self.told.set()

    async def keep_fetching(self):
        while True:
            await self.told.wait()
            self.told.clear()
            for pause in (self.delay, 1.0, 5.0):
                await asyncio.sleep(pause)
                with suppress(Exception):
                    await self.list_tools()
                    break

    async def list_tools(self):
        async with self.fetching:
            while self.kept_at != self.changes:
                changes = self.changes
                self.tools = (await self.session.list_tools()).tools
                self.kept_at = changes
        return list(self.tools)

    async def call_tool(self, tool, arguments):
        return await self.session.call_tool(getattr(tool, "name", tool), arguments)


def listener(delay):
    claims = Claims(reacts_to_list_changed=delay, eras=("handshake",), **CLAIMED)

    @adapter(f"listener-{delay:g}", claims=claims)
    async def play_it(dial):
        client = Listener(delay)
        async with (
            dial.streams() as (read, write),
            ClientSession(read, write, message_handler=client.hear) as client.session,
        ):
            await client.session.initialize()
            fetching = asyncio.get_running_loop().create_task(client.keep_fetching())
            try:
                yield Wrapper(list_tools=client.list_tools, call_tool=client.call_tool)
            finally:
                fetching.cancel()
                with suppress(asyncio.CancelledError):
                    await fetching

    return play_it


LISTENERS = [listener(0.0), listener(0.3), listener(50.0)]
NOTICES = tuple(s for s in CATALOGUE if any(rule.area == "NTC" for rule in s.rules))
PLAYED = [(each, *cell) for each in LISTENERS for cell in cells(each, NOTICES)]


def _id(given):
    each, scenario, era, variant = given
    return "-".join(filter(None, (each.name, scenario.name, era, variant)))


@pytest.mark.parametrize("given", PLAYED, ids=_id)
def test_no_rule_of_notices_accuses_it(given):
    each, scenario, era, variant = given
    played = play(scenario, each, era=era, variant=variant, compare=False)
    assert not played.trouble
    verdicts = {judgement.rule: judgement for judgement in played.judgements}
    assert [j for j in verdicts.values() if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []
    if variant == "retried":
        assert verdicts["NTC-9"].verdict is Verdict.KEPT
