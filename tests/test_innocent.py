"""Wrappers of other shapes than the reference, which keep the rules in ways of their own: none is accused."""

from __future__ import annotations

import asyncio
import math
import threading
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import replace

import anyio
import pytest
from mcp import ClientSession
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_conformance_reference.definitionlist import DefinitionList
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import Claims, Verdict, Wrapper, adapter
from pytest_mcp_conformance.contract.caching import (
    FAILED_REFETCH_EMPTIES_NOTHING,
    LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION,
)
from pytest_mcp_conformance.contract.calls import (
    CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN,
    CANCELLED_VERB_ENDS_AS_CANCELLED,
    EQUAL_CALLS_GET_THEIR_OWN_ANSWERS,
    FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE,
    LIMIT_BOUNDS_THE_WHOLE_VERB,
    PROGRESS_REACHES_ITS_OWN_CALL,
    RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER,
)
from pytest_mcp_conformance.contract.checks import (
    CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER,
    CALLS_DO_NOT_EACH_COST_A_LISTING,
    DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE,
)
from pytest_mcp_conformance.contract.connections import (
    CANCELLED_DIAL_LEAVES_NOTHING_OPEN,
    CLOSE_IS_BOUNDED,
    CONCURRENT_FIRST_USE_IS_ONE_DIAL,
    CONNECTION_IN_USE_STAYS_OPEN,
    FAILED_DIAL_RAISES_PROMPTLY,
    SESSION_HEADERS_RIDE_ON_EVERY_REQUEST,
)
from pytest_mcp_conformance.contract.notices import (
    EVERY_CONNECTION_IS_LISTENED_TO,
    NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST,
)
from pytest_mcp_conformance.contract.pagination import LIST_HOLDS_ALL_PAGES
from pytest_mcp_conformance.contract.tenants import (
    CREDENTIAL_STAYS_WITH_ITS_ORIGIN,
    HEADERS_RIDE_ON_ALL_TRAFFIC,
    PROXY_SENDS_ITS_OWN_CREDENTIAL,
    REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN,
)
from pytest_mcp_conformance.contract.tools import (
    CHANGED_DEFINITION_IS_HANDED_OUT_NEW,
    ORDER_IS_KEPT_AND_NAMES_COME_ONCE,
    REMOVED_TOOL_DISAPPEARS,
)
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from pytest_mcp_conformance.scenarios.claims import BY_CLAIM
from pytest_mcp_conformance.server.eras import CAPABILITIES, discovery
from tests.cells import cells
from tests.test_innocent_pool import Kept
from tests.wrong._client import Client
from tests.wrong._http import ByHttp
from tests.wrong._proxying import Proxies
from tests.wrong._running import Runs
from tests.wrong._wire import ByWire, Wire
from tests.wrong._wrong import breaks
from tests.wrong.calls import LimitOfEachRequest
from tests.wrong.checks import Absorbing, ByTheMap
from tests.wrong.closing import Borrows, Pooling
from tests.wrong.credentials import Renews
from tests.wrong.lifetimes import LivesForEver
from tests.wrong.notices import ListensToNothing
from tests.wrong.pagination import FirstPageOnly


class KeepsUntilItIsTold(Client):
    """Says that a list is kept until its user or a notice says that it is old, whatever is dialled."""

    class tool_list_type(ToolList):
        def covered(self, listing):
            return True


class HandsOutWhatItDoesNotKeep(Client):
    """A listing that a notice has overtaken goes to whoever asked for it, is judged by, and is not kept."""

    caller_type = ByTheMap

    class tool_list_type(Absorbing):
        def write(self, flight, listing):
            self.absorb(listing.definitions)
            handed_out = DefinitionList()
            handed_out.write(0, listing.definitions, None, 0.0)
            return super().write(flight, listing) or handed_out


class TakesItsTimeToGiveUp(Client):
    """A connect that is given up says farewell first, which takes as long as its limit."""

    async def connect(self):
        try:
            await super().connect()
        except asyncio.CancelledError:
            await asyncio.sleep(30.0)
            raise


class RefusesHeadersForOneCall(Client):
    """The headers of a connection are all that its calls have."""

    def verbs(self):
        return {"call_with_headers": self.call_with_headers}

    async def call_with_headers(self, tool, arguments, headers):
        raise ValueError(f"headers are given at connect, not with a call: {sorted(headers)}")


