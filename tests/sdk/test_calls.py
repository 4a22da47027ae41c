"""What becomes of a call whose tool has run, and of one that was given up."""

from __future__ import annotations

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import GONE, Outcome, Way, every_way, first_only, second_only

LIMIT = 30.0


@every_way
def test_a_result_is_lost_when_the_hidden_listing_fails(way: Way) -> None:
    assert run(call_while_listings_fail, way, listed=True).accepted
    assert run(call_while_listings_fail, way, listed=False, fails=False).accepted
    lost = run(call_while_listings_fail, way, listed=False)
    assert not lost.accepted and "out of order" in str(lost.error), GONE


async def call_while_listings_fail(way: Way, *, listed: bool, fails: bool = True) -> Outcome:
    """A tool runs well, once; a listing would fail by then."""
    peer = Peer([[tool("a", "integer")]], gives={"a": 1})
    async with way.connect(peer) as user:
        if listed:
            await user.listing()
        if fails:
            peer.refuses.add("tools/list")
        called = await user.call("a")
        assert len(peer.sent("tools/call")) == 1
        return called


@every_way
def test_a_result_is_lost_when_the_hidden_listing_is_never_answered(way: Way) -> None:
    assert run(call_answered_late, way, session_limit=LIMIT, listing_answered=True).accepted
    assert not run(call_answered_late, way, session_limit=LIMIT, listing_answered=False).accepted, GONE


@every_way
def test_the_limit_of_a_call_does_not_bound_its_hidden_listing(way: Way) -> None:
    good = run(call_answered_late, way, session_limit=LIMIT, listing_answered=True)
    bounded = run(call_answered_late, way, session_limit=LIMIT, call_answered=False)
    late = run(call_answered_late, way, session_limit=LIMIT, listing_answered=False)

    assert (good.at, bounded.at) == pytest.approx((27, 30))
    assert late.at == pytest.approx(27 + 30), GONE


@every_way
def test_without_a_limit_of_the_session_a_call_with_a_limit_never_ends(way: Way) -> None:
    good = run(call_answered_late, way, session_limit=None, listing_answered=True)
    bounded = run(call_answered_late, way, session_limit=None, call_answered=False)
    endless = run(call_answered_late, way, session_limit=None, listing_answered=False)

    assert (good.at, bounded.at) == pytest.approx((27, 30))
    assert endless.at > 100 * LIMIT, GONE


async def call_answered_late(
    way: Way, *, session_limit: float | None, call_answered: bool = True, listing_answered: bool = True
) -> Outcome:
    """A call has thirty seconds; its tool answers after 27, and then a listing may never be answered."""
    peer = Peer([[tool("a", "integer")]], gives={"a": 1}, holds={"tools/call"})
    if not listing_answered:
        peer.holds.add("tools/list")
    async with way.connect(peer, session_limit) as user, anyio.create_task_group() as tasks:
        started = anyio.current_time()
        ended: list[Outcome] = []

        async def call() -> None:
            ended.append(await user.call("a", LIMIT))

        tasks.start_soon(call)
        await anyio.sleep(27)
        if call_answered:
            peer.parked.pop(0).answer()
        await anyio.sleep(200 * LIMIT)
        tasks.cancel_scope.cancel()
    if not ended:
        return Outcome(error=TimeoutError("still running"), at=200 * LIMIT)
    return Outcome(ended[0].result, ended[0].error, ended[0].at - started)


@first_only
@pytest.mark.parametrize("by", ["its caller", "its limit"])
def test_the_first_major_does_not_tell_the_server_that_a_call_was_given_up(by: str) -> None:
    assert run(cancelled_by_hand) == [1]
    assert run(call_given_up, Way("session", "handshake"), by) == ([1], []), GONE


@second_only
@pytest.mark.parametrize("by", ["its caller", "its limit"])
@every_way
def test_the_second_major_tells_the_server_that_a_call_was_given_up(way: Way, by: str) -> None:
    given_up, cancelled = run(call_given_up, way, by)
    assert given_up == cancelled


async def call_given_up(way: Way, by: str) -> tuple[list[int], list[int]]:
    """A call is given up while it is out; gives its id, and the ids that were cancelled on the wire."""
    peer = Peer([[tool("a")]], holds={"tools/call"})
    async with way.connect(peer) as user:
        with anyio.move_on_after(5 if by == "its caller" else None):
            assert not (await user.call("a", 60 if by == "its caller" else 5)).accepted
        await quiet()
        given_up = [frame["id"] for frame in peer.frames if frame["method"] == "tools/call"]
        return given_up, [params["requestId"] for params in peer.sent("notifications/cancelled")]


async def cancelled_by_hand() -> list[int]:
    """The notification as a user of mcp 1.x may send it, to show that it would be seen."""
    from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification

    peer = Peer([[tool("a")]])
    async with Way("session", "handshake").connect(peer) as user:
        said = CancelledNotification(params=CancelledNotificationParams(requestId=1))
        await user.sdk.send_notification(ClientNotification(said))
        return [params["requestId"] for params in peer.sent("notifications/cancelled")]
