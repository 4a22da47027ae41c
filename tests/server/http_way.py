"""What every way in over HTTP does: told once, and run against each way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.shared import exceptions

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer
from pytest_mcp_conformance.server.ways.http import Reply
from tests.server.http_clients import MODERN, every_era, listening, names, session

SdkError: Any = exceptions.MCPError if MODERN else exceptions.McpError
LIST_CHANGED = "notifications/tools/list_changed"


class WayOverHttp:
    """The behaviour; a subclass says which way."""

    kind: Any

    @asynccontextmanager
    async def way(self, era: str = "handshake", *tools: Any) -> AsyncIterator[tuple[ScriptedServer, Any]]:
        """A script with these tools, and its way in."""
        server = ScriptedServer(era)
        server.has_tools(*(tools or ("a",)))
        way = self.kind(server)
        try:
            yield server, way
        finally:
            await way.aclose()

    def play(self, main: Any, *args: Any) -> Any:
        """Run a scene, and see that it leaves no task."""
        left: list[str] = []
        returned = run(lambda: main(*args), leftovers=left)
        assert left == []
        return returned

    @every_era
    def test_a_session_lists_and_closes_and_leaves_nothing(self, era: str) -> None:
        async def main() -> None:
            async with self.way(era, "a", "b") as (server, way):
                async with session(way.url, era) as client:
                    assert await names(client) == ["a", "b"]
                    assert (await client.call_tool("a", {"nonce": "n"})).content[0].text == '{"nonce": "n"}'
                await server.settle()
                assert server.ledger.open_connections() == []
                assert len(server.connections) == 1

        self.play(main)

    @every_era
    def test_held_answers_come_in_the_order_in_which_they_are_released(self, era: str) -> None:
        async def main() -> list[tuple[int, list[str]]]:
            came = []
            async with self.way(era) as (server, way), session(way.url, era) as client:

                async def ask(number: int) -> None:
                    came.append((number, await names(client)))

                async with anyio.create_task_group() as tasks:
                    with server.holding("tools/list") as gate:
                        for number in (1, 2, 3):
                            server.has_tools(f"t{number}")
                            tasks.start_soon(ask, number)
                            await gate.arrived(number)
                        for place in (3, 1, 2):
                            gate.release_all([place])
                            await server.settle()
            return came

        assert self.play(main) == [(3, ["t3"]), (1, ["t1"]), (2, ["t2"])]

    @every_era
    def test_a_change_of_tools_is_heard_while_somebody_listens(self, era: str) -> None:
        async def main() -> None:
            heard: list[str] = []
            async with self.way(era) as (server, way), session(way.url, era, heard=heard) as client:
                async with listening(client, era) as changes:
                    await names(client)
                    await server.settle()
                    assert await server.notify_list_changed() == 1
                    if changes is None:
                        assert heard == [LIST_CHANGED]
                    else:
                        assert type(await anext(aiter(changes))).__name__ == "ToolsListChanged"
                await server.settle()
                assert await server.notify_list_changed() == (1 if era == "handshake" else 0)

        self.play(main)

    def test_each_principal_is_told_by_its_headers(self) -> None:
        async def main() -> list[str | None]:
            async with self.way() as (server, way):
                for name in ("ann", "bob"):
                    server.has_tools(f"of {name}", principal=name)
                    way.dialled(name, {"Authorization": f"Bearer {name}"})
                for name, listed in (("ann", "of ann"), ("bob", "of bob")):
                    async with session(way.url, headers={"Authorization": f"Bearer {name}"}) as client:
                        assert await names(client) == [listed]
                async with session(way.url) as client:
                    assert await names(client) == ["a"]
                return [connection.principal for connection in server.connections]

        assert self.play(main) == ["ann", "bob", None]

    def test_a_session_that_was_forgotten_is_terminated_in_the_words_of_the_sdk(self) -> None:
        async def main() -> None:
            async with self.way() as (server, way), session(way.url) as client:
                await names(client)
                way.engine.forget(server.connections[0])
                with pytest.raises(SdkError, match="Session terminated"):
                    await names(client)

        self.play(main)

    def test_a_call_whose_stream_was_cut_is_resumed_by_the_ids_of_its_events(self) -> None:
        async def main() -> tuple[list[str], list[str]]:
            async with self.way() as (server, way):
                way.engine.event_ids = True
                way.engine.retry_ms = 2500
                async with session(way.url) as client:
                    async with anyio.create_task_group() as tasks:
                        came: list[str] = []

                        async def ask() -> None:
                            came.extend(await names(client))

                        with server.holding("tools/list") as gate:
                            tasks.start_soon(ask)
                            await gate.arrived()
                            await server.settle()
                            for stream in way.engine.streams(server.connections[0]):
                                if stream.name != "2":  # the first is of the handshake, the second of the GET
                                    stream.cut()
                        before = asyncio.get_running_loop().time()
                    spent = asyncio.get_running_loop().time() - before
                    assert spent == 2.5
                    gets = [e.request for e in way.engine.exchanged if e.request.method == "GET"]
                    return came, [get.headers.get("last-event-id", "") for get in gets]

        came, last = self.play(main)
        assert came == ["a"]
        assert last == ["", "3.0"]

    @every_era
    def test_the_reply_of_another_reaches_the_client(self, era: str) -> None:
        async def main() -> list[int]:
            async with self.way(era) as (_, way):

                async def refuse(request: Any, answer: Any) -> Reply:
                    return Reply.text(401, "who is it?", www_authenticate="Bearer")

                way.engine.through = refuse
                with pytest.raises(Exception) as raised:  # noqa: PT011 - of one kind per major
                    async with session(way.url, era):
                        pass
                assert ("error response" if MODERN else "401") in _leaf(raised.value)
                return [each.status for each in way.engine.exchanged]

        assert self.play(main) == [401]


def _leaf(error: BaseException) -> str:
    inside = getattr(error, "exceptions", ())
    return _leaf(inside[0]) if inside else str(error)