class ShowsTodaysTools(Runs):
    """No list is kept, as is documented: the model is shown what the server has at each step."""

    async def list_tools(self):
        await self.refresh()
        return await super().list_tools()


class DialsAfterALimit(Runs):
    """A call that has run into its limit costs the connection; the next step of a run has another one."""

    async def call_tool(self, *given, **more):
        try:
            return await super().call_tool(*given, **more)
        except TimeoutError:
            await self.reconnect()
            raise


class ServesOneUser(Renews):
    """A token may be renewed, and another user needs another client."""

    async def set_principal(self, dial):
        if dial.principal != self.dial.principal:
            raise ValueError("one client serves one user")
        await super().set_principal(dial)


class SaysThatItGivesUp(Client):
    """Raises at close, which it has bounded by a limit of its own."""

    async def close(self):
        await super().close()
        raise TimeoutError


class ListensToEachCall(Client):
    """Finds out by itself which era the server speaks, and writes down the progress of every call."""

    def __init__(self, *given, era, **more):
        super().__init__(*given, era="auto", **more)

    async def call_tool(self, tool, arguments=None, *, meta=None, on_progress=None):
        hears = on_progress or (lambda *step: None)
        return await super().call_tool(tool, arguments, meta=meta, on_progress=hears)


class SendsOneRequestAtATime(Client):
    """The next call or listing waits for the answer to the one before it."""

    def enter(self):
        self.turn = asyncio.Lock()

    async def call_tool(self, *given, **more):
        async with self.turn:
            return await super().call_tool(*given, **more)

    async def list_tools(self):
        async with self.turn:
            return await super().list_tools()


class TidiesUpFirst(Client):
    """Whoever gives up waits for what is tidied up before the end."""

    async def call_tool(self, *given, **more):
        async with self.tidying():
            return await super().call_tool(*given, **more)

    async def list_tools(self):
        async with self.tidying():
            return await super().list_tools()

    @asynccontextmanager
    async def tidying(self):
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(10.0)


class LooksForOAuth(ByHttp):
    """Asks at the endpoint whether it wants a token, before there is a session."""

    @asynccontextmanager
    async def over_http(self, url, headers):
        async with create_mcp_http_client(headers=headers) as http:
            await http.get(url)
        async with super().over_http(url, headers) as streams:
            yield streams


class FollowsNoRedirect(ByHttp):
    """Goes nowhere else, and says so when a call is sent there, and once more at close."""

    moved = False

    async def call_tool(self, *given, **more):
        try:
            return await super().call_tool(*given, **more)
        except Exception:
            self.moved = True
            raise

    async def close(self):
        await super().close()
        if self.moved:
            raise ConnectionError("HTTP 307 Temporary Redirect")


class SpeaksAnOlderRevision(ByWire):
    """A client of a revision that has no structured content: what it does not know it leaves."""

    class wire_type(Wire):
        async def out(self, frame):
            if frame.get("method") == "initialize":
                frame = {**frame, "params": {**frame["params"], "protocolVersion": "2025-03-26"}}
            await super().out(frame)

        async def back(self, frame):
            result = {k: v for k, v in frame.get("result", {}).items() if k != "structuredContent"}
            for each in result.get("tools", ()):
                each.pop("outputSchema", None)
            return [{**frame, "result": result} if result else frame]


class NeedsNoDiscovery(ByWire):
    """Asks what a server of the modern era is, and does without where the answer is an error."""

    class wire_type(Wire):
        asked = None

        async def out(self, frame):
            if frame.get("method") == "server/discover":
                self.asked = frame["id"]
            await super().out(frame)

        async def back(self, frame):
            if "error" not in frame or frame.get("id") != self.asked:
                return [frame]
            return [{"jsonrpc": "2.0", "id": self.asked, "result": discovery(CAPABILITIES)}]


class RefreshesBehind(Client):
    """A refresh is begun, and goes on when its caller has left."""

    def enter(self):
        self.behind = set()

    def verbs(self):
        return {"refresh": self.begin}

    async def begin(self):
        started = asyncio.get_running_loop().create_task(self.refresh())
        self.behind.add(started)

    async def close(self):
        for each in self.behind:
            each.cancel()
        await asyncio.gather(*self.behind, return_exceptions=True)
        await super().close()


