"""Which listing the SDK holds a tool's answer against."""

from __future__ import annotations

import warnings

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import GONE, Outcome, Way, every_way, first_only, output_schema, second_only


@pytest.mark.parametrize("told", [False, True], ids=["without a notice", "after a notice"])
@every_way
def test_an_older_listing_answered_last_brings_its_schemas_back(way: Way, told: bool) -> None:
    assert run(two_listings, way, told, reverse=False).accepted
    assert run(two_listings, way, told, reverse=True).refused, GONE


async def two_listings(way: Way, told: bool, *, reverse: bool) -> Outcome:
    """Two listings are out at the same time; the tool answers what only the later one allows.

    The server may say that its tools changed, between the two.
    """
    peer = Peer([[tool("a", "integer")]], gives={"a": "x"}, holds={"tools/list"})
    async with way.connect(peer) as user, anyio.create_task_group() as tasks:
        for out in ("integer", "string"):
            peer.has(tool("a", out))
            if told and out == "string":
                peer.notice()
                await quiet()
            tasks.start_soon(user.listing)
            await quiet()
        assert len(peer.parked) == 2
        for parked in reversed(peer.parked) if reverse else peer.parked:
            parked.answer()
            await quiet()
        return await user.call("a")


@every_way
def test_a_tool_of_a_page_that_its_caller_did_not_list_is_not_checked(way: Way) -> None:
    listed, _ = run(wrong_answer_of_the_second_page, way, pages_listed=2)
    unlisted, cursors = run(wrong_answer_of_the_second_page, way, pages_listed=1)

    assert listed.refused
    assert unlisted.accepted and cursors == [None, None, None], GONE


async def wrong_answer_of_the_second_page(way: Way, *, pages_listed: int) -> tuple[Outcome, list[str | None]]:
    """A tool of the second page answers wrongly, twice; gives the cursor of each listing as well."""
    peer = Peer([[tool("a", "integer")], [tool("b", "integer")]], gives={"b": "wrong"})
    async with way.connect(peer) as user:
        for cursor in (None, "1")[:pages_listed]:
            await user.listing(cursor)
        await user.call("b")
        called = await user.call("b")
        return called, [params.get("cursor") for params in peer.sent("tools/list")]


@second_only
@every_way
def test_a_tool_that_left_the_listing_is_no_longer_checked(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    assert run(wrong_answer_of_a_tool, way, still_listed=True).refused
    assert not caplog.records
    assert run(wrong_answer_of_a_tool, way, still_listed=False).accepted, GONE
    assert [record.levelname for record in caplog.records] == ["WARNING"], GONE


@first_only
def test_the_first_major_goes_on_checking_a_tool_that_left_the_listing() -> None:
    assert run(wrong_answer_of_a_tool, Way("session", "handshake"), still_listed=False).refused


@every_way
def test_a_tool_that_left_a_listing_of_two_pages_is_still_checked(way: Way) -> None:
    assert run(wrong_answer_of_a_tool, way, still_listed=False, pages=2).refused


async def wrong_answer_of_a_tool(way: Way, *, still_listed: bool, pages: int = 1) -> Outcome:
    """A tool was listed with a schema; it answers wrongly after a second listing, which may lack it."""
    kept, more = [tool("a", "integer")], [[tool(f"on page {page}")] for page in range(1, pages)]
    peer = Peer([kept, *more], gives={"a": "wrong"})
    async with way.connect(peer) as user:
        for tools in (kept, kept if still_listed else [tool("other")]):
            peer.pages = [tools, *more]
            for page in range(pages):
                await user.listing(str(page) if page else None)
        return await user.call("a")


@pytest.mark.parametrize("called_before", [False, True], ids=["before the first call", "after a call"])
@every_way
def test_an_edit_of_what_was_handed_out_changes_the_check(way: Way, called_before: bool) -> None:
    assert run(wrong_answer_after_an_edit, way, called_before, edit=False).refused
    assert run(wrong_answer_after_an_edit, way, called_before, edit=True).accepted, GONE


async def wrong_answer_after_an_edit(way: Way, called_before: bool, *, edit: bool) -> Outcome:
    """A user edits the output schema of a tool that it was handed; the tool then answers wrongly."""
    peer = Peer([[tool("a", "integer")]], gives={"a": 1})
    async with way.connect(peer) as user:
        [handed_out] = (await user.listing()).tools
        if called_before:
            assert (await user.call("a")).accepted
        if edit:
            output_schema(handed_out)["properties"]["out"] = {"type": "string"}
        peer.gives["a"] = "wrong"
        return await user.call("a")


@every_way
def test_a_listing_taken_under_a_call_judges_its_answer(way: Way) -> None:
    assert run(listing_under_a_call, way, 1, changed=False).accepted
    assert run(listing_under_a_call, way, 1, changed=True).refused, GONE
    assert run(listing_under_a_call, way, "x", changed=False).refused
    assert run(listing_under_a_call, way, "x", changed=True).accepted, GONE


async def listing_under_a_call(way: Way, value: object, *, changed: bool) -> Outcome:
    """A tool that gives an integer is called; before it answers, a listing says the same, or otherwise."""
    peer = Peer([[tool("a", "integer")]], gives={"a": value}, holds={"tools/call"})
    got: list[Outcome] = []
    async with way.connect(peer) as user, anyio.create_task_group() as tasks:
        await user.listing()

        async def call() -> None:
            got.append(await user.call("a"))

        tasks.start_soon(call)
        await quiet()
        if changed:
            peer.has(tool("a", "string"))
        await user.listing()
        peer.parked[0].answer()
    return got[0]


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
@every_way
def test_each_call_of_a_tool_that_is_not_listed_costs_a_listing(way: Way, listed: bool) -> None:
    async def scene() -> int:
        peer = Peer([[tool("a"), tool("b")] if listed else [tool("a")]])
        async with way.connect(peer) as user:
            await user.listing()
            for _ in range(5):
                assert (await user.call("b")).accepted
            return len(peer.sent("tools/list")) - 1

    assert run(scene) == (0 if listed else 5), GONE


@every_way
def test_a_dialect_that_is_not_known_is_read_as_another_one(way: Way) -> None:
    assert run(answer_without_its_unit, way, "http://json-schema.org/draft-07/schema#").refused
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # what jsonschema says of it
        assert run(answer_without_its_unit, way, "urn:example:no-dialect").accepted, GONE


async def answer_without_its_unit(way: Way, dialect: str) -> Outcome:
    """A schema says in the words of one dialect that `unit` goes with `out`; the tool gives `out` alone."""
    definition = tool("a", "integer")
    definition["outputSchema"].update({"$schema": dialect, "dependencies": {"out": ["unit"]}})
    peer = Peer([[definition]], gives={"a": 1})
    async with way.connect(peer) as user:
        await user.listing()
        return await user.call("a")
