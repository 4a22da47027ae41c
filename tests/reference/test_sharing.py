"""Shared entries against a model of them, and what the catalogue cannot see."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_conformance_reference import (
    MAX_DEFINITION_ENTRIES,
    MAX_SHARED_TOOLS,
    Conversation,
    SharedDefinitions,
    context_of,
    definition_of,
)

from tests.reference.peer import Peer, tool
from tests.reference.virtual import passes, play

unhurried = settings(deadline=None, database=None, max_examples=200)

names = st.text(st.sampled_from("ab/|\\0,\"'[]\n"), max_size=4)


@unhurried
@given(names, names, names, names)
def test_two_pairs_of_context_and_tenant_never_share_an_entry(a: str, b: str, c: str, d: str) -> None:
    shared = SharedDefinitions(4, 4)
    one, other = shared.entry_for(a, b), shared.entry_for(c, d)
    assert (one is other) is ((a, b) == (c, d))
    assert (one.tenant, other.tenant) == (b, d)


@unhurried
@given(st.dictionaries(names, names, max_size=3), st.dictionaries(names, names, max_size=3))
def test_two_configurations_have_one_text_only_if_they_are_one(
    one: dict[str, str], other: dict[str, str]
) -> None:
    assert (context_of(one) == context_of(other)) is (one == other)
    assert context_of(dict(reversed(one.items()))) == context_of(one)


used = st.tuples(st.sampled_from(["use", "peek", "forget"]), st.sampled_from("abcdef"))


@unhurried
@given(st.integers(1, 4), st.lists(used, max_size=60))
def test_the_least_recently_used_entry_goes_first(bound: int, script: list[tuple[str, str]]) -> None:
    shared, model, dropped = SharedDefinitions(bound, 4), OrderedDict[str, Any](), []
    for what, context in script:
        if what == "use":
            entry = shared.entry_for(context, "t")
            assert entry is model.get(context, entry)
            assert entry not in dropped
            model[context] = entry
            model.move_to_end(context)
            if len(model) > bound:
                dropped.append(model.popitem(last=False)[1])
        elif what == "peek":
            assert shared.peek(context, "t") is model.get(context)
        elif context in model:
            entry = model.pop(context)
            shared.forget(entry.list)
            dropped.append(entry)
        assert shared.size == len(model)
        assert {each: shared.peek(each, "t") for each in "abcdef"} == {
            each: model.get(each) for each in "abcdef"
        }


def test_the_bounds_are_stated_and_an_entry_needs_room() -> None:
    shared = SharedDefinitions()
    assert (shared.max_entries, shared.max_tools) == (MAX_DEFINITION_ENTRIES, MAX_SHARED_TOOLS)
    assert SharedDefinitions(1).entry_for("x", "t").list is not None
    with pytest.raises(ValueError, match="max_entries is 0"):
        SharedDefinitions(0)


def test_a_configuration_that_is_no_plain_json_is_refused_and_changes_nothing() -> None:
    async def script() -> None:
        async with Conversation(Peer("handshake", "a").streams, context={"x": 1}) as talk:
            [binding] = await talk.list_tools()
            with pytest.raises(ValueError, match="not plain JSON"):
                talk.reconfigure({"x": {1}})
            assert not (await talk.call(binding)).is_error

    play(script)


def test_permissions_of_one_tenant_leave_the_lists_of_another_alone() -> None:
    async def script() -> None:
        peer, shared = Peer("handshake", "a"), SharedDefinitions(8, 8)
        async with (
            Conversation(peer.streams, shared=shared, tenant="t") as one,
            Conversation(peer.streams, shared=shared, tenant="t", context={"x": 1}) as same,
            Conversation(peer.streams, shared=shared, tenant="u") as other,
        ):
            for each in (one, same, other):
                await each.list_tools()
            one.permissions_changed()
            for each in (one, same, other):
                await each.list_tools()
            assert peer.lists == 3 + 2

    play(script)


def test_a_list_that_can_be_shared_again_ends_the_bindings_of_the_one_that_could_not() -> None:
    async def script() -> None:
        peer, shared = Peer("handshake", "a", "b", "c"), SharedDefinitions(8, 2)
        async with Conversation(peer.streams, shared=shared, ttl=10.0) as talk:
            long = (await talk.list_tools())[0]
            assert talk.own.admits(long)
            peer.has(tool("a", description="another"), "b")
            await passes(10.0)
            short = (await talk.list_tools())[0]
            assert not talk.admits(long)
            assert talk.admits(short) and not talk.own.written
            assert shared.peek(context_of({}), "") is not None

    play(script)


def test_a_long_list_that_is_overtaken_is_kept_by_nobody() -> None:
    async def script() -> None:
        peer, shared = Peer("handshake", "a", "b", "c"), SharedDefinitions(8, 2)
        async with Conversation(peer.streams, shared=shared) as talk:

            def changing(_: Any) -> Any:
                answer = {"result": {"tools": peer.tools}}
                peer.line.tools_changed()
                peer.has("new")
                return answer

            peer.next["tools/list"].append(changing)
            assert [each.name for each in await talk.list_tools()] == ["new"]
            assert not talk.own.written

    play(script)


def test_a_listed_tool_is_plain_data_for_all_who_share_it() -> None:
    shared = SharedDefinitions(1, 1)
    known = shared.entry_for("x", "t").list
    assert known.write(0, [definition_of(tool("a"))], None, 1.0)
    assert known.tool("a") is None
