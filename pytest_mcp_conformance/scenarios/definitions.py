"""Scenarios of DEF: what is kept of a tool, how long a list is served, and what a binding is worth.

All of them look at the parts that the wrapper hands out: `definition_of`, `definition_list`, and for whatever
shows on the wire `conversation`, whose bindings name the list and the generation that they were taken from.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from copy import deepcopy
from typing import Any

import anyio

from pytest_mcp_conformance.contract import HANDSHAKE, Rule
from pytest_mcp_conformance.contract.connections import CLOSE_ENDS_EVERYTHING_IT_OPENED
from pytest_mcp_conformance.contract.definitions import (
    AGE_COUNTS_FROM_THE_WRITE,
    BINDING_IS_CHECKED_AFTER_EVERY_WAIT,
    BINDING_NAMES_LIST_AND_GENERATION,
    CALL_ON_THE_WIRE_IS_LEFT_ALONE,
    CANCELLED_JOINER_LEAVES_THE_LISTING_TO_THE_OTHERS,
    CHANGED_CONFIGURATION_IS_A_NEW_LIST,
    CHANGED_PERMISSIONS_INVALIDATE,
    CHANGED_TOOLS_INVALIDATE,
    DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION,
    DEFINITION_HOLDS_DATA_AND_NO_CLIENT,
    DEFINITION_IS_A_FROZEN_COPY,
    FAILED_LISTING_WRITES_NOTHING,
    FIRST_LISTING_IN_FLIGHT_IS_DISCARDED,
    FIRST_WRITE_IS_A_NEW_GENERATION,
    GENERATIONS_ONLY_INCREASE,
    INVALIDATED_LIST_IS_LISTED_AGAIN,
    INVALIDATION_MOVES_THE_GENERATION_AT_ONCE,
    LAPSE_ALONE_REFUSES_NOTHING,
    LATE_NOTICE_LEAVES_THE_NEW_INCARNATION_ALONE,
    LATER_NEED_GETS_A_LATER_LISTING,
    LIST_BELONGS_TO_ONE_INCARNATION,
    LIST_IDS_ARE_NEVER_USED_AGAIN,
    LISTING_IN_FLIGHT_IS_DISCARDED,
    NOTICE_INVALIDATES_ITS_CLIENTS_LIST,
    ODD_ENTRY_SPARES_THE_OTHERS,
    OLDER_BINDING_IS_REFUSED_UNSENT,
    ONE_LISTING_WRITES_A_LIST,
    ONE_NAME_IS_ONE_DEFINITION,
    OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON,
    PAGES_ARE_WRITTEN_ONCE_AND_WHOLE,
    REFUSED_WRITE_CHANGES_NOTHING,
    RELISTING_IN_FLIGHT_IS_DISCARDED,
    SAME_DEFINITION_MEANS_SAME_JSON,
    SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS,
    SAME_NEED_JOINS_ONE_LISTING,
    SEVERAL_NOTICES_ARE_ONE_RELISTING,
    SHARED_LIST_HANDS_OUT_NO_TOOL,
    WRITE_AFTER_INVALIDATION_KEEPS_THE_GENERATION,
)
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._holder import Holder
from pytest_mcp_conformance.scenarios._judge import check, leave_out, reached
from pytest_mcp_conformance.scenarios._reach import reach
from pytest_mcp_conformance.scenarios._scenario import scenario
from pytest_mcp_conformance.scenarios._steps import arrives_or_ends
from pytest_mcp_conformance.scenarios._talk import Talk, talk_of, talking
from pytest_mcp_conformance.server import V1, V2, ScriptedServer, tool

TTL = 60.0
ENTRY = tool("a", "integer", _meta={"vendor/group": ["x", {"deep": True}], "vendor/weight": 0.5})


# -- one definition


@scenario(DEFINITION_HOLDS_DATA_AND_NO_CLIENT, DEFINITION_IS_A_FROZEN_COPY, eras=HANDSHAKE)
async def definition_of_one_tool(server: ScriptedServer, connect: Connect) -> None:
    """A tool is frozen; then its listing is edited in depth, and so is what was handed out."""
    entry = deepcopy(ENTRY)

    async with connect(server) as wrapper:
        frozen = wrapper.part("definition_of")(entry)
        reached(frozen is not None, "a plain tool has no definition")
        before = frozen.canonical
        with check(DEFINITION_HOLDS_DATA_AND_NO_CLIENT):
            for field in ("name", "description", "inputSchema", "_meta"):
                assert frozen.listed.get(field) == ENTRY[field], f"{field} was not kept"
            for name in (None, 5):
                nameless = _frozen(wrapper.part("definition_of"), {**ENTRY, "name": name})
                assert nameless is None or isinstance(nameless, str), f"a definition of a tool named {name}"
        with check(DEFINITION_IS_A_FROZEN_COPY):
            _edit(entry)
            assert dict(frozen.listed) == ENTRY, "the listing was edited, and the definition with it"
            _edit(frozen.listed)
            assert dict(frozen.listed) == ENTRY, "edited through what was handed out"
            assert frozen.canonical == before


def _edit(entry: Any) -> None:
    """Edit a listed tool in depth, as far as it can be edited."""
    edits: tuple[Callable[[], Any], ...] = (
        lambda: entry["_meta"]["vendor/group"][1].update(deep=False),
        lambda: entry["outputSchema"]["properties"]["out"].update(type="string"),
        lambda: entry["outputSchema"].update(edited=True),
        lambda: entry.update(description="edited"),
    )
    for edit in edits:
        with suppress(AttributeError, TypeError, LookupError):  # frozen, or not there
            edit()


@scenario(DEFINITION_HOLDS_DATA_AND_NO_CLIENT, DEFINITION_IS_A_FROZEN_COPY, eras=HANDSHAKE)
async def definition_from_a_conversation(server: ScriptedServer, connect: Connect) -> None:
    """A definition is taken from a conversation; what it shows is edited, and the tool answers wrongly."""
    server.has_tools(*V1)
    server.answers("a", "bad")

    async with talking(server, connect) as talk:
        binding = (await talk.list())["a"]
        with check(DEFINITION_HOLDS_DATA_AND_NO_CLIENT):
            held = [type(each).__name__ for each in reach(binding.definition) if _executable(each)]
            assert held == [], f"the definition holds {held}"
        with check(DEFINITION_IS_A_FROZEN_COPY):
            _edit(binding.definition.listed)
            outcome = await talk.call(binding, "n1")
            assert not outcome.ok, f"judged by what its caller wrote into the schema: {outcome}"
        reached(server.ledger.calls("n1"), "the call was not sent")


def _executable(held: Any) -> bool:
    module = type(held).__module__.partition(".")[0]
    return module in ("mcp", "anyio", "asyncio", "_asyncio", "trio", "httpx") or hasattr(held, "send_request")


class Thing:
    """No data."""


def _itself() -> Any:
    around: dict[str, Any] = {}
    around["again"] = [around]
    return around


ODD: dict[str, Callable[[], Any]] = {
    "nan": lambda: math.nan,
    "infinity": lambda: -math.inf,
    "cycle": _itself,
    "key_of_number": lambda: {1: "x"},
    "tuple": lambda: (1, 2),
    "set": lambda: {1},
    "bytes": lambda: b"x",
    "function": lambda: _itself,
    "instance": Thing,
}


@scenario(DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION, eras=HANDSHAKE, variants=tuple(ODD))
async def data_that_is_no_json(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Deep in a tool's schema there is something that JSON has no word for."""
    async with connect(server) as wrapper:
        definition_of = wrapper.part("definition_of")
        reached(_frozen(definition_of, ENTRY), "a plain tool has no definition")
        with check(DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION):
            frozen = _frozen(definition_of, tool("a", "integer", _meta={"x": [{"y": ODD[how]()}]}))
            assert not frozen, f"a definition that holds {how}: {frozen}"