class SaysHowLongItKeeps(Client):
    """A listing is kept until a notice comes, which its documentation says."""

    class walk_type(Walk):
        def lifetime(self, raw):
            return math.inf


class ListsBackwards(Client):
    """The tools come in an order of its own."""

    async def list_tools(self):
        return (await super().list_tools())[::-1]


class HasNoCredential(Proxies):
    """A proxy that the server behind knows by its address alone."""

    def over_http(self, url, headers):
        return super().over_http(url, {})


LAZY = breaks(CONCURRENT_FIRST_USE_IS_ONE_DIAL, lazy=True)(Client).adapter
"""Dials at its first verb."""

POOLING = breaks(CONNECTION_IN_USE_STAYS_OPEN, pools_connections=True)(Pooling).adapter
"""Holders share one connection, which the last one closes."""

BORROWING = breaks(CONNECTION_IN_USE_STAYS_OPEN, http_client=True)(Borrows).adapter
"""Takes an HTTP client of its caller's own."""

REFUSING = breaks(HEADERS_RIDE_ON_ALL_TRAFFIC)(RefusesHeadersForOneCall).adapter
SINGLE = breaks(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN)(ServesOneUser).adapter
SERIAL = breaks(PROGRESS_REACHES_ITS_OWN_CALL)(SendsOneRequestAtATime).adapter
LISTENING = breaks(PROGRESS_REACHES_ITS_OWN_CALL)(ListensToEachCall).adapter
PROBING = breaks(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST)(LooksForOAuth).adapter
TIDY = breaks(CANCELLED_VERB_ENDS_AS_CANCELLED)(TidiesUpFirst).adapter
STAYING = breaks(CREDENTIAL_STAYS_WITH_ITS_ORIGIN)(FollowsNoRedirect).adapter
OLDER = breaks(RESULT_OF_AN_EXECUTED_CALL_REACHES_THE_CALLER, eras=("handshake",))(
    SpeaksAnOlderRevision
).adapter
KNOWING = breaks(FAILED_DIAL_RAISES_PROMPTLY)(NeedsNoDiscovery).adapter
KNOWING_LATER = breaks(FAILED_DIAL_RAISES_PROMPTLY, lazy=True)(NeedsNoDiscovery).adapter
BEHIND = breaks(CANCELLED_VERB_ENDS_AS_CANCELLED)(RefreshesBehind).adapter
FOREVER = LivesForEver.adapter
"""Breaks the rules about lifetimes, and those alone."""

DOCUMENTED = breaks(FAILED_REFETCH_EMPTIES_NOTHING, lifetimes=False)(SaysHowLongItKeeps).adapter
KEEPING = breaks(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION, lifetimes=False)(KeepsUntilItIsTold).adapter
SHOWING = breaks(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE)(HandsOutWhatItDoesNotKeep).adapter
SLOW = breaks(CANCELLED_DIAL_LEAVES_NOTHING_OPEN)(TakesItsTimeToGiveUp).adapter
PER_REQUEST = replace(
    LimitOfEachRequest.adapter, claims=replace(LimitOfEachRequest.adapter.claims, limits_verbs=False)
)
"""Its limit is one of each request, and it says so."""

LISTS = tuple(s for s in CATALOGUE if "CCH" in {rule.area for rule in s.rules})

BACKWARDS = breaks(ORDER_IS_KEPT_AND_NAMES_COME_ONCE)(ListsBackwards).adapter
"""Breaks the rule about the order, and that alone."""

TODAYS = breaks(CALLS_DO_NOT_EACH_COST_A_LISTING, caches_listings=False)(ShowsTodaysTools).adapter
AFTER_A_LIMIT = breaks(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN)(DialsAfterALimit).adapter
NAMELESS = breaks(PROXY_SENDS_ITS_OWN_CREDENTIAL, proxies=True)(HasNoCredential).adapter

DEAF = ListensToNothing.adapter
"""Breaks the rules about the channel of notices, and none about the notices that would come there."""

OF_THE_CHANNEL = {EVERY_CONNECTION_IS_LISTENED_TO, NOTICE_ON_ANY_CHANNEL_RENEWS_THE_LIST}
NOTICES = tuple(
    s for s in CATALOGUE if {rule.area for rule in s.rules} == {"NTC"} and not OF_THE_CHANNEL & set(s.rules)
)

