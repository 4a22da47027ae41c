"""Wrappers of other shapes than the reference, which keep the rules in ways of their own: none is accused."""

from __future__ import annotations

import asyncio

import pytest

from pytest_mcp_conformance.contract import Verdict
from pytest_mcp_conformance.contract.calls import (
    EQUAL_CALLS_GET_THEIR_OWN_ANSWERS,
    FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE,
    PROGRESS_REACHES_ITS_OWN_CALL,
)
from pytest_mcp_conformance.contract.connections import (
    CONCURRENT_FIRST_USE_IS_ONE_DIAL,
    CONNECTION_IN_USE_STAYS_OPEN,
    SESSION_HEADERS_RIDE_ON_EVERY_REQUEST,
)
from pytest_mcp_conformance.contract.pagination import LIST_HOLDS_ALL_PAGES
from pytest_mcp_conformance.contract.tenants import (
    HEADERS_RIDE_ON_ALL_TRAFFIC,
    PROXY_SENDS_ITS_OWN_CREDENTIAL,
    REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN,
)
from pytest_mcp_conformance.contract.tools import ORDER_IS_KEPT_AND_NAMES_COME_ONCE
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells
from tests.wrong._client import Client
from tests.wrong._proxying import Proxies
from tests.wrong._wrong import breaks
from tests.wrong.closing import Pooling
from tests.wrong.credentials import Renews
from tests.wrong.pagination import FirstPageOnly


class RefusesHeadersForOneCall(Client):
    """The headers of a connection are all that its calls have."""

    def verbs(self):
        return {"call_with_headers": self.call_with_headers}

    async def call_with_headers(self, tool, arguments, headers):
        raise ValueError(f"headers are given at connect, not with a call: {sorted(headers)}")


class ServesOneUser(Renews):
    """A token may be renewed, and another user needs another client."""

    async def set_principal(self, dial):
        if dial.principal != self.dial.principal:
            raise ValueError("one client serves one user")
        await super().set_principal(dial)


class ListensToEachCall(Client):
    """Finds out by itself which era the server speaks, and writes down the progress of every call."""

    def __init__(self, *given, era, **more):
        super().__init__(*given, era="auto", **more)

    async def call_tool(self, tool, arguments=None, *, meta=None, on_progress=None):
        hears = on_progress or (lambda *step: None)
        return await super().call_tool(tool, arguments, meta=meta, on_progress=hears)


class SendsOneCallAtATime(Client):
    """The next call waits for the answer to the one before it."""

    def enter(self):
        self.turn = asyncio.Lock()

    async def call_tool(self, *given, **more):
        async with self.turn:
            return await super().call_tool(*given, **more)


class HasNoCredential(Proxies):
    """A proxy that the server behind knows by its address alone."""

    def over_http(self, url, headers):
        return super().over_http(url, {})


LAZY = breaks(CONCURRENT_FIRST_USE_IS_ONE_DIAL, lazy=True)(Client).adapter
"""Dials at its first verb."""

POOLING = breaks(CONNECTION_IN_USE_STAYS_OPEN, pools_connections=True)(Pooling).adapter
"""Holders share one connection, which the last one closes."""

REFUSING = breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)(RefusesHeadersForOneCall).adapter
SINGLE = breaks(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN)(ServesOneUser).adapter
SERIAL = breaks(PROGRESS_REACHES_ITS_OWN_CALL)(SendsOneCallAtATime).adapter
LISTENING = breaks(PROGRESS_REACHES_ITS_OWN_CALL)(ListensToEachCall).adapter
NAMELESS = breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)(HasNoCredential).adapter

AREAS = frozenset({"CALL", "CONN", "TEN"})


def _judging(rule):
    return tuple(scenario for scenario in CATALOGUE if rule in scenario.rules)


CLIENTS = tuple(s for s in CATALOGUE if AREAS & {rule.area for rule in s.rules})
PLAYED = [
    *((LAZY, *cell) for cell in cells(LAZY, CLIENTS)),
    *((POOLING, *cell) for cell in cells(POOLING, _judging(CONNECTION_IN_USE_STAYS_OPEN))),
    *((REFUSING, *cell) for cell in cells(REFUSING, _judging(HEADERS_RIDE_ON_ALL_TRAFFIC))),
    *((SINGLE, *cell) for cell in cells(SINGLE, _judging(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN))),
    *((SERIAL, *cell) for cell in cells(SERIAL, _judging(EQUAL_CALLS_GET_THEIR_OWN_ANSWERS))),
    *((SERIAL, *cell) for cell in cells(SERIAL, _judging(FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE))),
    *((SERIAL, *cell) for cell in cells(SERIAL, _judging(PROGRESS_REACHES_ITS_OWN_CALL))),
    *((LISTENING, *cell) for cell in cells(LISTENING, _judging(PROGRESS_REACHES_ITS_OWN_CALL))),
    *((LISTENING, *cell) for cell in cells(LISTENING, _judging(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST))),
    *((NAMELESS, *cell) for cell in cells(NAMELESS, _judging(PROXY_SENDS_ITS_OWN_CREDENTIAL))),
]


def _id(given):
    adapter, scenario, era, variant = given
    return "-".join(filter(None, (adapter.name, scenario.name, era, variant)))


@pytest.mark.parametrize("given", PLAYED, ids=_id)
def test_another_right_wrapper_breaks_nothing(given):
    adapter, scenario, era, variant = given
    played = play(scenario, adapter, era=era, variant=variant, compare=False)
    assert not played.trouble
    assert [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []


OVER_PAGES = tuple(
    s
    for s in CATALOGUE
    if {rule.area for rule in s.rules} == {"PAG"} or ORDER_IS_KEPT_AND_NAMES_COME_ONCE in s.rules
)
ONE_PAGE = FirstPageOnly.adapter


@pytest.mark.parametrize("given", [(ONE_PAGE, *cell) for cell in cells(ONE_PAGE, OVER_PAGES)], ids=_id)
def test_who_reads_one_page_is_told_so_by_one_rule(given):
    adapter, scenario, era, variant = given
    played = play(scenario, adapter, era=era, variant=variant, compare=False)
    broken = LIST_HOLDS_ALL_PAGES in scenario.rules
    assert [j.verdict for j in played.judgements] == [Verdict.BROKEN if broken else Verdict.NOT_CLAIMED]


@pytest.mark.parametrize(
    ("adapter", "rule"),
    [
        (LAZY, "CONN-1"),
        (LAZY, "CONN-4"),
        (LAZY, "CONN-10"),
        (LAZY, "CONN-12"),
        (POOLING, "CONN-16"),
        (SINGLE, "TEN-6"),
        (LISTENING, "CALL-12"),
        (LISTENING, "CONN-21"),
        (NAMELESS, "TEN-10"),
    ],
)
def test_what_only_its_shape_shows_is_seen_kept(adapter, rule):
    scenarios = tuple(s for s in CATALOGUE if rule in {r.id for r in s.rules})
    verdicts = {
        judgement.verdict
        for scenario, era, variant in cells(adapter, scenarios)
        for judgement in play(scenario, adapter, era=era, variant=variant, compare=False).judgements
        if judgement.rule == rule
    }
    assert Verdict.KEPT in verdicts
