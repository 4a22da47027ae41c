"""Scenarios of PAG: walking the pages of a listing.

Of a wrapper that reads the first page only, though it does not say so, the first scenario tells; all others
leave it out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from typing import Any

from pytest_mcp_conformance.contract import Rule
from pytest_mcp_conformance.contract._tool import tools_of
from pytest_mcp_conformance.contract.pagination import (
    BROKEN_WALK_IS_A_FAILED_LIST,
    CURSOR_DIES_WITH_ITS_SESSION,
    CURSOR_GOES_BACK_UNCHANGED,
    EMPTY_CURSOR_IS_FOLLOWED,
    EMPTY_CURSOR_IS_FOLLOWED_ONCE,
    EMPTY_CURSOR_STILL_ENDS_THE_WALK,
    ENDLESS_WALK_IS_BOUNDED,
    LIST_HOLDS_ALL_PAGES,
    NO_PAGE_SIZE_ENDS_THE_WALK,
    REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE,
    REPEATING_CURSOR_ENDS_THE_WALK,
    WALK_ACROSS_A_NOTICE_IS_NOT_KEPT,
)
from pytest_mcp_conformance.scenarios._aloud import listening
from pytest_mcp_conformance.scenarios._channel import must_have_a_channel
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._first_page import must_ask_for_a_second_page, names_a_page
from pytest_mcp_conformance.scenarios._judge import NotClaimed, check, current_judge, leave_out, reached
from pytest_mcp_conformance.scenarios._owner import NeverOpened
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import first_listing
from pytest_mcp_conformance.server import ABSENT, HOUR_MS, V1, Gate, NotReached, ScriptedServer, tool

CURSORS = (" x ", "2", "null", "%2F+=", '"quoted"', "\u0434\u0430\u043b\u0435\u0435 \u2192", "{}", "c" * 8192)
"""Texts that a client might trim, decode, parse or cut."""

FRAMES = 10_000
"""A walk that asks for more pages than this is taken for an endless one."""

AGAIN = 2
"""How often an empty cursor may be followed in one walk: to see that it leads in a circle takes one."""

ENOUGH = 100
"""Empty cursors after which there is no more to see."""

PAUSE = 0.047
"""Seconds that each of so many pages takes: together less than the deadline of a verb, and no part of a round
limit, so that none is answered in the very moment in which its caller gives up."""

RESTARTS = 100
"""A wrapper that begins a walk more often than this is taken to do so for ever."""


@scenario(LIST_HOLDS_ALL_PAGES)
async def three_pages(server: ScriptedServer, connect: Connect) -> None:
    """The tools come on three pages, and one of the last page is called."""
    server.pages(["a"], ["b"], ["c"])

    async with connect(server) as wrapper:
        with check(LIST_HOLDS_ALL_PAGES):
            assert await wrapper.names() == ["a", "b", "c"]
            await wrapper.call("c", "n1")
            assert len(server.ledger.calls("n1")) == 1, "a call of a tool on the last page is not sent"


@scenario(CURSOR_GOES_BACK_UNCHANGED)
async def odd_cursors(server: ScriptedServer, connect: Connect) -> None:
    """The cursors look like numbers, JSON, blanks, escapes and other things that they are not."""
    server.pages(*([f"t{n}"] for n in range(len(CURSORS) + 1)), cursors=CURSORS)
    if not connect.claims.follows_pages:
        leave_out(CURSOR_GOES_BACK_UNCHANGED, "follows_pages")
        return

    async with connect(server) as wrapper:
        await wrapper.try_names()
        with check(CURSOR_GOES_BACK_UNCHANGED):
            asked = [frame.params.get("cursor") for frame in server.ledger.listings()]
            await must_ask_for_a_second_page(server, connect)
            assert asked[: len(CURSORS) + 1] == [None, *CURSORS]


@scenario(CURSOR_GOES_BACK_UNCHANGED)
async def odd_cursors_of_single_pages(server: ScriptedServer, connect: Connect) -> None:
    """The same cursors, and a user who asks for each page by the cursor that came with the page before it."""
    server.pages(*([f"t{n}"] for n in range(len(CURSORS) + 1)), cursors=CURSORS)

    async with connect(server) as wrapper:
        if not wrapper.has("list_page"):
            leave_out(CURSOR_GOES_BACK_UNCHANGED, "list_page")
            return
        given = None
        with check(CURSOR_GOES_BACK_UNCHANGED):
            for n, cursor in enumerate((None, *CURSORS)):
                if n and given is None:
                    raise NotClaimed("list_page hands out no cursor of the next page")
                mark = server.ledger.mark
                tools, following = await wrapper.verb("list_page", given)
                asked = [frame.params.get("cursor") for frame in server.ledger.listings(since=mark)]
                names = [each.name for each in tools_of(tools)]
                assert cursor in asked or names == [f"t{n}"], (
                    f"list_page({given!r}) asked for {asked} and handed out {names}"
                )
                given = following
        reached(server.ledger.listings(), "no listing reached the server")


@scenario(EMPTY_CURSOR_IS_FOLLOWED)
async def empty_cursor(server: ScriptedServer, connect: Connect) -> None:
    """The cursor of the second page is the empty string."""
    server.pages(["a"], ["b"], cursors=[""])

    async with connect(server) as wrapper:
        with check(EMPTY_CURSOR_IS_FOLLOWED):
            names = await wrapper.names()
            asked = [frame.params.get("cursor") for frame in server.ledger.listings()]
            await must_ask_for_a_second_page(server, connect)
            assert names == ["a", "b"]
            assert asked[:2] == [None, ""]


@scenario(EMPTY_CURSOR_STILL_ENDS_THE_WALK)
async def empty_cursor_on_the_last_page(server: ScriptedServer, connect: Connect) -> None:
    """The last page names an empty cursor; who follows it finds a page with nothing on it."""
    server.pages(["a"], ["b"], [], cursors=["c2", ""])

    async with connect(server) as wrapper:
        with check(EMPTY_CURSOR_STILL_ENDS_THE_WALK):
            names = await wrapper.names()
            await must_ask_for_a_second_page(server, connect)
            assert names == ["a", "b"]
        reached(server.ledger.listings(), "no listing reached the server")


@scenario(EMPTY_CURSOR_STILL_ENDS_THE_WALK)
async def empty_cursor_on_every_page(server: ScriptedServer, connect: Connect) -> None:
    """A broken server gives an empty cursor with every page; later it is mended."""
    await _walk_without_an_end(server, connect, EMPTY_CURSOR_STILL_ENDS_THE_WALK, lambda cursor: "", least=1)


@scenario(EMPTY_CURSOR_IS_FOLLOWED_ONCE)
async def empty_cursor_that_leads_to_page_one(server: ScriptedServer, connect: Connect) -> None:
    """The last page names an empty cursor, and who follows it is given page one, as who comes without one."""
    followed = 0

    def lister(cursor: Any) -> tuple[list[Any], Any]:
        nonlocal followed
        followed += cursor == ""
        if followed > ENOUGH:
            server.drop()
        return ([tool("b")], "") if cursor == "c2" else ([tool("a")], "c2")

    server.lists_by(lister)
    wrapper = await connect.attempt(server)
    if wrapper.error is None:
        await wrapper.try_names()
        await must_ask_for_a_second_page(server, connect)
    asked = [frame.params.get("cursor") for frame in server.ledger.listings()]
    reached("c2" in asked, "the second page was never asked for")
    with check(EMPTY_CURSOR_IS_FOLLOWED_ONCE):
        in_one_walk = max(sum(cursor == "" for cursor in walk) for walk in _walks(asked))
        assert in_one_walk <= AGAIN, f"an empty cursor was followed {in_one_walk} times in one walk"


def _walks(asked: list[Any]) -> list[list[Any]]:
    """The cursors of each walk, of which every one begins without a cursor."""
    walks: list[list[Any]] = [[]]
    for cursor in asked:
        if cursor is None:
            walks.append([])
        walks[-1].append(cursor)
    return walks


@scenario(REPEATING_CURSOR_ENDS_THE_WALK, variants=("same", "cycle"))
async def repeating_cursor(server: ScriptedServer, connect: Connect, kind: str) -> None:
    """A broken server gives a cursor that it gave before; later it is mended."""
    following = {"same": {}, "cycle": {"c1": "c2"}}[kind]
    await _walk_without_an_end(
        server, connect, REPEATING_CURSOR_ENDS_THE_WALK, lambda cursor: following.get(cursor, "c1")
    )


@scenario(ENDLESS_WALK_IS_BOUNDED)
async def ever_new_cursors(server: ScriptedServer, connect: Connect) -> None:
    """A broken server takes its time over each page and names another one with each; later it is mended.

    A limit of time is a limit as well: this many pages take longer than any verb may. Whoever ends there says
    so: it raises, warns or logs a warning. A list that is an object of the wrapper's own may say it itself.
    """
    with server.holding("tools/list") as gate:
        answering = asyncio.get_running_loop().create_task(_answer_slowly(gate), name="slow answers")
        try:
            await _walk_without_an_end(
                server,
                connect,
                ENDLESS_WALK_IS_BOUNDED,
                lambda cursor: f"c{1 if cursor is ABSENT else int(cursor[1:]) + 1}",
            )
        finally:
            answering.cancel()


async def _answer_slowly(gate: Gate) -> None:
    for place in count(1):
        held = await gate.arrived(place, deadline=float("inf"))
        await asyncio.sleep(PAUSE)
        held.release()


async def _walk_without_an_end(
    server: ScriptedServer, connect: Connect, rule: Rule, following: Callable[[Any], str], least: int = 2
) -> None:
    """List from a server that gives a tool and `following(cursor)` with every page, and then from a good one.

    Args:
        server: The script.
        connect: The way in.
        rule: What is judged.
        following: Gives the next cursor for a cursor (`ABSENT` at first).
        least: How many pages have to be asked for.
    """
    asked = 0

    def lister(cursor: Any) -> tuple[list[Any], Any]:
        nonlocal asked
        asked += 1
        if asked > FRAMES:
            server.drop()
        return [tool(f"t{asked}")], following(cursor)

    names = None
    server.lists_by(lister)
    with listening() as aloud:
        wrapper = await connect.attempt(server)
        with check(rule):
            if wrapper.error is None:
                names = await wrapper.try_names()
            assert asked <= FRAMES, f"still asking after {FRAMES} pages"
            assert not isinstance(wrapper.error, NeverOpened), wrapper.failure
            if wrapper.error is None:
                await must_ask_for_a_second_page(server, connect)
    if current_judge.get().leaves_out(rule):
        return
    reached(asked >= least, f"page {least} was never asked for")
    if rule is ENDLESS_WALK_IS_BOUNDED and names is not None and not aloud.deaf:
        with check(rule):
            told = aloud.words or type(wrapper.handed_out).__module__ != "builtins"
            assert told, f"ends after {asked} pages of an endless list, and says nothing"
    if wrapper.error is not None or asked > FRAMES:
        return
    server.has_tools(*V1)
    await wrapper.make_stale()
    with check(rule):
        names_now = await wrapper.names()
        assert {"a", "old"} <= set(names_now), f"the list after the server was mended: {names_now}"


@scenario(NO_PAGE_SIZE_ENDS_THE_WALK)
async def odd_page_sizes(server: ScriptedServer, connect: Connect) -> None:
    """Pages hold three, no, one, no and five tools; each but the last names a next one."""
    sizes = (3, 0, 1, 0, 5)
    server.pages(*([f"p{page}t{n}" for n in range(size)] for page, size in enumerate(sizes)))

    async with connect(server) as wrapper:
        with check(NO_PAGE_SIZE_ENDS_THE_WALK):
            names = await wrapper.names()
            asked = [frame.params.get("cursor") for frame in server.ledger.listings()]
            await must_ask_for_a_second_page(server, connect)
            assert asked[: len(sizes)] == [None, "c2", "c3", "c4", "c5"]
            assert len(names) == sum(sizes)


@scenario(BROKEN_WALK_IS_A_FAILED_LIST)
async def second_page_fails(server: ScriptedServer, connect: Connect) -> None:
    """A kept listing is fetched again, the second page of that walk fails, and then it works."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        await wrapper.list_tools()
        kept = wrapper.handle("a")
        server.pages([tool("a", "string")], ["new"])
        server.answers("a", 1)
        mark = server.ledger.mark
        server.suffers("error", "page")
        way = await wrapper.make_stale(may_fail=True)
        with check(BROKEN_WALK_IS_A_FAILED_LIST):
            served = await wrapper.try_names()
            if server.ledger.listings(since=mark):
                await must_ask_for_a_second_page(server, connect)
            assert served in (None, ["a", "old"], ["a", "new"])
        if current_judge.get().leaves_out(BROKEN_WALK_IS_A_FAILED_LIST):
            return
        reached(
            server.ledger.frames("tools/list", kind="failed", since=mark),
            "the second page was never asked for",
        )
        if served != ["a", "new"] and wrapper.claims.checks_output == "refuses":
            again = server.ledger.mark
            outcome = await wrapper.call("a", "n1", handle=kept)
            if not server.ledger.listings(since=again):
                with check(BROKEN_WALK_IS_A_FAILED_LIST):
                    assert outcome.ok, f"an answer that the kept listing allows: {outcome}"
        if way == "refresh":  # it has said that it failed, and the user asks once more
            await wrapper.make_stale()
        with check(BROKEN_WALK_IS_A_FAILED_LIST):
            assert await wrapper.names() == ["a", "new"]