OUT_TOGETHER = (
    CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER,
    EQUAL_CALLS_GET_THEIR_OWN_ANSWERS,
    FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE,
    PROGRESS_REACHES_ITS_OWN_CALL,
)
"""What is about several requests that are out at the same time."""

GIVING_UP = breaks(CLOSE_IS_BOUNDED)(SaysThatItGivesUp).adapter
AREAS = frozenset({"CALL", "CONN", "TEN"})


def _judging(rule):
    return tuple(scenario for scenario in CATALOGUE if rule in scenario.rules)


CLIENTS = tuple(s for s in CATALOGUE if AREAS & {rule.area for rule in s.rules})
BORROWED = tuple(s for s in CATALOGUE if s.name == "http_client_of_the_caller")
IN_ANY_ORDER = tuple(
    s
    for s in CATALOGUE
    if {"CCH", "NTC", "PAG", "CONN", "TEN", "TOOL"} & {rule.area for rule in s.rules}
    and ORDER_IS_KEPT_AND_NAMES_COME_ONCE not in s.rules
)
OF_PARTS = tuple(s for s in CATALOGUE if s.name == "parts_of_a_result")
IN_VAIN = tuple(s for s in CATALOGUE if s.name == "dial_that_fails_under_several")
MUTE_ENDS = tuple(s for s in CATALOGUE if s.name == "end_that_is_not_answered")
SLOW_CALLS = _judging(CALL_AT_ITS_LIMIT_IS_ONE_FAILED_CALL_OF_A_RUN)
PLAYED = [
    *((GIVING_UP, *cell) for cell in cells(GIVING_UP, MUTE_ENDS)),
    *((DEAF, *cell) for cell in cells(DEAF, NOTICES)),
    *((LAZY, *cell) for cell in cells(LAZY, CLIENTS)),
    *((POOLING, *cell) for cell in cells(POOLING, _judging(CONNECTION_IN_USE_STAYS_OPEN))),
    *((BORROWING, *cell) for cell in cells(BORROWING, BORROWED)),
    *((REFUSING, *cell) for cell in cells(REFUSING, _judging(HEADERS_RIDE_ON_ALL_TRAFFIC))),
    *((SINGLE, *cell) for cell in cells(SINGLE, _judging(REPLACED_CREDENTIAL_IS_NEVER_SENT_AGAIN))),
    *((FOREVER, *cell) for cell in cells(FOREVER, _judging(CHANGED_DEFINITION_IS_HANDED_OUT_NEW))),
    *((FOREVER, *cell) for cell in cells(FOREVER, _judging(REMOVED_TOOL_DISAPPEARS))),
    *((FOREVER, *cell) for cell in cells(FOREVER, _judging(FAILED_REFETCH_EMPTIES_NOTHING))),
    *((DOCUMENTED, *cell) for cell in cells(DOCUMENTED, LISTS)),
    *((KEEPING, *cell) for cell in cells(KEEPING, _judging(LIST_WITHOUT_LIFETIME_ENDS_WITH_ITS_CONNECTION))),
    *(
        (PER_REQUEST, scenario, era, step)
        for scenario, era, step in cells(PER_REQUEST, _judging(LIMIT_BOUNDS_THE_WHOLE_VERB))
        if step not in ("connect", "one_call")  # which have no limit at all
    ),
    *((SHOWING, *cell) for cell in cells(SHOWING, _judging(DISCARDED_LISTING_LEAVES_THE_CHECKS_ALONE))),
    *((SLOW, *cell) for cell in cells(SLOW, _judging(CANCELLED_DIAL_LEAVES_NOTHING_OPEN))),
    *((BACKWARDS, *cell) for cell in cells(BACKWARDS, IN_ANY_ORDER)),
    *((SERIAL, *cell) for cell in cells(SERIAL, _judging(EQUAL_CALLS_GET_THEIR_OWN_ANSWERS))),
    *(
        (SERIAL, *cell)
        for cell in cells(SERIAL, _judging(CALL_IS_JUDGED_BY_THE_DEFINITION_IT_WAS_SENT_UNDER))
    ),
    *((SERIAL, *cell) for cell in cells(SERIAL, _judging(FAILED_CALL_LEAVES_ITS_SIBLINGS_ALONE))),
    *((SERIAL, *cell) for cell in cells(SERIAL, _judging(PROGRESS_REACHES_ITS_OWN_CALL))),
    *((SERIAL, *cell) for cell in cells(SERIAL, _judging(CANCELLED_VERB_ENDS_AS_CANCELLED))),
    *((TIDY, *cell) for cell in cells(TIDY, _judging(CANCELLED_VERB_ENDS_AS_CANCELLED))),
    *((STAYING, *cell) for cell in cells(STAYING, _judging(CREDENTIAL_STAYS_WITH_ITS_ORIGIN))),
    *((OLDER, *cell) for cell in cells(OLDER, OF_PARTS)),
    *((KNOWING, *cell) for cell in cells(KNOWING, _judging(FAILED_DIAL_RAISES_PROMPTLY))),
    *((KNOWING_LATER, *cell) for cell in cells(KNOWING_LATER, IN_VAIN)),
    *((BEHIND, *cell) for cell in cells(BEHIND, _judging(CANCELLED_VERB_ENDS_AS_CANCELLED))),
    *((LISTENING, *cell) for cell in cells(LISTENING, _judging(PROGRESS_REACHES_ITS_OWN_CALL))),
    *((LISTENING, *cell) for cell in cells(LISTENING, _judging(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST))),
    *((PROBING, *cell) for cell in cells(PROBING, _judging(SESSION_HEADERS_RIDE_ON_EVERY_REQUEST))),
    *((TODAYS, *cell) for cell in cells(TODAYS, _judging(CALLS_DO_NOT_EACH_COST_A_LISTING))),
    *((AFTER_A_LIMIT, *cell) for cell in cells(AFTER_A_LIMIT, SLOW_CALLS)),
    *((NAMELESS, *cell) for cell in cells(NAMELESS, _judging(PROXY_SENDS_ITS_OWN_CREDENTIAL))),
]


