"""A pool that keeps a connection for a while after its last user, as many do: it is not accused."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from pytest_mcp_conformance.contract import Claims, Verdict, Wrapper, adapter
from pytest_mcp_conformance.contract.caching import LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION
from pytest_mcp_conformance.contract.connections import (
    CANCELLED_DIAL_LEAVES_NOTHING_OPEN,
    CLOSE_ENDS_EVERYTHING_IT_OPENED,
    CLOSE_ENDS_THE_VERB_UNDER_WAY,
    CLOSE_WORKS_FROM_ANOTHER_TASK,
    CONCURRENT_FIRST_USE_IS_ONE_DIAL,
    CONNECTION_IN_USE_STAYS_OPEN,
    FAILED_CONNECT_LEAVES_NOTHING_OPEN,
    WHAT_IS_HELD_OPEN_STAYS_BOUNDED,
)
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells

IDLE = 60.0


class Kept:
    """A session in a task of its own, and how many use it."""

    def __init__(self, dial):
        self.users = 0
        self.timer = None
        self.session = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self.task = asyncio.create_task(self._hold(dial))

    async def _hold(self, dial):
        try:
            async with dial.session() as session:
                self.session.set_result(session)
                await self._stop.wait()
        except Exception as error:
            if not self.session.done():
                self.session.set_exception(error)

    async def close(self):
        self._stop.set()
        if not self.session.done():
            self.task.cancel()
        await asyncio.wait([self.task])


class Pool:
    """Closes what nobody has used for a minute."""

    def __init__(self):
        self._kept = {}
        self._closing = set()

    async def join(self, key, dial):
        kept = self._kept.setdefault(key, None) or Kept(dial)
        self._kept[key] = kept
        kept.users += 1
        if kept.timer is not None:
            kept.timer.cancel()
        try:
            return kept, await asyncio.shield(kept.session)
        except BaseException:
            await self.leave(key, kept)
            raise

    async def leave(self, key, kept):
        kept.users -= 1
        if kept.users:
            return
        if kept.session.done() and kept.session.exception() is None:
            kept.timer = asyncio.get_running_loop().call_later(IDLE, self._evict, key, kept)
            return
        self._kept.pop(key, None)
        await kept.close()

    def _evict(self, key, kept):
        del self._kept[key]
        closing = asyncio.create_task(kept.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def close(self):
        for kept in self._kept.values():
            if kept.timer is not None:
                kept.timer.cancel()
            await kept.close()
        for closing in list(self._closing):
            await closing


@asynccontextmanager
async def one_pool():
    pool = Pool()
    yield pool
    await pool.close()  # without `try`, as in an adapter


class User:
    """Ends its own verbs when it leaves."""

    def __init__(self, session):
        self._session = session
        self._out = set()

    async def verb(self, work):
        task = asyncio.ensure_future(work)
        self._out.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            raise
        finally:
            self._out.discard(task)

    def close(self):
        for task in self._out:
            task.cancel()


CLAIMS = Claims(
    pools_connections=True,
    isolates_principals=True,
    clock=True,
    eras=("handshake",),
    transports=("memory",),
)


@adapter("keeps-for-a-minute", claims=CLAIMS, shared=one_pool)
async def keeping(dial, shared):
    key = (id(dial._server), dial.principal)
    kept, session = await shared.join(key, dial)
    user = User(session)

    async def list_tools():
        return (await user.verb(session.list_tools())).tools

    async def call_tool(tool, arguments):
        return await user.verb(session.call_tool(getattr(tool, "name", tool), arguments))

    yield Wrapper(list_tools=list_tools, call_tool=call_tool)
    user.close()
    await shared.leave(key, kept)


RULES = {
    CANCELLED_DIAL_LEAVES_NOTHING_OPEN,
    CLOSE_ENDS_EVERYTHING_IT_OPENED,
    CLOSE_ENDS_THE_VERB_UNDER_WAY,
    CLOSE_WORKS_FROM_ANOTHER_TASK,
    CONCURRENT_FIRST_USE_IS_ONE_DIAL,
    CONNECTION_IN_USE_STAYS_OPEN,
    FAILED_CONNECT_LEAVES_NOTHING_OPEN,
    LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION,
    WHAT_IS_HELD_OPEN_STAYS_BOUNDED,
}
PLAYED = cells(keeping, tuple(s for s in CATALOGUE if RULES & set(s.rules)))


@pytest.mark.parametrize("cell", PLAYED, ids=lambda cell: f"{cell[0].name}-{cell[2]}")
def test_a_connection_that_is_kept_for_later_is_no_offence(cell):
    scenario, era, variant = cell
    played = play(scenario, keeping, era=era, variant=variant, compare=False)
    bad = [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)]
    assert [(j.rule, j.detail) for j in bad] == []
    assert played.trouble == ()


def _many_principals():
    [scenario] = [each for each in CATALOGUE if each.name == "many_operations"]
    played = play(scenario, keeping, era="handshake", variant="principals", compare=False)
    return {judgement.rule: judgement.verdict for judgement in played.judgements}


def test_a_pool_that_lets_nobody_go_is_told_so(monkeypatch):
    monkeypatch.setitem(globals(), "IDLE", 1_000_000.0)
    assert _many_principals() == {WHAT_IS_HELD_OPEN_STAYS_BOUNDED.id: Verdict.BROKEN}


def test_a_pool_that_does_not_end_what_it_kept_is_told_so(monkeypatch):
    [scenario] = [each for each in CATALOGUE if each.name == "close_ends_everything"]

    async def forgets(pool):
        for kept in pool._kept.values():
            kept.timer.cancel()

    monkeypatch.setattr(Pool, "close", forgets)
    played = play(scenario, keeping, era="handshake", variant="once", compare=False)
    verdicts = {judgement.rule: judgement.verdict for judgement in played.judgements}
    assert verdicts[CLOSE_ENDS_EVERYTHING_IT_OPENED.id] is Verdict.BROKEN
