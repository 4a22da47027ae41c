"""One definition list: whatever is done to it in whatever order, and what the catalogue cannot see."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_conformance_reference import (
    Binding,
    CallFailed,
    Conversation,
    DefinitionList,
    DialFailed,
    ListFailed,
    StaleTool,
    VerbTimeout,
    definition_of,
)
from mcp_conformance_reference.definitions import canonical, plain_copy
from mcp_conformance_reference.walk import LeftOut, Walk

from tests.reference.peer import Peer, tool
from tests.reference.virtual import play, settle

unhurried = settings(deadline=None, database=None, max_examples=200)

texts = st.text(st.characters(codec="utf-8"), max_size=6)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def same_json(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: the order of keys means nothing, everything else does."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return repr(one) == repr(other)  # -0.0 is not 0.0


def reordered(value: Any) -> Any:
    """The same JSON with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(each) for each in value] if isinstance(value, list) else value


@unhurried
@given(json_values, json_values)
def test_the_canonical_form_tells_apart_what_differs_and_nothing_else(one: Any, other: Any) -> None:
    assert canonical(one) == canonical(reordered(one))
    assert (canonical(one) == canonical(other)) is same_json(one, other)


@unhurried
@given(json_values)
def test_a_plain_copy_is_equal_and_shares_nothing_that_can_be_edited(value: Any) -> None:
    copied = plain_copy(value)
    assert same_json(copied, value)
    assert not {id(each) for each in parts(copied)} & {id(each) for each in parts(value)}


def parts(value: Any) -> list[Any]:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return [] if inner is None else [value, *(part for each in inner for part in parts(each))]


TOOLS = [definition_of(tool(name, description=text)) for name in "abc" for text in ("one", "two")]

steps = st.one_of(
    st.just(("invalidate",)),
    st.just(("begin",)),
    st.tuples(st.just("write"), st.integers(0, 5), st.lists(st.sampled_from(TOOLS), max_size=4)),
    st.tuples(st.just("pass"), st.floats(0, 100)),
)


@unhurried
@given(st.lists(steps, max_size=40))
def test_a_list_keeps_its_promises_whatever_is_done_to_it(script: list[tuple[Any, ...]]) -> None:
    known, now, begun, handed_out = DefinitionList(), 0.0, [0], {}
    invalidated = False
    for step in script:
        before = (known.generation, known.stale, known.listed_at, known.all())
        if step[0] == "invalidate":
            known.invalidate()
            invalidated = True
            assert known.generation > before[0] and known.stale
        elif step[0] == "begin":
            begun.append(known.generation)
        elif step[0] == "pass":
            now += step[1]
        else:
            began = begun[step[1] % len(begun)]
            written = known.write(began, step[2], None, now)
            assert written is (began == before[0])
            if written:
                invalidated = False
                assert (known.stale, known.listed_at) == (False, now)
                assert {each.name: each for each in known.all()} == {each.name: each for each in step[2]}
            else:
                assert (known.generation, known.stale, known.listed_at, known.all()) == before
        assert known.generation >= before[0]
        assert known.servable(now, math.inf) is (known.written and not invalidated)
        assert not known.servable(now, 0.0)
        if known.written and not known.stale:
            shown = {each.name: each for each in known.all()}
            assert handed_out.setdefault(known.generation, shown) == shown, "one generation, two lists"
        for each in known.all():
            assert known.definition(each.name) is each
            assert known.admits(known.bind(each))


def test_a_binding_of_another_list_or_generation_is_not_admitted() -> None:
    one, other = DefinitionList(), DefinitionList()
    for each in (one, other):
        each.write(0, TOOLS[:1], None, 1.0)
    binding = one.bind(TOOLS[0])
    assert binding == Binding(TOOLS[0], one.id, 1) and binding.name == "a"
    assert one.admits(binding) and not other.admits(binding)
    one.invalidate()
    assert not one.admits(binding)


def test_the_tools_of_an_own_list_stay_the_same_objects_while_the_list_does() -> None:
    class Wrapped:
        name = "a"

    known, first, second = DefinitionList(), Wrapped(), Wrapped()
    known.write(0, TOOLS[:1], [first], 1.0)
    known.write(1, TOOLS[:1], [second], 2.0)
    assert known.tool("a") is first
    known.invalidate()
    known.write(2, TOOLS[:1], [second], 3.0)
    assert known.tool("a") is second
    assert known.tool("b") is None