def _id(given):
    subject, scenario, era, variant = given
    return "-".join(filter(None, (subject.name, scenario.name, era, variant)))


@pytest.mark.parametrize("given", PLAYED, ids=_id)
def test_another_right_wrapper_breaks_nothing(given):
    subject, scenario, era, variant = given
    played = play(scenario, subject, era=era, variant=variant, compare=False)
    assert not played.trouble
    assert [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []


@pytest.mark.skipif(not hasattr(ClientSession, "discover"), reason="mcp 1.x knows no lifetimes")
@pytest.mark.parametrize(("subject", "says"), [(DOCUMENTED, False), (FOREVER, False), (SERIAL, True)])
def test_who_denies_lifetimes_is_told_where_a_list_lapses_all_the_same(subject, says):
    denying = replace(subject, claims=replace(subject.claims, lifetimes=False))
    [probe] = play(BY_CLAIM["lifetimes"], denying, era="modern", compare=False).probes
    assert probe.wire is says
    assert probe.agrees is not says


OVER_PAGES = tuple(
    s
    for s in CATALOGUE
    if {rule.area for rule in s.rules} == {"PAG"} or ORDER_IS_KEPT_AND_NAMES_COME_ONCE in s.rules
)
ONE_PAGE = FirstPageOnly.adapter


@pytest.mark.parametrize("given", [(ONE_PAGE, *cell) for cell in cells(ONE_PAGE, OVER_PAGES)], ids=_id)
def test_who_reads_one_page_is_told_so_by_one_rule(given):
    subject, scenario, era, variant = given
    played = play(scenario, subject, era=era, variant=variant, compare=False)
    broken = LIST_HOLDS_ALL_PAGES in scenario.rules
    assert [j.verdict for j in played.judgements] == [Verdict.BROKEN if broken else Verdict.NOT_CLAIMED]


EACH_ITS_OWN = Claims(
    dials_per_operation=True, call_meta=True, progress=True, eras=("handshake",), transports=("http", "stdio")
)


@adapter("each-its-own", claims=EACH_ITS_OWN)
async def each_its_own(dial):
    """A session for each verb, and nothing in between that could be closed or hear of a change.

    It listens to the progress of every call, and each session counts its tokens anew.
    """

    @asynccontextmanager
    async def session():
        async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield session

    async def list_tools():
        async with session() as own:
            return (await own.list_tools()).tools

    async def call_tool(tool, arguments, meta=None, on_progress=None):
        async def hears(progress, total, message):
            if on_progress:
                on_progress(progress)

        async with session() as own:
            name = getattr(tool, "name", tool)
            return await own.call_tool(name, arguments, progress_callback=hears, meta=meta)

    yield Wrapper(list_tools=list_tools, call_tool=call_tool, call_with=call_tool)


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("close_under_a_verb", "call"),
        ("answer_that_is_cut", "twice"),
        ("unseen_auto_refresh", ""),
        ("progress_of_two_calls", ""),
        ("session_that_the_server_forgot", "text"),
    ],
)
def test_whoever_dials_for_each_verb_is_not_asked_for_what_stays_open(name, variant):
    [scenario] = [each for each in CATALOGUE if each.name == name]
    played = play(scenario, each_its_own, era="handshake", way="http", variant=variant, compare=False)
    assert [j for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []


@pytest.mark.parametrize(
    ("name", "variant"),
    [("notice_while_a_call_is_out", ""), ("loss_under_calls", "one"), ("loss_under_calls", "five")],
)
def test_whoever_dials_for_each_verb_may_see_its_child_out(name, variant):
    [scenario] = [each for each in CATALOGUE if each.name == name]
    played = play(scenario, each_its_own, era="handshake", way="stdio", variant=variant, compare=False)
    assert [j.verdict for j in played.judgements] == [Verdict.KEPT]


@adapter(
    "keeps-what-it-dialled-for",
    claims=Claims(dials_per_operation=True, lazy_connect=True, caches_listings=True, lifetimes=False),
)
async def keeps_what_it_dialled_for(dial):
    """A session for each verb that sends something; a kept list needs none."""
    kept = []

    async def list_tools():
        if not kept:
            async with dial.session() as own:
                kept.extend((await own.list_tools()).tools)
        return deepcopy(kept)

    async def call_tool(tool, arguments):
        async with dial.session() as own:
            return await own.call_tool(getattr(tool, "name", tool), arguments)

    yield Wrapper(list_tools=list_tools, call_tool=call_tool)


@pytest.mark.parametrize(
    ("subject", "says"), [(keeps_what_it_dialled_for, True), (each_its_own, True), (DOCUMENTED, False)]
)
def test_who_keeps_a_list_dials_for_its_calls(subject, says):
    [probe] = play(BY_CLAIM["dials_per_operation"], subject, era="handshake", compare=False).probes
    assert probe.wire is says


@adapter("in-five-seconds", claims=Claims(own_timeout=5.0, clock=True, eras=("handshake",)))
async def in_five_seconds(dial):
    """A session whose requests end at a limit that is sooner over than two waits that a server asks for."""
    async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call_tool(tool, arguments):
            with anyio.fail_after(5.0):
                return await session.call_tool(getattr(tool, "name", tool), arguments)

        yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)


