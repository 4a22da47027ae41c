"""What the SDK's clients make of streams that are cut, with and without event ids, and how they leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.http_peer import CUT, HttpPeer, refused
from tests.sdk.peer import tool
from tests.sdk.users import (
    CLIENT,
    GONE,
    MODERN_CLIENT,
    MODERN_SESSION,
    SECOND,
    SESSION,
    Outcome,
    Way,
    every_way,
    first_only,
    second_only,
)

handshake_ways = pytest.mark.parametrize("way", [SESSION, CLIENT])
FIRST = Way("session", "handshake")


@dataclass
class Resumed:
    """What came of a call, `None` if it never ended, and the GETs that went on with it: last id, and when."""

    call: Outcome | None
    gets: list[tuple[str, float]]


async def call_over_a_cut(
    way: Way, *, how: Exception | None = CUT, times: int = 1, gets: Any = None, **peer_settings: Any
) -> Resumed:
    """The response to a call is cut `times` times, five seconds apart, before the call is answered."""
    peer = HttpPeer([[tool("a")]], holds={"tools/call"}, **peer_settings)
    ended: list[Outcome] = []
    async with way.connect(peer) as user:
        await user.listing()
        await quiet()
        began = anyio.current_time()
        before = len(peer.came("GET"))
        if gets is not None:
            peer.faults["GET"] = gets

        async def call() -> None:
            ended.append(await user.call("a"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await quiet()
            [number] = peer.ids("tools/call")
            for _ in range(times):
                if number in peer.bodies:
                    peer.cut(number, how)
                await anyio.sleep(5)
            peer.parked[0].answer()
            await anyio.sleep(10_000)
            tasks.cancel_scope.cancel()
        went_on = [
            (headers["last-event-id"].partition(".")[2], round(at - began, 1))
            for headers, at in peer.came("GET")[before:]
        ]
    return Resumed(ended[0] if ended else None, went_on)


@every_way
def test_a_call_whose_stream_is_not_cut_ends(way: Way) -> None:
    came = run(call_over_a_cut, way, times=0)
    assert came.call is not None and came.call.accepted and came.gets == []


@first_only
@pytest.mark.parametrize("how", [CUT, None], ids=["cut", "ended"])
def test_in_the_first_major_a_call_whose_stream_breaks_without_event_ids_never_ends(
    how: Exception | None,
) -> None:
    assert run(call_over_a_cut, FIRST, how=how) == Resumed(None, []), GONE


@second_only
@every_way
@pytest.mark.parametrize("how", [CUT, None], ids=["cut", "ended"])
def test_in_the_second_major_a_call_whose_stream_breaks_without_event_ids_ends_at_once(
    way: Way, how: Exception | None
) -> None:
    came = run(call_over_a_cut, way, how=how)
    assert came.call is not None and came.gets == []
    assert str(came.call.error) == "SSE stream ended without a response"
    assert came.call.at == pytest.approx(0, abs=0.01)


@every_way
@pytest.mark.parametrize(("retry_ms", "after"), [(None, 1.0), (3000, 3.0)])
def test_a_call_whose_stream_breaks_with_event_ids_goes_on_after_the_time_that_it_was_told(
    way: Way, retry_ms: int | None, after: float
) -> None:
    came = run(call_over_a_cut, way, numbered=True, retry_ms=retry_ms)
    assert came.call is not None and came.call.accepted
    assert came.gets == [("0", after)]


@handshake_ways
def test_a_last_event_id_survives_a_second_end_of_the_stream(way: Way) -> None:
    came = run(call_over_a_cut, way, how=None, times=2, numbered=True)
    assert came.call is not None and came.call.accepted
    assert came.gets == [("0", 1.0), ("0", 6.0)]


@first_only
def test_in_the_first_major_a_call_that_cannot_go_on_never_ends() -> None:
    assert run(call_over_a_cut, FIRST, numbered=True, gets=refused) == Resumed(
        None, [("0", 1.0), ("0", 2.0)]
    ), GONE


@second_only
@every_way
def test_in_the_second_major_a_call_that_cannot_go_on_ends_after_two_tries(way: Way) -> None:
    came = run(call_over_a_cut, way, numbered=True, gets=refused)
    assert came.gets == [("0", 1.0), ("0", 2.0)]
    assert came.call is not None and "attempts were exhausted" in str(came.call.error)


@every_way
def test_tries_to_go_on_with_a_stream_that_ends_each_time_are_not_bounded(way: Way) -> None:
    came = run(call_over_a_cut, way, how=None, times=100, numbered=True)
    assert len(came.gets) == 100, GONE


@handshake_ways
def test_a_get_stream_that_was_lost_and_is_refused_once_is_never_opened_again(way: Way) -> None:
    assert run(notice_after_a_lost_stream, way, refused_for=0) == (2, True)
    assert run(notice_after_a_lost_stream, way, refused_for=3) == (2, False), GONE


async def notice_after_a_lost_stream(way: Way, *, refused_for: float) -> tuple[int, bool]:
    """The GET stream is lost, and GETs are refused for some seconds; a minute later the tools change.

    Gives the number of GETs, and whether anybody was there to be told.
    """
    peer = HttpPeer([[tool("a")]])
    async with way.connect(peer) as user:
        await user.listing()
        await quiet()
        if refused_for:
            peer.faults["GET"] = refused
        peer.cut("GET")
        await anyio.sleep(refused_for)
        peer.faults.clear()
        await anyio.sleep(60)
        assert (await user.call("a")).accepted
        return len(peer.came("GET")), "GET" in peer.bodies and peer.bodies["GET"].open


@handshake_ways
def test_a_session_that_is_left_in_a_cancelled_scope_is_not_ended_at_the_server(way: Way) -> None:
    assert run(deletes_of, way, "closed") == 1
    assert run(deletes_of, way, "raised") == 1
    assert run(deletes_of, way, "cancelled") == 0, GONE


async def deletes_of(way: Way, how: str) -> int:
    """How many DELETEs come when a session is left in one way or another."""
    peer = HttpPeer([[tool("a")]])
    raised = False
    with anyio.move_on_after(5):
        try:
            async with way.connect(peer) as user:
                await user.listing()
                if how == "raised":
                    raise LookupError
                if how == "cancelled":
                    await anyio.sleep_forever()
        except Exception:
            raised = True
    assert raised == (how == "raised")
    await quiet()
    return len(peer.came("DELETE"))


@second_only
@pytest.mark.parametrize("how", [CUT, None], ids=["cut", "ended"])
def test_a_subscription_whose_stream_breaks_is_lost_in_words(how: Exception | None) -> None:
    async def scene() -> None:
        from mcp.client.subscriptions import SubscriptionLost

        peer = HttpPeer([[tool("a")]])
        async with (
            Way("client", "modern").connect(peer) as user,
            user.sdk.listen(tools_list_changed=True) as subscription,
        ):
            peer.cut(peer.ids("subscriptions/listen")[0], how)
            with pytest.raises(SubscriptionLost):
                await anext(aiter(subscription))

    run(scene)


@pytest.mark.parametrize("way", [MODERN_SESSION, MODERN_CLIENT])
def test_a_call_given_up_in_the_modern_era_closes_its_response(way: Way) -> None:
    assert run(given_up, way) == ([False], [])


@handshake_ways
def test_a_call_given_up_in_the_handshake_era_keeps_its_response_open(way: Way) -> None:
    responses, _ = run(given_up, way)
    assert responses == [True], GONE


@every_way
def test_the_second_major_refuses_an_event_above_one_mebibyte(way: Way) -> None:
    assert run(call_with_a_text_of, way, 1000).accepted
    long = run(call_with_a_text_of, way, 2**20)
    assert long.accepted is not SECOND, GONE


async def call_with_a_text_of(way: Way, size: int) -> Outcome:
    """A call whose answer is one event with a text of so many letters in it."""
    peer = HttpPeer([[tool("a")]])
    async with way.connect(peer) as user:
        await user.listing()
        return await user.call("a", text="x" * size)


async def given_up(way: Way) -> tuple[list[bool], list[dict[str, Any]]]:
    peer = HttpPeer([[tool("a")]], holds={"tools/call"})
    async with way.connect(peer) as user:
        with anyio.move_on_after(5):
            await user.call("a")
        await quiet()
        return [peer.bodies[number].open for number in peer.ids("tools/call")], peer.sent(
            "notifications/cancelled"
        )
