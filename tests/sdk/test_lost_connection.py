"""Calls that are out when the connection is lost: they end from mcp 1.27 on, and before it they do not."""

from __future__ import annotations

import anyio
import pytest
from packaging.version import Version

from tests.sdk.clock import quiet, run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import VERSION, Way, every_way

ENDS = Version(VERSION) >= Version("1.27")


async def _lose(way: Way, number: int) -> list[int]:
    """Which of `number` calls have ended when everything is quiet after the loss of the connection."""
    peer = Peer([[tool("a")]], holds={"tools/call"})
    ended: list[int] = []
    async with way.connect(peer) as user:
        await user.listing()

        async def call(place: int) -> None:
            await user.call("a", nonce=str(place))
            ended.append(place)

        async with anyio.create_task_group() as tasks:
            for place in range(number):
                tasks.start_soon(call, place)
            await quiet()
            peer._outbox.close()
            await quiet()
            tasks.cancel_scope.cancel()
    return ended


@every_way
def test_one_call_that_is_out_ends_with_its_connection(way: Way) -> None:
    assert run(lambda: _lose(way, 1)) == [0]


@pytest.mark.skipif(not ENDS, reason="told below, as it is before mcp 1.27")
@every_way
def test_five_calls_that_are_out_end_with_their_connection(way: Way) -> None:
    assert sorted(run(lambda: _lose(way, 5))) == [0, 1, 2, 3, 4]


@pytest.mark.skipif(ENDS, reason="mended in mcp 1.27")
def test_before_1_27_the_receive_loop_dies_of_the_second_call() -> None:
    with pytest.raises(BaseException) as died:  # noqa: PT011 - a group, of whatever kind the loop makes
        run(lambda: _lose(Way("session", "handshake"), 5))
    assert "dictionary changed size during iteration" in repr(died.value)