@scenario(DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION, eras=HANDSHAKE, variants=("first", "second"))
async def half_of_a_letter(server: ScriptedServer, connect: Connect, which: str) -> None:
    """A text of a tool holds one half of a letter, which UTF-8 has no bytes for."""
    async with connect(server) as wrapper:
        definition_of = wrapper.part("definition_of")
        reached(_frozen(definition_of, ENTRY), "a plain tool has no definition")
        with check(DATA_THAT_IS_NOT_JSON_MAKES_NO_DEFINITION):
            half = chr(0xD800 if which == "first" else 0xDFFF)
            frozen = _frozen(definition_of, tool("a", description=f"The tool {half}"))
            assert not isinstance(frozen, str), f"the definition of a text with half of a letter {frozen}"
            assert not frozen or _has_bytes(frozen.canonical), "a definition that cannot be written down"


def _has_bytes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _frozen(definition_of: Callable[[Any], Any], entry: Any) -> Any:
    """The definition; None where there is none, and a text where anything else was raised."""
    try:
        return definition_of(entry)
    except ValueError:
        return None
    except Exception as error:
        return f"and raises {type(error).__name__}"


PAIRS: tuple[tuple[Any, Any, bool], ...] = (
    ({"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"d": 2, "c": 1}, "a": 1}, True),
    ([1, 2], [2, 1], False),
    (True, 1, False),
    (0, False, False),
    (1, "1", False),
    (None, "None", False),
    ({}, [], False),
    ({"x": None}, {}, False),
    ("é", "e\u0301", False),
)


@scenario(SAME_DEFINITION_MEANS_SAME_JSON, eras=HANDSHAKE)
async def pairs_of_definitions(server: ScriptedServer, connect: Connect) -> None:
    """Pairs of tools that differ in the order of keys, or in more than that."""
    async with connect(server) as wrapper:
        definition_of = wrapper.part("definition_of")
        with check(SAME_DEFINITION_MEANS_SAME_JSON):
            for one, other, same in PAIRS:
                first, second = definition_of(tool("a", _meta=one)), definition_of(tool("a", _meta=other))
                assert (first.canonical == second.canonical) is same, f"{one!r} and {other!r}"


# -- one list, by itself


def _frozen_tools(wrapper: Holder, *entries: Any) -> list[Any]:
    return [wrapper.part("definition_of")(tool(each) if isinstance(each, str) else each) for each in entries]


@scenario(LIST_IDS_ARE_NEVER_USED_AGAIN, eras=HANDSHAKE)
async def ids_of_many_lists(server: ScriptedServer, connect: Connect) -> None:
    """A hundred lists are made, and each is gone before the next."""
    async with connect(server) as wrapper:
        definition_list = wrapper.part("definition_list")
        with check(LIST_IDS_ARE_NEVER_USED_AGAIN):
            ids = [definition_list().id for _ in range(100)]
            assert len(set(ids)) == 100, "an id came twice"


@scenario(FIRST_WRITE_IS_A_NEW_GENERATION, eras=HANDSHAKE, variants=("untouched", "invalidated"))
async def first_write_of_a_list(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A list is new, or was invalidated twice before anything was written; then it is written."""
    async with connect(server) as wrapper:
        known = wrapper.part("definition_list")()
        shown = [known.generation]
        if how == "invalidated":
            for _ in range(2):
                known.invalidate()
                shown.append(known.generation)
        with check(FIRST_WRITE_IS_A_NEW_GENERATION):
            assert shown[0] == 0
            assert bool(known.stale) is (how == "invalidated")
            assert known.write(known.generation, _frozen_tools(wrapper, "a"), None, 1.0)
            assert known.generation not in shown, f"a number that was shown before: {shown}"


@scenario(
    INVALIDATION_MOVES_THE_GENERATION_AT_ONCE,
    WRITE_AFTER_INVALIDATION_KEEPS_THE_GENERATION,
    REFUSED_WRITE_CHANGES_NOTHING,
    GENERATIONS_ONLY_INCREASE,
    eras=HANDSHAKE,
)
async def invalidation_of_a_list(server: ScriptedServer, connect: Connect) -> None:
    """A list is written and invalidated; then come a listing that began before, and one that began after."""
    async with connect(server) as wrapper:
        known = wrapper.part("definition_list")()
        old, new = _frozen_tools(wrapper, "a"), _frozen_tools(wrapper, "b")
        log = [known.generation]
        reached(known.write(0, old, None, 1.0), "the first write was refused")
        log.append(known.generation)
        known.invalidate()
        log.append(known.generation)
        with check(INVALIDATION_MOVES_THE_GENERATION_AT_ONCE):
            assert known.generation > log[1], "invalidated, and the generation stands still"
            assert known.stale
            assert not known.servable(1.0, TTL)
        before = (known.generation, known.listed_at, known.all(), known.stale)
        with check(REFUSED_WRITE_CHANGES_NOTHING):
            assert known.write(log[1], new, None, 2.0) is False
            assert (known.generation, known.listed_at, known.all(), known.stale) == before
        with check(WRITE_AFTER_INVALIDATION_KEEPS_THE_GENERATION):
            assert known.write(before[0], new, None, 3.0) is True
            assert known.generation == before[0], "moved once more by the write"
            assert known.servable(3.0, TTL)
            assert [each.name for each in known.all()] == ["b"]
        log.append(known.generation)
        known.invalidate()
        log.append(known.generation)
        known.write(known.generation, old, None, 4.0)
        known.write(known.generation, new, None, 4.0 + TTL)
        log.append(known.generation)
        with check(GENERATIONS_ONLY_INCREASE):
            assert log == sorted(log), f"the generations were {log}"


@scenario(FIRST_LISTING_IN_FLIGHT_IS_DISCARDED, REFUSED_WRITE_CHANGES_NOTHING, eras=HANDSHAKE)
async def first_write_comes_too_late(server: ScriptedServer, connect: Connect) -> None:
    """A list is invalidated before anything was written; the listing that began before that arrives."""
    async with connect(server) as wrapper:
        known = wrapper.part("definition_list")()
        began = known.generation
        known.invalidate()
        moment = known.listed_at
        written = known.write(began, _frozen_tools(wrapper, "a"), None, 1.0)
        with check(FIRST_LISTING_IN_FLIGHT_IS_DISCARDED):
            assert written is False
            assert not known.servable(1.0, TTL)
        with check(REFUSED_WRITE_CHANGES_NOTHING):
            assert (tuple(known.all()), known.definition("a"), known.listed_at) == ((), None, moment)


@scenario(
    SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS,
    OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON,
    AGE_COUNTS_FROM_THE_WRITE,
    ONE_LISTING_WRITES_A_LIST,
    eras=HANDSHAKE,
)
async def time_limit_of_a_list(server: ScriptedServer, connect: Connect) -> None:
    """A list lapses and is written again: the same, then in another order, then with one letter changed."""
    async with connect(server) as wrapper:
        known = wrapper.part("definition_list")()
        with check(AGE_COUNTS_FROM_THE_WRITE):
            assert not known.servable(0.0, TTL), "nothing was written yet"
            known.write(0, _frozen_tools(wrapper, "a", "b"), None, 100.0)
            moments = (100.0, 159.9, 160.0, 1000.0)
            assert [known.servable(now, TTL) for now in moments] == [True, True, False, False]
        first, served = known.generation, known.definition("a")
        with check(SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS):
            assert known.write(first, _frozen_tools(wrapper, "a", "b"), None, 200.0)
            assert known.generation == first, "the same list, and the generation moved"
            assert known.servable(259.9, TTL), "the limit did not begin anew"
        with check(ONE_LISTING_WRITES_A_LIST):
            assert known.definition("a") is served, "within one generation another definition is served"
        with check(OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON):
            changed = tool("b", description="The tool B")
            assert known.write(first, _frozen_tools(wrapper, "a", changed), None, 300.0)
            assert known.generation > first, "one letter was changed, and the generation stands still"
        with check(ONE_LISTING_WRITES_A_LIST):
            assert not known.write(first, _frozen_tools(wrapper, "a"), None, 301.0), "began before that write"


@scenario(ONE_LISTING_WRITES_A_LIST, eras=HANDSHAKE)
async def two_writers_of_one_generation(server: ScriptedServer, connect: Connect) -> None:
    """After an invalidation two listings began at one generation; they bring different tools."""
    async with connect(server) as wrapper:
        known = wrapper.part("definition_list")()
        known.write(0, _frozen_tools(wrapper, "a"), None, 1.0)
        known.invalidate()
        began = known.generation
        reached(known.write(began, _frozen_tools(wrapper, "b"), None, 2.0), "the write was refused")
        served = (known.generation, [each.name for each in known.all()])
        known.write(began, _frozen_tools(wrapper, "c"), None, 3.0)
        with check(ONE_LISTING_WRITES_A_LIST):
            now = (known.generation, [each.name for each in known.all()])
            assert now == served or now[0] > served[0], f"{served} became {now} within one generation"


@scenario(ONE_NAME_IS_ONE_DEFINITION, eras=HANDSHAKE)
async def one_name_twice_in_a_list(server: ScriptedServer, connect: Connect) -> None:
    """A listing with two entries of one name is written."""
    async with connect(server) as wrapper:
        known = wrapper.part("definition_list")()
        twice = _frozen_tools(wrapper, tool("a", "integer"), tool("a", "string"))
        reached(known.write(0, twice, None, 1.0), "the first write was refused")
        with check(ONE_NAME_IS_ONE_DEFINITION):
            assert len(known.all()) == 1, "one name is listed twice"
            assert known.all()[0].canonical == known.definition("a").canonical


@scenario(SHARED_LIST_HANDS_OUT_NO_TOOL, eras=HANDSHAKE)
async def wrapped_tools_of_lists(server: ScriptedServer, connect: Connect) -> None:
    """A list is written without tools; two conversations share a list, and one lists for itself alone."""
    server.has_tools(*V1)
    how = {"context": {"server": "x"}, "tenant": "t"}

    async with connect(server) as wrapper:
        shared = wrapper.part("shared_definitions")(8, 100)
        alone = wrapper.part("definition_list")()
        with check(SHARED_LIST_HANDS_OUT_NO_TOOL):
            assert alone.tool("a") is None, "nothing was written yet"
        alone.write(0, _frozen_tools(wrapper, "a"), None, 1.0)
        async with (
            talk_of(wrapper, server, shared=shared, **how) as one,
            talk_of(wrapper, server) as other,
        ):
            await one.list()
            await other.list()
            entry = _only_entry(shared)
            reached(entry.definition("a"), "nothing was shared")
            with check(SHARED_LIST_HANDS_OUT_NO_TOOL):
                assert alone.tool("a") is None
                assert entry.tool("a") is None, "a shared list hands out the tool of one client"
                assert other.part.own.tool("a") is not None, "an own list has none"


def _only_entry(shared: Any) -> Any:
    found: list[Any] = []

    def look(entry: Any) -> bool:
        found.append(entry.list)
        return False

    shared.invalidate(look)
    reached(len(found) == 1, f"there are {len(found)} shared entries")
    return found[0]


# -- lists on the wire


@scenario(LIST_BELONGS_TO_ONE_INCARNATION, BINDING_NAMES_LIST_AND_GENERATION, eras=HANDSHAKE)
async def replaced_client(server: ScriptedServer, connect: Connect) -> None:
    """A client is replaced by another one of the same plan; the tools are the same as before."""
    server.has_tools(*V1)

    async with talking(server, connect) as talk:
        before, replaced = await talk.list(), server.connections[-1]
        await talk.does("replace")
        await server.settle()
        reached(not replaced.open, "the replaced client was not left, though no call was out")
        mark = server.ledger.mark
        after = await talk.list()
        with check(LIST_BELONGS_TO_ONE_INCARNATION):
            asked = {frame.connection for frame in server.ledger.listings(since=mark)}
            assert asked == {len(server.connections)}, f"asked for the tools on connections {asked}"
        with check(BINDING_NAMES_LIST_AND_GENERATION):
            assert before["a"].generation == after["a"].generation, "another number: nothing can be said"
            assert await talk.refuses(before["a"], "n1"), "a binding of the replaced list was called"
            assert (await talk.call(after["a"], "n2")).ok


@scenario(BINDING_NAMES_LIST_AND_GENERATION, eras=HANDSHAKE)
async def bindings_of_each_other(server: ScriptedServer, connect: Connect) -> None:
    """Two conversations list for themselves; each is given a binding of the other."""
    server.has_tools(*V1)

    async with connect(server) as wrapper, talk_of(wrapper, server) as one, talk_of(wrapper, server) as other:
        mine, others = (await one.list())["a"], (await other.list())["a"]
        reached(mine.generation == others.generation, "another number: nothing can be said")
        with check(BINDING_NAMES_LIST_AND_GENERATION):
            assert await one.refuses(others, "n1"), "called by a binding of a list that was made later"
            assert await other.refuses(mine, "n2"), "called by a binding of a list that was made before"


@scenario(
    SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS,
    OLDER_BINDING_IS_REFUSED_UNSENT,
    BINDING_NAMES_LIST_AND_GENERATION,
    eras=HANDSHAKE,
)
async def tools_of_the_client_itself(server: ScriptedServer, connect: Connect) -> None:
    """The own tool of a client is called after the limit, after a notice, and when the client is replaced."""
    server.has_tools(*V1)

    async with talking(server, connect, ttl=TTL) as talk:
        await talk.list()
        own = talk.part.own.tool("a")
        if not callable(own):
            for rule in (SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS, OLDER_BINDING_IS_REFUSED_UNSENT):
                leave_out(rule, "the tools of its lists cannot be called")
            leave_out(BINDING_NAMES_LIST_AND_GENERATION, "the tools of its lists cannot be called")
            return
        await asyncio.sleep(TTL)
        reached((await talk.lists_with())[1] == 1, "nothing was listed after the limit")
        with check(SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS):
            outcome = await talk.call_own(own, "n1")
            assert outcome.ok, f"the same list came again: {outcome}"
            assert server.ledger.calls("n1"), "not sent with its arguments"
        await server.notify_list_changed()
        with check(OLDER_BINDING_IS_REFUSED_UNSENT):
            outcome = await talk.call_own(own, "n2")
            assert (outcome.kind, server.ledger.calls("n2")) == ("raised", []), "a tool of before the notice"
            await talk.list()
            outcome = await talk.call_own(own, "n3")
            assert (outcome.kind, server.ledger.calls("n3")) == ("raised", []), "a tool of before the notice"
        binding, own = (await talk.list())["a"], talk.part.own.tool("a")
        with server.holding("tools/call") as gate:
            call = talk.start_call(binding, "n4")
            await gate.arrived()
            gate.open()
            await talk.does("replace")
            with check(BINDING_NAMES_LIST_AND_GENERATION):
                outcome = await talk.call_own(own, "n5")
                assert not server.ledger.calls("n5"), f"called through the replaced client: {outcome}"
                assert outcome.kind == "raised"
        await call.ended()


@scenario(
    INVALIDATION_MOVES_THE_GENERATION_AT_ONCE,
    OLDER_BINDING_IS_REFUSED_UNSENT,
    INVALIDATED_LIST_IS_LISTED_AGAIN,
    eras=HANDSHAKE,
)
async def binding_of_before_the_notice(server: ScriptedServer, connect: Connect) -> None:
    """A notice comes, well within the time limit; the relisting is held; a binding of before is called."""
    server.has_tools(*V1)

    async with talking(server, connect, ttl=TTL) as talk:
        old = (await talk.list())["a"]
        server.fails("tools/call")
        failed = await talk.call(old, "n0")
        reached(failed.error is not None, "a call that failed at the server was no error")
        with server.holding("tools/list") as gate:
            await server.notify_list_changed()
            listing = talk.start_listing()
            await server.settle()
            with check(INVALIDATED_LIST_IS_LISTED_AGAIN):
                assert gate.held, "after a notice a list was served without a request"
            call = talk.start_call(old, "n1")
            await server.settle()
            with check(INVALIDATION_MOVES_THE_GENERATION_AT_ONCE):
                assert call.done and call.error is None, "not refused while the relisting is under way"
                assert not server.ledger.calls("n1"), "sent while the relisting is under way"
        new, outcome = await listing.result(), await call.result()
        with check(OLDER_BINDING_IS_REFUSED_UNSENT):
            assert not server.ledger.calls("n1"), f"sent, and then: {outcome}"
            assert type(outcome.error) is not type(failed.error), f"no error of its own: {outcome}"
            assert not isinstance(outcome.error, AttributeError | NameError), (
                f"no error of its own: {outcome}"
            )
            assert await talk.refuses(old, "n2"), "an older binding was called after the relisting"
            assert (await talk.call(new["a"], "n3")).ok


async def _overtaken(rule: Rule, server: ScriptedServer, talk: Talk) -> None:
    """A listing is held, a notice comes, the answer follows: it is neither served nor kept."""
    server.has_tools(*V1)
    mark = server.ledger.mark
    with server.holding("tools/list") as gate:
        listing = talk.start_listing()
        late = await gate.arrived()
        server.has_tools(*V2)
        gate.open()
        await server.notify_list_changed()
        late.release()
        with check(rule):
            assert list(await listing.result()) == ["a", "new"], "served what was listed before the notice"
            assert len(server.ledger.listings(since=mark)) == 2
            served, frames = await talk.lists_with()
            assert (list(served), frames) == (["a", "new"], 0), "kept what was listed before the notice"


@scenario(LISTING_IN_FLIGHT_IS_DISCARDED, eras=HANDSHAKE)
async def listing_overtaken_by_a_notice(server: ScriptedServer, connect: Connect) -> None:
    """A list was served and invalidated; its relisting is overtaken by a second notice."""
    server.has_tools("first")

    async with talking(server, connect, ttl=TTL) as talk:
        await talk.list()
        await server.notify_list_changed()
        await _overtaken(LISTING_IN_FLIGHT_IS_DISCARDED, server, talk)


@scenario(FIRST_LISTING_IN_FLIGHT_IS_DISCARDED, eras=HANDSHAKE)
async def first_listing_overtaken_by_a_notice(server: ScriptedServer, connect: Connect) -> None:
    """The very first listing is overtaken by a notice."""
    async with talking(server, connect, ttl=TTL) as talk:
        await _overtaken(FIRST_LISTING_IN_FLIGHT_IS_DISCARDED, server, talk)


@scenario(RELISTING_IN_FLIGHT_IS_DISCARDED, eras=HANDSHAKE)
async def relisting_overtaken_by_a_notice(server: ScriptedServer, connect: Connect) -> None:
    """A list lapsed, and its relisting is overtaken by a notice."""
    server.has_tools(*V1)

    async with talking(server, connect, ttl=TTL) as talk:
        old = (await talk.list())["a"]
        await asyncio.sleep(TTL)
        await _overtaken(RELISTING_IN_FLIGHT_IS_DISCARDED, server, talk)
        with check(RELISTING_IN_FLIGHT_IS_DISCARDED):
            assert await talk.refuses(old, "n1"), "a binding of before was called"


@scenario(SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS, LAPSE_ALONE_REFUSES_NOTHING, eras=HANDSHAKE)
async def same_list_after_the_limit(server: ScriptedServer, connect: Connect) -> None:
    """A list lapses many times over; its binding is called; then the same list comes again."""
    server.has_tools(*V1)

    async with talking(server, connect, ttl=TTL) as talk:
        old = (await talk.list())["a"]
        await asyncio.sleep(10 * TTL)
        with check(LAPSE_ALONE_REFUSES_NOTHING):
            outcome = await talk.call(old, "n1")
            assert outcome.ok, f"a lapse alone: {outcome}"
        with check(SAME_LIST_AFTER_THE_LIMIT_KEEPS_ITS_BINDINGS):
            served, frames = await talk.lists_with()
            assert frames == 1, "after the time limit"
            outcome = await talk.call(old, "n2")
            assert outcome.ok, f"the same list came again: {outcome}"
            assert (await talk.lists_with())[1] == 0, "the limit did not begin anew"
            assert list(served) == ["a", "old"]


@scenario(OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON, eras=HANDSHAKE, variants=("text", "schema"))
async def other_list_after_the_limit(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A list lapses, and comes again with one letter of a text or one type of a schema changed."""
    server.has_tools(tool("a", "integer"))

    async with talking(server, connect, ttl=TTL) as talk:
        old = (await talk.list())["a"]
        server.has_tools(
            tool("a", "integer", description="The tool A") if how == "text" else tool("a", "string")
        )
        await asyncio.sleep(TTL)
        new, frames = await talk.lists_with()
        reached(frames, "nothing was listed after the limit")
        with check(OTHER_LIST_AFTER_THE_LIMIT_MOVES_ON):
            assert await talk.refuses(old, "n1"), "bound to what the tool was before"
            assert (await talk.call(new["a"], "n2")).ok


@scenario(AGE_COUNTS_FROM_THE_WRITE, eras=HANDSHAKE)
async def slow_listing(server: ScriptedServer, connect: Connect) -> None:
    """A listing is answered after nine tenths of the time limit; its age counts from then on."""
    server.has_tools(*V1)

    async with talking(server, connect, ttl=10.0) as talk:
        with server.holding("tools/list") as gate:
            listing = talk.start_listing()
            await gate.arrived()
            await asyncio.sleep(9.0)
        await listing.result()
        with check(AGE_COUNTS_FROM_THE_WRITE):
            await asyncio.sleep(9.0)
            assert (await talk.lists_with())[1] == 0, "nine seconds after the answer, of ten"
            await asyncio.sleep(1.0)
            assert (await talk.lists_with())[1] == 1, "ten seconds after the answer, of ten"


@scenario(SAME_NEED_JOINS_ONE_LISTING, eras=HANDSHAKE)
async def three_needs_at_once(server: ScriptedServer, connect: Connect) -> None:
    """Three lists are asked for while the first one is under way."""
    server.has_tools(*V1)

    async with talking(server, connect) as talk:
        with server.holding("tools/list") as gate:
            listings = [talk.start_listing()]
            await gate.arrived()
            listings += [talk.start_listing() for _ in range(2)]
            await server.settle()
        with check(SAME_NEED_JOINS_ONE_LISTING):
            assert [list(await each.result()) for each in listings] == [["a", "old"]] * 3
            assert len(server.ledger.listings()) == 1


@scenario(
    LATER_NEED_GETS_A_LATER_LISTING, ONE_LISTING_WRITES_A_LIST, eras=HANDSHAKE, variants=("late", "failed")
)
async def needs_after_the_notice(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A listing is held; a notice comes; two more users ask; then the held answer comes, or fails."""
    server.has_tools(*V1)

    async with talking(server, connect) as talk:
        with server.holding("tools/list") as gate:
            first = talk.start_listing()
            late = await gate.arrived()
            server.has_tools(*V2)
            await server.notify_list_changed()
            later = [talk.start_listing() for _ in range(2)]
            await server.settle()
            late.fail() if how == "failed" else late.release()
            await server.settle()
            with check(ONE_LISTING_WRITES_A_LIST):
                out = [each for each in gate.held[1:] if each.waiting]
                assert len(out) <= 1, f"after the notice, {len(out)} listings of one list at a time"
        with check(LATER_NEED_GETS_A_LATER_LISTING):
            for each in later:
                assert list(await each.result()) == ["a", "new"], "answered by what was listed before"
        await first.ended()
        with check(ONE_LISTING_WRITES_A_LIST):
            served, frames = await talk.lists_with()
            assert (list(served), frames) == (["a", "new"], 0)


@scenario(FAILED_LISTING_WRITES_NOTHING, eras=HANDSHAKE, variants=("first", "lapsed", "shared"))
async def listing_that_fails(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Two users wait for a listing that fails, the first one or one after the limit; then all is well."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        shared = {"shared": wrapper.part("shared_definitions")(8, 100)} if how == "shared" else {}
        async with talk_of(wrapper, server, ttl=TTL, **shared) as talk:
            old = {} if how == "first" else await talk.list()
            await asyncio.sleep(TTL)
            with server.holding("tools/list") as gate:
                listings = [talk.start_listing() for _ in range(2)]
                (await gate.arrived()).fail()
                gate.open()
                await server.settle()
            with check(FAILED_LISTING_WRITES_NOTHING):
                for each in listings:
                    assert await each.ended()
                    assert isinstance(each.error, Exception), "served, though the listing failed"
                assert not old or (await talk.call(old["a"], "n1")).ok, "the failure ended a binding"
                served, frames = await talk.lists_with()
                assert (list(served), frames) == (["a", "old"], 1), "the next need after the failure"
                assert not old or (await talk.call(old["a"], "n2")).ok, "the same list came again"


@scenario(CANCELLED_JOINER_LEAVES_THE_LISTING_TO_THE_OTHERS, eras=HANDSHAKE, variants=("starter", "joiner"))
async def joiner_that_gives_up(server: ScriptedServer, connect: Connect, how: str) -> None:
    """Three users wait for one listing; the one who began it, or another one, gives up."""
    server.has_tools(*V1)

    async with talking(server, connect) as talk:
        with server.holding("tools/list") as gate:
            listings = [talk.start_listing()]
            await gate.arrived()
            listings += [talk.start_listing() for _ in range(2)]
            await server.settle()
            await listings.pop(0 if how == "starter" else 1).cancel()
            await server.settle()
        with check(CANCELLED_JOINER_LEAVES_THE_LISTING_TO_THE_OTHERS):
            assert [list(await each.result()) for each in listings] == [["a", "old"]] * 2
            assert not server.ledger.frames("notifications/cancelled"), "the server was told to give up"
            assert len(server.ledger.listings()) == 1


ENDS: tuple[tuple[Rule, Callable[[Talk], Awaitable[Any]]], ...] = (
    (NOTICE_INVALIDATES_ITS_CLIENTS_LIST, lambda talk: talk.server.notify_list_changed()),
    (CHANGED_PERMISSIONS_INVALIDATE, lambda talk: talk.does("permissions_changed")),
    (CHANGED_TOOLS_INVALIDATE, lambda talk: talk.does("tools_changed")),
    (CHANGED_CONFIGURATION_IS_A_NEW_LIST, lambda talk: talk.does("reconfigure", {"server": "y"})),
)


@scenario(*(rule for rule, _ in ENDS), variants=("own", "shared"))
async def what_ends_a_list(server: ScriptedServer, connect: Connect, whose: str) -> None:
    """A list, a client's own or a shared one, ends by a notice, and by what the application says."""
    server.has_tools(*V1)

    async with connect(server) as wrapper, AsyncExitStack() as stack:
        how: dict[str, Any] = {"context": {"server": "x"}, "tenant": "t"}
        if whose == "shared":
            how["shared"] = wrapper.part("shared_definitions")(8, 100)
        talk = await stack.enter_async_context(talk_of(wrapper, server, **how))
        for place, (rule, end) in enumerate(ENDS):
            old = await talk.list()
            reached((await talk.lists_with())[1] == 0, "no list was kept")
            await end(talk)
            with check(rule):
                assert await talk.refuses(old["a"], f"old {place}"), "a binding of before was called"
                new, frames = await talk.lists_with()
                assert frames == 1, "the list of before was served"
                assert (await talk.call(new["a"], f"new {place}")).ok
                if rule is CHANGED_CONFIGURATION_IS_A_NEW_LIST:
                    assert new["a"].list_id != old["a"].list_id, "the same list, used again"


@scenario(LATE_NOTICE_LEAVES_THE_NEW_INCARNATION_ALONE, NOTICE_INVALIDATES_ITS_CLIENTS_LIST, eras=HANDSHAKE)
async def notice_on_the_replaced_client(server: ScriptedServer, connect: Connect) -> None:
    """A client is replaced while a call is out on it; a notice arrives on it, and one on its successor."""
    server.has_tools(*V1)

    async with talking(server, connect) as talk:
        old = (await talk.list())["a"]
        before = server.connections[-1]
        with server.holding("tools/call") as gate:
            call = talk.start_call(old, "n1")
            await gate.arrived()
            await talk.does("replace")
            new = await talk.list()
            gate.open()
            reached(await server.notify_list_changed(connections=[before]), "the old connection was closed")
            with check(LATE_NOTICE_LEAVES_THE_NEW_INCARNATION_ALONE):
                assert (await talk.call(new["a"], "n2")).ok, "refused for what another client was told"
                assert (await talk.lists_with())[1] == 0, "listed again for what another client was told"
            await server.notify_list_changed(connections=[server.connections[-1]])
            with check(NOTICE_INVALIDATES_ITS_CLIENTS_LIST):
                assert await talk.refuses(new["a"], "n3"), "called by a binding of before the notice"
        await call.ended()
        await server.settle()
        reached(not before.open, "the replaced client was not left with the answer to its last call")


@scenario(LIST_BELONGS_TO_ONE_INCARNATION, CLOSE_ENDS_EVERYTHING_IT_OPENED, eras=HANDSHAKE)
async def conversation_that_is_cut_short(server: ScriptedServer, connect: Connect) -> None:
    """A call is out on a replaced client, and another replacement is given up; then all is cancelled."""
    server.has_tools(*V1)

    async with connect(server) as wrapper:
        wrapper.part("conversation")
        before = len(server.connections)
        with anyio.CancelScope() as scope:
            async with talk_of(wrapper, server) as talk:
                old = (await talk.list())["a"]
                with server.holding("tools/call") as calls:
                    talk.start_call(old, "n1")
                    await calls.arrived()
                    calls.open()
                    await talk.does("replace")
                    with server.holding("initialize") as dials, anyio.move_on_after(1.0) as given_up:
                        await talk.part.replace()
                    reached(given_up.cancelled_caught and dials.held, "the second replacement was no dial")
                    with check(LIST_BELONGS_TO_ONE_INCARNATION):
                        assert list(await talk.list()) == ["a", "old"], "no client is in use any more"
                    calls.held[0].drop()
                scope.cancel()
                await asyncio.sleep(1.0)
        with check(CLOSE_ENDS_EVERYTHING_IT_OPENED):
            left = [each.number for each in server.connections[before:] if each.open]
            assert not left, f"connections {left} of the conversation are open"


@scenario(PAGES_ARE_WRITTEN_ONCE_AND_WHOLE, eras=HANDSHAKE, variants=("whole", "notice", "failed"))
async def list_in_three_pages(server: ScriptedServer, connect: Connect, how: str) -> None:
    """The second page of a first listing is held: it comes, or after a notice, or it fails."""
    server.pages(["a"], ["b"], ["c"])

    async with talking(server, connect) as talk:
        with server.holding("tools/list", when=lambda page: page.params.get("cursor") == "c2") as gate:
            listing = talk.start_listing()
            with check(PAGES_ARE_WRITTEN_ONCE_AND_WHOLE):
                assert await arrives_or_ends(gate, listing), "the first page was served alone"
            second = gate.held[0] if gate.held else await gate.arrived()
            if how == "notice":
                server.pages(["d"], ["e"], ["f"])
                await server.notify_list_changed()
            gate.open()
            second.fail() if how == "failed" else second.release()
            await listing.ended()
        whole = ["d", "e", "f"] if how == "notice" else ["a", "b", "c"]
        with check(PAGES_ARE_WRITTEN_ONCE_AND_WHOLE):
            if how == "failed":
                assert listing.error is not None, "served without its second page"
            else:
                assert list(await listing.result()) == whole
            served, frames = await talk.lists_with()
            assert list(served) == whole
            assert frames == (3 if how == "failed" else 0)


@scenario(SEVERAL_NOTICES_ARE_ONE_RELISTING, eras=HANDSHAKE)
async def three_notices(server: ScriptedServer, connect: Connect) -> None:
    """Three notices come before anybody asks again."""
    server.has_tools(*V1)

    async with talking(server, connect) as talk:
        await talk.list()
        mark = server.ledger.mark
        for _ in range(3):
            await server.notify_list_changed()
        await talk.list()
        await server.settle()
        with check(SEVERAL_NOTICES_ARE_ONE_RELISTING):
            assert len(server.ledger.listings(since=mark)) == 1


@scenario(BINDING_IS_CHECKED_AFTER_EVERY_WAIT, eras=HANDSHAKE)
async def notice_while_a_call_waits(server: ScriptedServer, connect: Connect) -> None:
    """A call waits for approval; meanwhile the tools change; then it is approved."""
    server.has_tools(*V1)
    asked, approved = asyncio.Event(), asyncio.Event()

    async def approve(binding: Any, arguments: Any) -> None:
        asked.set()
        await approved.wait()

    async with talking(server, connect, approve=approve) as talk:
        old = (await talk.list())["a"]
        call = talk.start_call(old, "n1")
        await server.settle()
        reached(asked.is_set() and not server.ledger.calls("n1"), "the call did not wait for approval")
        await server.notify_list_changed()
        approved.set()
        outcome = await call.result()
        with check(BINDING_IS_CHECKED_AFTER_EVERY_WAIT):
            assert not server.ledger.calls("n1"), f"sent by a binding of before: {outcome}"
            assert outcome.kind == "raised"


@scenario(CALL_ON_THE_WIRE_IS_LEFT_ALONE, eras=HANDSHAKE, variants=("good", "bad", "no result"))
async def notice_under_a_call(server: ScriptedServer, connect: Connect, how: str) -> None:
    """A call is out; its tool changes, and is listed anew; then comes the answer."""
    server.has_tools(*V1)
    server.answers("a", 1 if how == "good" else "bad")
    if how == "no result":
        server.gives("tools/call", {"content": "no list of parts"})

    async with talking(server, connect) as talk:
        old = (await talk.list())["a"]
        with server.holding("tools/call") as gate:
            call = talk.start_call(old, "n1")
            await gate.arrived()
            server.has_tools(*V2)
            await server.notify_list_changed()
            await talk.list()
            with check(CALL_ON_THE_WIRE_IS_LEFT_ALONE):
                assert not call.done, f"ended by the notice: {call.error}"
        outcome = await call.result()
        with check(CALL_ON_THE_WIRE_IS_LEFT_ALONE):
            assert outcome.ok is (how == "good"), f"an integer was promised: {outcome}"
            assert len(server.ledger.calls("n1")) == 1, "sent again"
            assert not server.ledger.frames("notifications/cancelled"), "recalled"


@scenario(ODD_ENTRY_SPARES_THE_OTHERS, eras=HANDSHAKE)
async def odd_entry_between_good_ones(server: ScriptedServer, connect: Connect) -> None:
    """Of three tools the middle one holds a number that JSON does not have."""
    odd = tool("odd", "integer")
    odd["outputSchema"]["properties"]["out"]["maximum"] = math.nan
    server.has_tools(tool("a", "integer"), odd, tool("z", "integer"))

    async with talking(server, connect) as talk:
        with check(ODD_ENTRY_SPARES_THE_OTHERS):
            served = await talk.list()
            assert list(served) == ["a", "z"]
            for name in ("a", "z"):
                outcome = await talk.call(served[name], name)
                assert outcome.ok, f"a good answer of {name}: {outcome}"
        reached(server.ledger.calls("z"), "the call was not sent")


@scenario(ONE_NAME_IS_ONE_DEFINITION, eras=HANDSHAKE)
async def one_name_twice_on_the_wire(server: ScriptedServer, connect: Connect) -> None:
    """One name is listed with an integer and with a text; whichever is shown also judges the answers."""
    server.has_tools(tool("a", "integer"), tool("a", "string"))

    async with talking(server, connect) as talk:
        found = await _bindings(talk)
        with check(ONE_NAME_IS_ONE_DEFINITION):
            assert len(found) == 1, "one name is handed out twice"
            shown = found[0].definition.listed["outputSchema"]["properties"]["out"]["type"]
            for answer, kind in ((1, "integer"), ("x", "string")):
                server.answers("a", answer)
                outcome = await talk.call(found[0], kind)
                assert outcome.ok is (kind == shown), f"shown with {shown}, answered with {kind}: {outcome}"
        reached(server.ledger.calls(), "no call was sent")


async def _bindings(talk: Talk) -> list[Any]:
    return list(await talk.part.list_tools())
