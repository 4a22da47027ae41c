"""Whether an answer is what the tool promised, and by which listing that is decided."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp_conformance_reference import CheckFailed, ListFailed, ReferenceClient, SchemaUnusable, StaleTool

from tests.reference.peer import Peer, tool, value
from tests.reference.virtual import play, settle


def with_schema(name: str, schema: Any) -> dict[str, Any]:
    return {**tool(name), "outputSchema": schema}


async def by_name(client: ReferenceClient, name: str) -> Any:
    return name


async def by_handle(client: ReferenceClient, name: str) -> Any:
    return await client.bind(name)


either = pytest.mark.parametrize("pick", [by_name, by_handle])


@either
def test_an_answer_that_breaks_the_schema_is_refused_and_can_still_be_read(era: str, pick: Any) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.results["a"] = value(1)
            assert (await client.call_tool(await pick(client, "a"))).structured_content == {"value": 1}
            peer.results["a"] = value("x", text="id 42")
            with pytest.raises(CheckFailed, match="output schema") as caught:
                await client.call_tool(await pick(client, "a"))
            assert caught.value.result.text == "id 42"
            assert caught.value.result.structured_content == {"value": "x"}

    play(script)


def test_no_structured_content_where_one_was_promised_is_refused(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"), "free")
        peer.results["a"] = {"content": [{"type": "text", "text": "only"}], "isError": False}
        async with ReferenceClient(peer.streams, era=era) as client:
            with pytest.raises(CheckFailed, match="no structuredContent") as caught:
                await client.call_tool("a")
            assert caught.value.result.text == "only"
            assert not (await client.call_tool("free")).has_structured_content

    play(script)


def test_a_tool_that_failed_is_not_judged(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            for more in ({}, {"structuredContent": {"value": "x"}}):
                peer.results["a"] = {"content": [{"type": "text", "text": "try x"}], "isError": True, **more}
                result = await client.call_tool("a")
                assert result.is_error
                assert result.text == "try x"

    play(script)


def test_any_json_value_is_a_value(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, with_schema("a", {"type": ["null", "array", "number", "boolean"]}))
        async with ReferenceClient(peer.streams, era=era) as client:
            for given in (None, [], 0, False):
                peer.results["a"] = {"content": [], "structuredContent": given}
                result = await client.call_tool("a")
                assert result.has_structured_content
                assert result.structured_content == given
            peer.results["a"] = {"content": [], "structuredContent": "s"}
            with pytest.raises(CheckFailed):
                await client.call_tool("a")

    play(script)


# -- which listing


@either
@pytest.mark.parametrize("how", ["notice", "refresh"])
def test_answers_are_judged_by_the_newest_listing(era: str, pick: Any, how: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has(tool("a", "string"))
            if how == "notice":
                peer.line.tools_changed()
                await settle()
            else:
                await client.refresh()
            peer.results["a"] = value("x")
            assert (await client.call_tool(await pick(client, "a"))).structured_content == {"value": "x"}
            peer.results["a"] = value(1)
            with pytest.raises(CheckFailed):
                await client.call_tool(await pick(client, "a"))

    play(script)


def test_an_older_listing_answered_late_does_not_bring_its_schemas_back(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/list")
            late = asyncio.ensure_future(client.list_tools())
            await settle()
            older = peer.take()
            peer.has(tool("a", "string"))
            await client.refresh()
            older.release()
            handle = (await late)[0]
            peer.results["a"] = value("x")
            assert (await client.call_tool("a")).structured_content == {"value": "x"}
            assert (await client.call_tool(handle)).structured_content == {"value": "x"}

    play(script)


def test_a_listing_that_was_thrown_away_changes_no_check(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.line.tools_changed()
            peer.has("a")
            peer.hold("tools/list")
            waiting = asyncio.ensure_future(client.refresh())
            await settle()
            peer.has(tool("a", "integer"))
            peer.line.tools_changed()
            await settle()
            peer.take().release()
            peer.results["a"] = value("bad")
            with pytest.raises(CheckFailed):
                await client.call_tool("a")
            await waiting

    play(script)


def test_a_list_answered_from_what_is_kept_rolls_nothing_back(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.has(tool("a", "string"))
            await client.refresh()
            await client.list_tools()
            assert peer.lists == 2
            peer.results["a"] = value("x")
            await client.call_tool("a")

    play(script)


@either
def test_an_answer_is_judged_by_what_was_known_when_its_call_left(era: str, pick: Any) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            for given, good in ((1, True), ("x", False)):
                peer.has(tool("a", "integer"))
                await client.refresh()
                peer.hold("tools/call")
                peer.results["a"] = value(given)
                call = asyncio.ensure_future(client.call_tool(await pick(client, "a")))
                await settle()
                peer.has(tool("a", "string"))
                await client.refresh()
                peer.take().release()
                if good:
                    assert (await call).structured_content == {"value": 1}
                else:
                    with pytest.raises(CheckFailed):
                        await call

    play(script)


def test_tools_of_every_page_are_checked(era: str) -> None:
    async def script() -> None:
        peer = Peer(era)
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.pages(
                {"tools": [tool("a", "integer")], "nextCursor": "2"},
                {"tools": [tool("b", "integer")], "nextCursor": "3"},
                {"tools": [tool("c", "integer")]},
            )
            await client.list_tools()
            for name in "abc":
                peer.results[name] = value("wrong")
                with pytest.raises(CheckFailed):
                    await client.call_tool(name)
            assert peer.lists == 3

    play(script)


@pytest.mark.parametrize("how", ["error", "malformed", "second page"])
def test_a_failed_listing_leaves_the_checks_as_they_were(era: str, how: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            if how == "malformed":
                peer.next["tools/list"].append(lambda _: {"result": {"tools": None}})
            if how == "second page":
                peer.pages({"tools": [tool("a", "string")], "nextCursor": "2"})
            if how != "malformed":
                peer.fails("tools/list")
            with pytest.raises(ListFailed):
                await client.refresh()
            peer.results["a"] = value("x")
            with pytest.raises(CheckFailed):
                await client.call_tool("a")

    play(script)


@pytest.mark.parametrize("by", ["name", "handle"])
def test_a_tool_that_was_promised_and_is_gone_is_not_called(era: str, by: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"), "kept")
        async with ReferenceClient(peer.streams, era=era) as client:
            handle = await client.bind("a")
            peer.has("kept")
            peer.line.tools_changed()
            await settle()
            with pytest.raises(StaleTool, match="lacks it"):
                await client.call_tool("a" if by == "name" else handle)
            assert peer.calls == 0

    play(script)


def test_k_calls_do_not_cost_k_listings(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        peer.ttl = 0 if era == "modern" else None
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            for _ in range(5):
                await client.call_tool("a")
                await client.call_tool("never listed")
            assert (peer.lists, peer.calls) == (1, 10)

    play(script)


# -- schemas that cannot judge

UNUSABLE = {
    "pattern": {"type": "object", "properties": {"value": {"type": "string", "pattern": "("}}},
    "reference": {"type": "object", "properties": {"value": {"$ref": "#/$defs/nowhere"}}},
    "network": {"type": "object", "properties": {"value": {"$ref": "https://example.invalid/schema.json"}}},
    "keyword": {"type": "object", "properties": {"value": {"type": "numeral"}}},
    "dialect": {"$schema": "urn:x", "type": "object"},
    "no dialect": {"$schema": 7, "type": "object"},
    "no schema": ["object"],
    "a text": "object",
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_schema_that_cannot_judge_touches_its_own_tool_alone(era: str, kind: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"), with_schema("bad", UNUSABLE[kind]), tool("z", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            assert await client.names() == ["a", "bad", "z"]
            with pytest.raises(SchemaUnusable, match=r"^bad: .*nothing was sent"):
                await client.call_tool("bad")
            assert peer.calls == 0
            for name in "az":
                peer.results[name] = value(1)
                await client.call_tool(name)
                peer.results[name] = value("x")
                with pytest.raises(CheckFailed):
                    await client.call_tool(name)

    play(script)


def test_an_unknown_dialect_is_named(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, with_schema("a", {"$schema": "urn:x", "type": "object"}))
        async with ReferenceClient(peer.streams, era=era) as client:
            with pytest.raises(SchemaUnusable, match="urn:x"):
                await client.call_tool("a")

    play(script)


def pair(**more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"value": {"type": "array", **more.pop("array")}}, **more}


@pytest.mark.parametrize(
    "schema",
    [
        pair(array={"prefixItems": [{"type": "integer"}]}),
        pair(
            array={"items": [{"type": "integer"}]},
            **{"$schema": "http://json-schema.org/draft-07/schema#"},
        ),
        pair(
            array={"items": [{"type": "integer"}]},
            **{"$schema": "http://json-schema.org/draft-07/schema"},
        ),
        pair(
            array={"prefixItems": [{"type": "integer"}]},
            **{"$schema": "https://json-schema.org/draft/2020-12/schema"},
        ),
        pair(array={"items": {"$ref": "#/$defs/n"}}, **{"$defs": {"n": {"type": "integer"}}}),
        pair(
            array={"items": {"$ref": "inner#/$defs/n"}},
            **{
                "$id": "https://example.invalid/outer",
                "$defs": {"i": {"$id": "inner", "$defs": {"n": {"type": "integer"}}}},
            },
        ),
    ],
    ids=["default", "draft-07", "draft-07 without #", "2020-12", "own definitions", "embedded resource"],
)
def test_a_schema_is_read_in_its_own_dialect(era: str, schema: dict[str, Any]) -> None:
    async def script() -> None:
        peer = Peer(era, with_schema("a", schema))
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.results["a"] = value([1])
            await client.call_tool("a")
            peer.results["a"] = value(["x"])
            with pytest.raises(CheckFailed):
                await client.call_tool("a")

    play(script)


def test_a_schema_that_refers_to_itself_without_end_lets_nothing_through(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, with_schema("a", {"$ref": "#"}))
        peer.results["a"] = value(1)
        async with ReferenceClient(peer.streams, era=era) as client:
            with pytest.raises(CheckFailed, match="without end"):
                await client.call_tool("a")

    play(script)


def test_a_metaschema_may_be_referred_to(era: str) -> None:
    async def script() -> None:
        schema = {"$ref": "https://json-schema.org/draft/2020-12/schema"}
        peer = Peer(era, with_schema("a", schema))
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.results["a"] = {"content": [], "structuredContent": {"type": "object"}}
            await client.call_tool("a")
            peer.results["a"] = {"content": [], "structuredContent": {"type": 5}}
            with pytest.raises(CheckFailed):
                await client.call_tool("a")

    play(script)


def test_a_schema_of_null_is_none(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, with_schema("a", None))
        async with ReferenceClient(peer.streams, era=era) as client:
            assert (await client.call_tool("a")).text == "a"

    play(script)


def test_a_failed_check_is_no_failure_of_the_connection(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.results["a"] = value("x")
            with pytest.raises(CheckFailed):
                await client.call_tool("a")
            await settle()
            assert (peer.calls, peer.dials) == (1, 1)
            peer.results["a"] = value(1)
            await client.call_tool("a")
            assert (peer.calls, peer.dials, peer.lists) == (2, 1, 1)

    play(script)
