"""One call: sent once, paired with its answer, given up in good order."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from mcp_conformance_reference import (
    CallFailed,
    CheckFailed,
    ConnectionLost,
    ListFailed,
    ReferenceClient,
    StaleTool,
    VerbTimeout,
)

from tests.reference.peer import Peer, tool, value
from tests.reference.virtual import passes, play, settle, until


def echo(params: dict[str, Any]) -> dict[str, Any]:
    return {"content": [], "structuredContent": params["arguments"]}


async def start(client: ReferenceClient, peer: Peer, count: int = 1) -> list[asyncio.Future[Any]]:
    """`count` calls of `a`, all held, each with its number as its argument."""
    peer.results["a"] = echo
    peer.hold("tools/call")
    calls = [asyncio.ensure_future(client.call_tool("a", {"n": n})) for n in range(count)]
    await settle()
    peer.holding.clear()
    return calls


def test_what_is_sent_is_what_was_given(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        given = {"none": None, "deep": {"none": None, "list": [None, {"x": None}]}, "n": 1.5, "t": "é"}
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.call_tool("a", given)
            await client.call_tool("a")
            first, second = peer.frames("tools/call")
            assert first["params"]["arguments"] == given
            assert second["params"]["arguments"] == {}

    play(script)


def test_what_the_caller_attaches_goes_out_beside_the_token_and_is_left_alone(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        peer.results["a"] = lambda params: {"content": [], "_meta": {"cost": 2}}
        mine = {"com.example/trace": {"id": [1]}, "progressToken": "mine"}
        async with ReferenceClient(peer.streams, era=era) as client:
            result = await client.call_tool("a", meta=mine, on_progress=lambda *step: None)
            await client.call_tool("a", meta=mine)
            await client.call_tool("a")
        metas = [frame["params"].get("_meta", {}) for frame in peer.frames("tools/call")]
        assert [meta.get("com.example/trace") for meta in metas] == [{"id": [1]}, {"id": [1]}, None]
        assert metas[0]["progressToken"] != metas[1]["progressToken"] == "mine"
        assert "progressToken" not in metas[2]
        assert mine == {"com.example/trace": {"id": [1]}, "progressToken": "mine"}
        assert result.meta == {"cost": 2}

    play(script)


def test_progress_is_heard_by_its_own_call_while_it_is_out(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        heard: dict[int, list[Any]] = {0: [], 1: []}
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.hold("tools/call")
            calls = [
                asyncio.ensure_future(
                    client.call_tool("a", on_progress=lambda *step, n=n: heard[n].append(step))
                )
                for n in heard
            ]
            await settle()
            held = [peer.take(), peer.take()]
            first, second = (each.request["params"]["_meta"]["progressToken"] for each in held)

            def step(token: Any, **more: Any) -> None:
                peer.line.notify("notifications/progress", {"progressToken": token, "progress": 1, **more})

            step(second, total=4, message="half")
            step(first)
            step("nobody's")
            await settle()
            assert heard == {0: [(1, None, None)], 1: [(1, 4, "half")]}
            for each in held:
                each.release()
            await asyncio.gather(*calls)
            step(first)
            await settle()
            assert len(heard[0]) == 1

    play(script)


@pytest.mark.parametrize("bad", [{"x": {1, 2}}, {"x": float("nan")}, {1: "x"}, {"x": (1,)}, {"x": "\ud800"}])
def test_arguments_that_are_no_json_are_refused_before_anything_is_sent(era: str, bad: Any) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            with pytest.raises(ValueError, match=r"JSON|surrogate"):
                await client.call_tool("a", bad)
            assert (peer.lists, peer.calls) == (0, 0)

    play(script)


def test_arguments_are_copied_at_once(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            given: dict[str, Any] = {"x": [1]}
            peer.hold("tools/list")
            call = asyncio.ensure_future(client.call_tool("a", given))
            await settle()
            given["x"].append(2)
            peer.take().release()
            await call
            assert peer.frames("tools/call")[0]["params"]["arguments"] == {"x": [1]}

    play(script)


def test_a_result_is_handed_over_whole(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        peer.results["a"] = {
            "content": [{"type": "text", "text": "one"}, {"type": "later", "x": None}],
            "_meta": {"y": 2},
            "unknown": [None],
        }
        async with ReferenceClient(peer.streams, era=era) as client:
            result = await client.call_tool("a")
            assert result.raw == peer.results["a"]
            assert result.content == peer.results["a"]["content"]
            assert (result.meta, result.text, result.is_error) == ({"y": 2}, "one", False)
            assert result.structured_content is None
            assert not result.has_structured_content

    play(script)


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({"content": "x"}, "not a list"),
        ({"resultType": "later"}, "later"),
        ({"resultType": "input_required", "inputRequests": {}}, "input_required"),
    ],
)
def test_a_result_that_is_none_is_a_failed_call(era: str, result: dict[str, Any], says: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.results["a"] = result
            with pytest.raises(CallFailed, match=says):
                await client.call_tool("a")
            assert peer.calls == 1

    play(script)


# -- once, and never twice


@pytest.mark.parametrize("how", ["error", "check", "cut", "timeout"])
def test_one_call_is_one_frame_whatever_comes_of_it(era: str, how: str) -> None:
    async def script() -> None:
        peer = Peer(era, tool("a", "integer"))
        async with ReferenceClient(peer.streams, era=era, timeout=10) as client:
            await client.list_tools()
            peer.results["a"] = value("x")
            if how == "error":
                peer.fails("tools/call")
            if how in ("cut", "timeout"):
                peer.hold("tools/call")
            call = asyncio.ensure_future(client.call_tool("a"))
            await settle()
            if how == "cut":
                peer.line.cut()
            expected = {
                "error": CallFailed,
                "check": CheckFailed,
                "cut": ConnectionLost,
                "timeout": VerbTimeout,
            }[how]
            with pytest.raises(expected):
                await call
            await passes(100)
            assert peer.calls == 1

    play(script)


def test_two_equal_calls_are_two_frames(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.call_tool("a", {"x": 1})
            await client.call_tool("a", {"x": 1})
            assert peer.calls == 2

    play(script)


def test_an_unlisted_tool_is_called_and_nothing_is_asked_afterwards(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.fails("tools/list")
            assert (await client.call_tool("secret")).text == "secret"
            assert peer.lists == 1

    play(script)


def test_where_no_listing_is_known_one_is_had_before_the_call_or_nothing_is_sent(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            peer.fails("tools/list", message="no list")
            with pytest.raises(ListFailed, match="no list"):
                await client.call_tool("a")
            assert peer.calls == 0
            await client.call_tool("a")
            assert (peer.lists, peer.calls) == (2, 1)

    play(script)


def test_what_fails_beside_a_call_does_not_take_its_result(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            (call,) = await start(client, peer)
            held = peer.held.pop()
            peer.line.tools_changed()
            peer.line.end_listen("error")
            await settle()
            peer.fails("tools/list")
            with pytest.raises(ListFailed):
                await client.list_tools()
            held.release()
            assert (await call).structured_content == {"n": 0}

    play(script)


def test_an_answer_with_the_end_of_the_connection_right_behind_it_is_handed_over(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            (call,) = await start(client, peer)
            peer.held.pop().release()
            peer.line.cut()
            assert (await call).structured_content == {"n": 0}

    play(script)


# -- pairing


def test_calls_out_at_once_get_their_own_answers_in_any_order(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            calls = await start(client, peer, 5)
            for at in (4, 0, 2, 3, 1):
                peer.held[at].release()
            for n, call in enumerate(calls):
                assert (await call).structured_content == {"n": n}
            ids = [frame["id"] for frame in peer.line.received if "id" in frame]
            assert len(set(ids)) == len(ids)

    play(script)


def test_an_answer_whose_id_has_another_type_ends_its_call_at_once(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era, timeout=None) as client:
            (call,) = await start(client, peer)
            held = peer.held.pop()
            held.request["id"] = str(held.request["id"])
            held.release()
            assert (await call).structured_content == {"n": 0}

    play(script)


# -- giving up


def test_a_call_that_its_caller_gives_up_is_cancelled_on_the_wire_and_its_late_answer_dropped(
    era: str,
) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            call, sibling = await start(client, peer, 2)
            call.cancel()
            await settle()
            assert call.cancelled()
            assert peer.cancelled == [peer.held[0].request["id"]]
            peer.held[0].release()
            await settle()
            peer.held[1].release()
            assert (await sibling).structured_content == {"n": 1}
            assert (await client.call_tool("a", {"n": 9})).structured_content == {"n": 9}
            assert (len(peer.cancelled), peer.dials) == (1, 1)

    play(script)


def test_a_call_that_takes_too_long_is_cancelled_on_the_wire(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era, timeout=10, name="acme") as client:
            (call,) = await start(client, peer)
            await passes(9)
            assert not call.done()
            assert peer.cancelled == []
            await passes(2)
            with pytest.raises(VerbTimeout, match=r"^acme: call_tool .* 10 s"):
                await call
            held = peer.held.pop()
            assert peer.cancelled == [held.request["id"]]
            held.release()
            assert (await client.call_tool("a", {"n": 1})).structured_content == {"n": 1}

    play(script)


def test_a_call_that_is_answered_is_not_cancelled_any_more(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            for hops in range(12):
                (call,) = await start(client, peer)
                peer.held.pop().release()
                for _ in range(hops):
                    await asyncio.sleep(0)
                call.cancel()
                await settle()
            answered_first = [frame["id"] for frame in peer.frames("tools/call")]
            assert len(answered_first) == 12
            # Cancelled before the answer was read is the one case in which the server hears of it.
            assert len(peer.cancelled) <= 1

    play(script)


@pytest.mark.parametrize("hops", range(16))
def test_a_call_given_up_at_any_moment_is_never_written_or_cancelled_under_its_own_id(
    era: str, hops: int
) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.hold("tools/call")
            call = asyncio.ensure_future(client.call_tool("a"))
            for _ in range(hops):
                await asyncio.sleep(0)
            call.cancel()
            await settle()
            sent = [frame["id"] for frame in peer.frames("tools/call")]
            assert peer.cancelled == sent
            assert len(sent) <= 1

    play(script)


@pytest.mark.parametrize("hops", range(12))
@pytest.mark.parametrize("first", ["answer", "caller"])
def test_an_answer_in_the_moment_of_giving_up_leaves_the_other_calls_alone(
    era: str, first: str, hops: int
) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            given_up, other = await start(client, peer, 2)
            moves = [peer.take().release, given_up.cancel]
            for move in moves if first == "answer" else reversed(moves):
                move()
                for _ in range(hops):
                    await asyncio.sleep(0)
            await settle()
            peer.take().release()
            assert (await other).structured_content == {"n": 1}
            assert peer.dials == 1

    play(script)


def test_the_handshake_is_never_cancelled(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        for method in ("initialize", "server/discover"):
            peer.hold(method)
        client = ReferenceClient(peer.streams, era=era, timeout=5)
        with pytest.raises(VerbTimeout, match="connect"):
            await client.connect()
        await settle()
        assert peer.cancelled == []
        assert peer.live == 0
        await client.close()

    play(script)


# -- limits


@pytest.mark.parametrize("where", ["dial", "second page", "call"])
def test_the_limit_bounds_the_whole_verb(era: str, where: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        client = ReferenceClient(peer.streams, era=era, timeout=10)
        if where == "dial":
            peer.hold("initialize")
            peer.hold("server/discover")
        if where == "second page":
            peer.pages({"tools": [tool("a")], "nextCursor": "2"})
        if where == "call":
            peer.hold("tools/call")
        began = asyncio.get_running_loop().time()
        call = asyncio.ensure_future(client.call_tool("a"))
        if where == "second page":
            await until(lambda: peer.lists)
            peer.hold("tools/list")
        with pytest.raises(VerbTimeout) as caught:
            await call
        assert asyncio.get_running_loop().time() - began == 10
        assert (caught.value.verb, caught.value.seconds) == ("call_tool", 10)
        assert isinstance(caught.value, TimeoutError)
        await client.close()

    play(script)


def test_no_other_limit_cuts_a_longer_one(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        for method in ("initialize", "server/discover"):
            peer.hold(method)
        client = ReferenceClient(peer.streams, era=era, timeout=1000)
        connecting = asyncio.ensure_future(client.connect())
        await passes(900)
        peer.take().release()
        await connecting
        (call,) = await start(client, peer)
        await passes(999)
        peer.held.pop().release()
        assert (await call).structured_content == {"n": 0}
        await client.close()

    play(script)


def test_without_a_limit_a_verb_waits_for_ever(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era, timeout=None) as client:
            (call,) = await start(client, peer)
            await passes(10**6)
            peer.held.pop().release()
            await call

    play(script)


def test_a_caller_s_own_limit_is_its_own(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()
            peer.hold("tools/call")
            with anyio.move_on_after(1) as scope:
                await client.call_tool("a")
            assert scope.cancelled_caught
            await settle()
            assert len(peer.cancelled) == 1

    play(script)


# -- failures


def test_an_error_of_the_server_is_a_failed_call_with_its_code(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            (call,) = await start(client, peer)
            peer.held.pop().fail(-32602, "Unknown tool")
            with pytest.raises(CallFailed, match=r"Unknown tool.*-32602") as caught:
                await call
            assert (caught.value.code, caught.value.message) == (-32602, "Unknown tool")
            assert await client.call_tool("a")

    play(script)


def test_a_server_may_use_the_code_that_an_sdk_uses_for_a_closed_connection(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            (call,) = await start(client, peer)
            peer.held.pop().fail(-32000, "Connection closed")
            with pytest.raises(CallFailed):
                await call
            await client.call_tool("a")
            assert peer.dials == 1

    play(script)


@pytest.mark.parametrize("fault", [asyncio.CancelledError(), OSError("pipe"), ZeroDivisionError()])
def test_a_fault_born_in_the_transport_is_an_ordinary_error(era: str, fault: BaseException) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            await client.list_tools()

            def broken(_: Any) -> Any:
                raise fault

            peer.next["tools/call"].append(broken)
            with pytest.raises(Exception, match=r"Cancelled|pipe|ZeroDivision"):
                await client.call_tool("a")
            await asyncio.sleep(1)
            assert (await client.call_tool("a")).text == "a"

    play(script)


def test_a_handle_that_the_newest_listing_shows_otherwise_is_not_called(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            handle = await client.bind("a")
            client.invalidate()
            assert (await client.call_tool(handle)).text == "a"
            assert (await handle()).text == "a"
            peer.has(tool("a", description="new"))
            await client.refresh()
            with pytest.raises(StaleTool, match="description"):
                await client.call_tool(handle)
            assert peer.calls == 2

    play(script)


def test_a_handle_is_judged_after_the_wait_for_a_listing(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era) as client:
            handle = await client.bind("a")
            peer.line.tools_changed()
            await settle()
            peer.hold("tools/list")
            call = asyncio.ensure_future(client.call_tool(handle))
            await settle()
            peer.has("b")
            peer.line.tools_changed()
            await settle()
            peer.take().release()
            with pytest.raises(StaleTool):
                await call
            assert peer.calls == 0

    play(script)


def test_nothing_is_left_of_many_calls_answered_cancelled_or_timed_out(era: str) -> None:
    async def script() -> None:
        peer = Peer(era, "a")
        async with ReferenceClient(peer.streams, era=era, timeout=1) as client:
            await client.list_tools()
            for turn in range(60):
                if turn % 3:
                    peer.hold("tools/call")
                call = asyncio.ensure_future(client.call_tool("a"))
                await settle()
                if turn % 3 == 1:
                    call.cancel()
                await asyncio.wait([call])
                peer.holding.clear()
            await settle()
            assert isinstance(call.exception(), VerbTimeout)
            assert len(peer.cancelled) == 40
            exchange = client._life.dialler.connection.exchange  # type: ignore[union-attr]
            open_still = [request.method for request in exchange._requests]
            assert open_still == ([] if era == "handshake" else ["subscriptions/listen"])
            assert len(exchange._by_id) == len(open_still)

    play(script)