def test_whose_limit_is_over_while_it_waits_as_told_is_not_asked_for_the_answer():
    [scenario] = [each for each in CATALOGUE if each.name == "answer_that_is_cut"]
    played = play(scenario, in_five_seconds, era="handshake", way="http", variant="twice", compare=False)
    assert [j.detail for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []


@adapter("replaces-what-breaks", claims=Claims(redials=True, eras=("handshake",)))
async def replaces_what_breaks(dial):
    """A session that is replaced when its transport breaks; a 404 it takes for an answer of the server."""
    async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call_tool(tool, arguments):
            return await session.call_tool(getattr(tool, "name", tool), arguments)

        yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)


def test_whoever_dialled_only_once_is_not_told_that_a_second_connection_took_the_place_of_the_first():
    [scenario] = [each for each in CATALOGUE if each.name == "connection_in_place_of_another"]
    given = {"era": "handshake", "way": "http", "variant": "redial", "compare": False}
    played = play(scenario, replaces_what_breaks, **given)
    assert [j.detail for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []


def test_whoever_fails_after_a_loss_has_served_no_list_of_the_lost_connection():
    [scenario] = [each for each in CATALOGUE if each.name == "listing_after_a_new_connection"]
    played = play(scenario, replaces_what_breaks, era="handshake", way="memory", variant="dropped")
    assert [judgement.verdict for judgement in played.judgements] == [Verdict.NOT_CLAIMED]


@adapter("sees-to-its-child", claims=Claims(eras=("handshake",), transports=("stdio",)))
async def sees_to_its_child(dial):
    """Whoever finds the connection lost first sees that the child has ended, as the SDK does: by looking."""
    async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call_tool(tool, arguments):
            try:
                return await session.call_tool(getattr(tool, "name", tool), arguments)
            except Exception:
                await asyncio.sleep(0.1)
                raise

        yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)