@scenario(WALK_ACROSS_A_NOTICE_IS_NOT_KEPT, variants=("first", "second"))
async def notice_between_two_pages(server: ScriptedServer, connect: Connect, late: str) -> None:
    """The tools change while the answer with the first page is out, or the one with the second."""
    server.ttl_ms = HOUR_MS
    server.pages(["a1"], ["old"])

    with server.holding("tools/list", when=names_a_page if late == "second" else None) as gate:
        try:
            first = await first_listing(server, connect, gate)
        except NotReached:
            gate.open()
            await must_ask_for_a_second_page(server, connect)
            raise
        server.pages(["a2"], ["new"])
        gate.open()
        must_have_a_channel(server, await server.notify_list_changed())
        first.late.release()
    wrapper = await first.ended()
    await wrapper.react()
    with check(WALK_ACROSS_A_NOTICE_IS_NOT_KEPT):
        names = await wrapper.names()
        await must_ask_for_a_second_page(server, connect)
        assert names == ["a2", "new"]


@scenario(REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE)
async def cursor_is_refused_at_once(server: ScriptedServer, connect: Connect) -> None:
    """A broken server refuses the cursor that it has just given; later it is mended."""
    starts = 0

    def lister(cursor: Any) -> tuple[list[Any], Any] | None:
        nonlocal starts
        if cursor is not ABSENT:
            return None
        starts += 1
        if starts > RESTARTS:
            server.drop()
        return [tool("a")], "c2"

    server.lists_by(lister)
    wrapper = await connect.attempt(server)
    with check(REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE):
        assert starts <= 2, f"walked {starts} times at connect"
        if wrapper.error is None:
            before = starts
            served = await wrapper.try_names()
            assert starts - before <= 2, f"walked {starts - before} times for one list"
            await must_ask_for_a_second_page(server, connect)
            assert served is None, "a walk that could not be finished was given out as a list"
    if current_judge.get().leaves_out(REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE):
        return
    reached(server.ledger.frames("tools/list", kind="failed"), "the second page was never asked for")
    if wrapper.error is not None or starts > RESTARTS:
        return
    server.has_tools(*V1)
    await wrapper.make_stale()
    with check(REFUSED_CURSOR_RESTARTS_THE_WALK_ONCE):
        assert await wrapper.names() == ["a", "old"]


@scenario(CURSOR_DIES_WITH_ITS_SESSION)
async def session_ends_between_two_pages(server: ScriptedServer, connect: Connect) -> None:
    """The connection is lost when the second page is asked for; that may cost one list."""
    server.pages(["a"], ["b"], ["c"])
    server.suffers("hangs_up", "page")

    wrapper = await connect.attempt(server)
    if wrapper.error is not None:  # it lists at connect
        wrapper = await connect.attempt(server)
    first_of: dict[int, str | None] = {}
    with check(CURSOR_DIES_WITH_ITS_SESSION):
        served = await wrapper.try_names()
        if served is None:
            served = await wrapper.names()
        await must_ask_for_a_second_page(server, connect)
        for frame in server.ledger.listings():
            first_of.setdefault(frame.connection, frame.params.get("cursor"))
        assert set(first_of.values()) == {None}, f"the first cursor of each session: {first_of}"
        assert served == ["a", "b", "c"]
    if current_judge.get().leaves_out(CURSOR_DIES_WITH_ITS_SESSION):
        return
    reached(len(first_of) > 1, "no list was asked for in a new session")