async def talking(talk: Conversation) -> list[str]:
    return [binding.name for binding in await talk.list_tools()]


def test_a_wrapped_tool_is_good_while_its_list_is_served_with_it(era: str) -> None:
    async def script() -> None:
        async with Conversation(Peer(era, "a").streams, era=era) as talk:
            await talk.list_tools()
            wrapped: Any = talk.own.tool("a")
            assert not (await wrapped({"nonce": "n1"})).is_error
            talk.tools_changed()
            with pytest.raises(StaleTool):
                await wrapped()
            await talk.list_tools()
            with pytest.raises(StaleTool):
                await wrapped()
            assert not (await talk.own.tool("a")()).is_error

    play(script)


def test_a_call_and_a_listing_have_a_limit() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with Conversation(peer.streams, timeout=3.0) as talk:
            peer.hold("tools/list")
            with pytest.raises(VerbTimeout, match="3 s"):
                await talk.list_tools()
            peer.take()
            [binding] = await talk.list_tools()
            peer.hold("tools/call")
            with pytest.raises(VerbTimeout, match="3 s"):
                await talk.call(binding)

    play(script)


def test_a_listing_that_nobody_waits_for_any_more_is_given_up_and_writes_nothing() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with Conversation(peer.streams) as talk:
            peer.hold("tools/list")
            listing = asyncio.ensure_future(talk.list_tools())
            await settle()
            listing.cancel()
            late = peer.take()
            await settle()
            late.release()
            await settle()
            assert not talk.own.written
            assert len(peer.cancelled) == 1
            assert await talking(talk) == ["a"]

    play(script)


def test_a_list_that_changes_under_every_listing_is_an_error_in_the_end() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with Conversation(peer.streams) as talk:

            def changing(_: Any) -> Any:
                peer.line.tools_changed()
                return {"result": {"tools": peer.tools}}

            peer.next["tools/list"].extend([changing] * 20)
            with pytest.raises(ListFailed, match="changed during each of 20"):
                await talk.list_tools()
            assert await talking(talk) == ["a"]

    play(script)


def test_a_failed_dial_leaves_the_incarnation_before_in_use() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with Conversation(peer.streams) as talk:
            [binding] = await talk.list_tools()
            peer.refuse = ConnectionRefusedError("no")
            with pytest.raises(DialFailed):
                await talk.replace()
            assert not (await talk.call(binding)).is_error
        assert peer.live == 0

    play(script)


def test_a_replaced_incarnation_is_left_with_the_answer_to_its_last_call() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with Conversation(peer.streams) as talk:
            [binding] = await talk.list_tools()
            peer.hold("tools/call")
            call = asyncio.ensure_future(talk.call(binding))
            await settle()
            await talk.replace()
            assert peer.live == 2
            peer.take().release()
            assert not (await call).is_error
            await settle()
            assert peer.live == 1
            await talk.replace()
            assert peer.live == 1
        assert peer.live == 0

    play(script)


def test_a_listing_on_a_replaced_client_is_done_again_on_the_new_one() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with Conversation(peer.streams) as talk:
            peer.hold("tools/list")
            listing = asyncio.ensure_future(talking(talk))
            await settle()
            peer.holding.clear()
            await talk.replace()
            assert await listing == ["a"]
            assert peer.lists == 2

    play(script)


def test_answers_that_are_none_fail_the_call() -> None:
    async def script() -> None:
        peer = Peer("handshake", "a")
        async with Conversation(peer.streams) as talk:
            [binding] = await talk.list_tools()
            peer.fails("tools/call", -32602, "no such tool")
            with pytest.raises(CallFailed, match="no such tool"):
                await talk.call(binding)
            peer.results["a"] = {"content": "none"}
            with pytest.raises(CallFailed):
                await talk.call(binding)

    play(script)


def test_an_entry_that_is_nested_without_end_in_sight_is_left_out() -> None:
    deep: Any = "end"
    for _ in range(50_000):
        deep = [deep]

    async def script() -> None:
        peer = Peer("handshake", "a")
        peer.next["tools/list"].append(
            lambda _: {"result": {"tools": [tool("a"), {**tool("deep"), "x": 1}, tool("z")]}}
        )
        async with Conversation(peer.streams) as talk:
            assert await talking(talk) == ["a", "deep", "z"]
            walk = Walk(talk.client._connection, talk._settings, lambda: False)
            read = walk.read_entry({**tool("deep"), "x": deep})
            assert isinstance(read, LeftOut) and "nested" in read.reason

    play(script)