@pytest.mark.parametrize("variant", ["one", "five"])
def test_whoever_sees_to_a_lost_child_first_is_not_told_that_calls_wait(variant):
    [scenario] = [each for each in CATALOGUE if each.name == "loss_under_calls"]
    played = play(scenario, sees_to_its_child, era="handshake", way="stdio", variant=variant, compare=False)
    assert [j.detail for j in played.judgements if j.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED)] == []


@adapter("dials-behind", claims=Claims(eras=("handshake",), transports=("stdio",)))
async def dials_behind(dial):
    """The connection belongs to a task of its own; a set-up that is given up tells it to end, and goes."""
    opened, leaving = asyncio.get_running_loop().create_future(), asyncio.Event()

    async def hold():
        async with streams_of(dial) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            opened.set_result(session)
            await leaving.wait()

    held = asyncio.get_running_loop().create_task(hold())
    try:
        session = await asyncio.shield(opened)
    except asyncio.CancelledError:
        held.cancel()
        raise

    async def call_tool(tool, arguments):
        return await session.call_tool(getattr(tool, "name", tool), arguments)

    yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)
    leaving.set()
    await held


def test_whoever_is_seeing_out_the_child_of_a_dial_that_was_given_up_has_left_nothing():
    [scenario] = [each for each in CATALOGUE if each.name == "dial_given_up"]
    played = play(scenario, dials_behind, era="handshake", way="stdio", variant="connect", compare=False)
    assert [(j.rule, j.verdict) for j in played.judgements] == [("CONN-4", Verdict.KEPT)]


@adapter("each-round-its-own", claims=Claims(dials_per_operation=True, eras=("modern",)))
async def each_round_its_own(dial):
    """A session for each verb and for each round of a call, and each counts its requests anew."""

    async def list_tools():
        async with dial.session() as own:
            return (await own.list_tools()).tools

    async def call_tool(tool, arguments):
        state = {}
        for _ in range(3):
            async with dial.session() as own:
                name = getattr(tool, "name", tool)
                result = await own.call_tool(name, arguments, allow_input_required=True, **state)
            if not hasattr(result, "request_state"):
                return result
            state = {"request_state": result.request_state}
        raise RuntimeError("asked three times")

    yield Wrapper(list_tools=list_tools, call_tool=call_tool)


@pytest.mark.skipif(not hasattr(ClientSession, "discover"), reason="mcp 1.x knows no rounds")
def test_whoever_dials_for_each_round_uses_each_id_once():
    [scenario] = [each for each in CATALOGUE if each.name == "input_required_for_ever"]
    played = play(scenario, each_round_its_own, era="modern", variant="state_only", compare=False)
    assert [j.verdict for j in played.judgements] == [Verdict.KEPT]


@adapter("waits-in-real-time", claims=Claims(eras=("handshake",)))
async def waits_in_real_time(dial):
    """A facade that waits for news behind each call, and gives the result if none came in ten seconds."""
    async with dial.session() as session:
        loop = asyncio.get_running_loop()

        def call_tool(tool, arguments):
            calling = session.call_tool(getattr(tool, "name", tool), arguments)
            result = asyncio.run_coroutine_threadsafe(calling, loop).result()
            threading.Event().wait(10.0)
            return result

        await session.list_tools()
        yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)


def test_whoever_waits_in_real_time_is_not_told_that_a_call_does_not_end():
    [scenario] = [each for each in CATALOGUE if each.name == "result_whatever_else_fails"]
    given = {"era": "handshake", "variant": "listing_hangs", "compare": False}
    [judgement] = play(scenario, waits_in_real_time, **given).judgements
    assert judgement.verdict is Verdict.NOT_CLAIMED
    assert judgement.detail.startswith("clock")


