"""What the SDK does well: held against it by nobody, and checked the same way."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.peer import HOUR_MS, Peer, tool
from tests.sdk.users import Way, every_cache, every_way, second_only

UNUSABLE: dict[str, dict[str, Any]] = {
    "pattern": {"type": "string", "pattern": "("},
    "reference": {"$ref": "#/$defs/missing"},
    "type": {"type": "nonsense"},
}


@pytest.mark.parametrize("how", UNUSABLE)
@every_way
def test_a_schema_that_does_not_compile_touches_only_its_own_tool(way: Way, how: str) -> None:
    async def scene() -> None:
        peer = Peer([[tool("a", "integer"), tool("bad", UNUSABLE[how]), tool("z", "integer")]])
        async with way.connect(peer) as user:
            assert await user.names() == ["a", "bad", "z"]
            peer.gives = {"a": 1, "bad": "x", "z": "wrong"}
            assert not (await user.call("bad")).accepted
            assert (await user.call("a")).accepted
            assert (await user.call("z")).refused

    run(scene)


@every_way
def test_equal_calls_get_their_own_answers_in_any_order(way: Way) -> None:
    async def scene() -> None:
        peer = Peer([[tool("a")]])
        got: dict[str, str] = {}
        async with way.connect(peer) as user:
            await user.listing()
            peer.holds.add("tools/call")

            async def call(nonce: str) -> None:
                [content] = (await user.call("a", nonce=nonce)).result.content
                got[nonce] = json.loads(content.text)["nonce"]

            async with anyio.create_task_group() as tasks:
                for nonce in "12345":
                    tasks.start_soon(call, nonce)
                await quiet()
                for place in (2, 4, 0, 3, 1):
                    peer.parked[place].answer()
        assert got == {nonce: nonce for nonce in "12345"}

    run(scene)


@every_way
def test_a_listing_that_fails_leaves_the_checks_as_they_were(way: Way) -> None:
    async def scene() -> None:
        peer = Peer([[tool("a", "integer")]], gives={"a": "wrong"})
        async with way.connect(peer) as user:
            await user.listing()
            peer.refuses.add("tools/list")
            with pytest.raises(Exception, match="out of order"):
                await user.listing()
            assert (await user.call("a")).refused

    run(scene)


@second_only
@every_cache
def test_a_listing_that_a_notice_overtook_is_not_kept(way: Way) -> None:
    async def scene() -> None:
        peer = Peer([[tool("old")]], ttl_ms=HOUR_MS, holds={"tools/list"})
        async with way.connect(peer) as user:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(user.listing)
                await quiet()
                peer.has(tool("new"))
                peer.notice()
                await quiet()
                peer.parked[0].answer()
            peer.holds.clear()
            assert await user.names() == ["new"]

    run(scene)
