"""A server that dies in every step: each verb ends in an error of its own, and the next one works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp_conformance_reference import ClientError, ConnectionLost, DialFailed, ReferenceClient
from mcp_conformance_reference.conversation import Conversation

from tests.reference.peer import ERAS, Peer, tool, value
from tests.reference.virtual import play, settle

HANDSHAKE = {"handshake": "initialize", "modern": "server/discover"}
STEPS = {
    "dial": "",
    "handshake": "",
    "initialized": "notifications/initialized",
    "subscription": "subscriptions/listen",
    "listing": "tools/list",
    "second page": "tools/list",
    "call": "tools/call",
    "notice": "",
    "close": "",
}
CASES = [
    (era, step)
    for era in ERAS
    for step in STEPS
    if (era, step) not in {("handshake", "subscription"), ("modern", "initialized")}
]


class Mortal(Peer):
    """A peer that hangs up on the frame that `dies_on` fits, as often as `deaths` says."""

    def __init__(self, era: str, *tools: Any) -> None:
        super().__init__(era, *tools)
        self.dies_on: Callable[[dict[str, Any]], bool] | None = None
        self.deaths = 0
        self.in_pages = False

    def _receive(self, line: Any, frame: dict[str, Any]) -> None:
        if self.deaths and self.dies_on is not None and self.dies_on(frame):
            self.deaths -= 1
            line.received.append(frame)
            line.cut()
            return
        super()._receive(line, frame)

    def _answer(self, line: Any, frame: dict[str, Any]) -> dict[str, Any] | None:
        if self.in_pages and frame["method"] == "tools/list":
            first, second = self.tools
            cursor = (frame.get("params") or {}).get("cursor")
            page = {"tools": [first], "nextCursor": "c2"} if cursor is None else {"tools": [second]}
            return {"result": self._fresh(page)}
        return super()._answer(line, frame)

    def dies_at(self, era: str, step: str) -> None:
        """Have it die once, the next time that `step` is reached."""
        self.deaths = 1
        if step == "dial":
            self.refuse = ConnectionRefusedError("the port is closed")
        elif step == "second page":
            self.in_pages = True
            self.dies_on = lambda frame: "cursor" in (frame.get("params") or {})
        else:
            method = HANDSHAKE[era] if step == "handshake" else STEPS[step]
            self.dies_on = lambda frame: frame.get("method") == method


def peer_of(era: str) -> Mortal:
    peer = Mortal(era)
    peer.has(tool("a", "integer"), tool("b", "string"))
    peer.results = {"a": value(1), "b": value("x")}
    return peer


async def attempt(*verbs: Callable[[], Awaitable[Any]]) -> list[BaseException]:
    """What the verbs raised, one after the other; each ends, and by an error of the library's own."""
    raised: list[BaseException] = []
    for verb in verbs:
        try:
            with anyio.fail_after(3600):
                await verb()
        except ClientError as error:
            raised.append(error)
        await settle()
    return raised


@pytest.mark.parametrize(("era", "step"), CASES)
def test_a_client_outlives_it(era: str, step: str) -> None:
    async def script() -> None:
        peer = peer_of(era)
        client = ReferenceClient(peer.streams, era=era)
        if step in ("call", "notice", "close"):
            await client.list_tools()
        peer.dies_at(era, step)
        if step == "notice":
            peer.line.tools_changed()
            peer.line.cut()
        if step == "close":
            peer.line.cut()
            await client.close()
        else:
            raised = await attempt(client.list_tools, lambda: client.call_tool("a"))
            assert all(isinstance(error, DialFailed | ConnectionLost) for error in raised), raised
            assert raised or step in ("initialized", "subscription", "notice"), "nothing was lost"
            peer.refuse, peer.deaths = None, 0
            await asyncio.sleep(60)
            assert await client.names() == ["a", "b"]
            assert (await client.call_tool("a")).structured_content == {"value": 1}
            assert (await client.call_tool("b")).structured_content == {"value": "x"}
            await client.close()
        await settle()
        assert peer.live == 0

    play(script)


@pytest.mark.parametrize(("era", "step"), CASES)
def test_a_definition_list_outlives_it(era: str, step: str) -> None:
    async def script() -> None:
        peer = peer_of(era)
        talk = Conversation(peer.streams, era="modern" if era == "modern" else "handshake")

        async def call() -> Any:
            bindings = {each.name: each for each in await talk.list_tools()}
            return await talk.call(bindings["a"])

        opened = await attempt(talk.__aenter__) == []
        peer.dies_at(era, step)
        if step == "notice":
            peer.line.tools_changed()
            peer.line.cut()
        if step == "close":
            peer.line.cut()
        elif step in ("dial", "handshake", "initialized", "subscription"):
            await attempt(talk.replace)
        else:
            raised = await attempt(talk.list_tools, call)
            assert raised, "nothing was lost"
        peer.refuse, peer.deaths = None, 0
        if step != "close":
            await talk.replace()
            assert [each.name for each in await talk.list_tools()] == ["a", "b"]
            assert (await call()).structured_content == {"value": 1}
        assert opened
        await talk.__aexit__(None, None, None)
        await settle()
        assert peer.live == 0

    play(script)
