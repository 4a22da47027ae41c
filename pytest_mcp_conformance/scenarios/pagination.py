"""Scenarios of PAG: walking the pages of a listing."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract.pagination import (
    BROKEN_WALK_IS_A_FAILED_LIST,
    CURSOR_GOES_BACK_UNCHANGED,
    EMPTY_CURSOR_IS_FOLLOWED,
    LIST_HOLDS_ALL_PAGES,
    NO_PAGE_SIZE_ENDS_THE_WALK,
    REPEATING_CURSOR_ENDS_THE_WALK,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import check, reached
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.server import ABSENT, V1, ScriptedServer, tool

CURSORS = (" x ", "2", "null", "%2F+=", '"quoted"', "\u0434\u0430\u043b\u0435\u0435 \u2192", "{}", "c" * 8192)
"""Texts that a client might trim, decode, parse or cut."""

FRAMES = 10_000
"""A walk that asks for more pages than this is taken for an endless one."""


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

    async with connect(server) as wrapper:
        await wrapper.try_names()
        with check(CURSOR_GOES_BACK_UNCHANGED):
            asked = [frame.params.get("cursor") for frame in server.ledger.listings()]
            assert asked[: len(CURSORS) + 1] == [None, *CURSORS]


@scenario(EMPTY_CURSOR_IS_FOLLOWED)
async def empty_cursor(server: ScriptedServer, connect: Connect) -> None:
    """The cursor of the second page is the empty string."""
    server.pages(["a"], ["b"], cursors=[""])

    async with connect(server) as wrapper:
        with check(EMPTY_CURSOR_IS_FOLLOWED):
            assert await wrapper.names() == ["a", "b"]
            assert [frame.params.get("cursor") for frame in server.ledger.listings()] == [None, ""]


@scenario(REPEATING_CURSOR_ENDS_THE_WALK, variants=("same", "cycle"))
async def repeating_cursor(server: ScriptedServer, connect: Connect, kind: str) -> None:
    """A broken server gives a cursor that it gave before; later it is mended."""
    following = {"same": {ABSENT: "c1", "c1": "c1"}, "cycle": {ABSENT: "c1", "c1": "c2", "c2": "c1"}}[kind]
    asked = 0

    def lister(cursor: Any) -> tuple[list[Any], Any] | None:
        nonlocal asked
        asked += 1
        if asked > FRAMES:
            server.drop()
        return [tool(f"t{asked}")], following.get(cursor, "c1")

    server.lists_by(lister)
    opening = connect.start(server)
    with check(REPEATING_CURSOR_ENDS_THE_WALK):
        await opening.ended()
        if opening.error is None:
            wrapper = await opening.result()
            await wrapper.try_names()
        assert asked <= FRAMES, f"still asking after {FRAMES} pages"
    reached(asked > 1, "the second page was never asked for")
    if opening.error is not None or asked > FRAMES:
        return
    server.has_tools(*V1)
    await wrapper.make_stale()
    with check(REPEATING_CURSOR_ENDS_THE_WALK):
        assert await wrapper.names() == ["a", "old"]


@scenario(NO_PAGE_SIZE_ENDS_THE_WALK)
async def odd_page_sizes(server: ScriptedServer, connect: Connect) -> None:
    """Pages hold three, no, one, no and five tools; each but the last names a next one."""
    sizes = (3, 0, 1, 0, 5)
    server.pages(*([f"p{page}t{n}" for n in range(size)] for page, size in enumerate(sizes)))

    async with connect(server) as wrapper:
        with check(NO_PAGE_SIZE_ENDS_THE_WALK):
            names = await wrapper.names()
            assert len(server.ledger.listings()) == len(sizes)
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
        server.fails("tools/list", when=lambda request: "cursor" in request.params)
        await wrapper.make_stale(may_fail=True)
        with check(BROKEN_WALK_IS_A_FAILED_LIST):
            served = await wrapper.try_names()
            assert served in (None, ["a", "old"], ["a", "new"])
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
        with check(BROKEN_WALK_IS_A_FAILED_LIST):
            assert await wrapper.names() == ["a", "new"]