@pytest.mark.parametrize(
    ("subject", "rule"),
    [
        (LAZY, "CALL-22"),
        (LAZY, "CONN-1"),
        (LAZY, "CONN-4"),
        (LAZY, "CONN-10"),
        (LAZY, "CONN-12"),
        (POOLING, "CONN-16"),
        (BORROWING, "CONN-16"),
        (SINGLE, "TEN-6"),
        (TIDY, "CALL-22"),
        (LISTENING, "CALL-12"),
        (LISTENING, "CONN-21"),
        (PROBING, "CONN-21"),
        (NAMELESS, "TEN-10"),
    ],
)
def test_what_only_its_shape_shows_is_seen_kept(subject, rule):
    scenarios = tuple(s for s in CATALOGUE if rule in {r.id for r in s.rules})
    verdicts = {
        judgement.verdict
        for scenario, era, variant in cells(subject, scenarios)
        for judgement in play(scenario, subject, era=era, variant=variant, compare=False).judgements
        if judgement.rule == rule
    }
    assert Verdict.KEPT in verdicts


@adapter("streams-only", claims=Claims(eras=("handshake",), transports=("memory",)))
async def streams_only(dial):
    """Has no use for an address."""
    async with dial.session() as session:

        async def call_tool(tool, arguments):
            return await session.call_tool(getattr(tool, "name", tool), arguments)

        yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)


@pytest.mark.parametrize("scenario", [s for s in CATALOGUE if "memory" not in s.ways], ids=lambda s: s.name)
def test_who_takes_streams_alone_is_not_asked_about_addresses_and_children(scenario):
    played = play(scenario, streams_only, era="handshake", variant=scenario.variants[0], compare=False)
    assert {judgement.verdict for judgement in played.judgements} <= {Verdict.NOT_CLAIMED}


@adapter("slip", claims=Claims(eras=("handshake",), transports=("memory",), same_task_close=True))
async def slip(dial):
    """An adapter with a mistake of its own: no call of it is ever sent."""
    async with dial.session() as session:

        async def call_tool(tool, arguments):
            return await session.call_a_tool(tool.name, arguments)

        yield Wrapper(list_tools=session.list_tools, call_tool=call_tool)


@pytest.mark.parametrize(
    "given",
    [
        (scenario, variant)
        for scenario in CATALOGUE
        if scenario.name in ("listing_with_more_in_it", "unusual_entry")
        for variant in scenario.variants
    ],
    ids=lambda given: f"{given[0].name}-{given[1]}",
)
def test_whose_calls_never_work_is_not_told_that_a_listing_does_it(given):
    scenario, variant = given
    played = play(scenario, slip, era="handshake", variant=variant, compare=False)
    assert [judgement.verdict for judgement in played.judgements] == [Verdict.NOT_CLAIMED]


@pytest.mark.parametrize(
    ("name", "variant"), [("principals_that_look_alike", "joined"), ("tool_with_another_schema", "")]
)
def test_whose_calls_never_work_is_not_told_where_they_went(name, variant):
    several = replace(slip, claims=replace(slip.claims, isolates_principals=True))
    [scenario] = [each for each in CATALOGUE if each.name == name]
    [judgement] = play(scenario, several, era="handshake", variant=variant).judgements
    assert judgement.verdict is Verdict.NOT_TESTABLE
    assert judgement.detail.startswith("not testable: not exercised: ")


@adapter(
    "keeps-its-list",
    claims=Claims(
        caches_listings=True, lifetimes=False, redials=True, eras=("handshake",), transports=("memory",)
    ),
)
async def keeps_its_list(dial):
    """Its list is kept until it is invalidated, as documented; a call that finds a loss dials anew."""
    held, kept = [Kept(dial)], []

    async def list_tools():
        if not kept:
            kept.extend((await (await held[0].session).list_tools()).tools)
        return list(kept)

    async def call_tool(tool, arguments):
        try:
            return await (await held[0].session).call_tool(getattr(tool, "name", tool), arguments)
        except Exception:
            await held[0].close()
            held[0] = Kept(dial)
            raise

    yield Wrapper(list_tools=list_tools, call_tool=call_tool, invalidate=kept.clear)
    await held[0].close()


def test_whose_list_is_kept_as_documented_has_not_used_a_lost_connection_for_it():
    [scenario] = [each for each in CATALOGUE if each.name == "verbs_after_a_loss"]
    [judgement] = play(scenario, keeps_its_list, era="handshake", way="memory", compare=False).judgements
    assert (judgement.rule, judgement.verdict) == ("CONN-6", Verdict.KEPT), judgement.detail
