"""A call that is given up in the moment in which its answer is read, and another one beside it."""

from __future__ import annotations

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import GONE, SESSION, Outcome, Way, every_way, first_only, second_only


@first_only
@pytest.mark.parametrize("way", [SESSION])
def test_an_answer_in_the_moment_of_giving_up_ends_the_connection(way: Way) -> None:
    assert run(call_beside_one_given_up, way, at_once=False).accepted
    assert "Connection closed" in str(run(call_beside_one_given_up, way, at_once=True).error), GONE


@second_only
@every_way
def test_an_answer_in_the_moment_of_giving_up_harms_nobody(way: Way) -> None:
    assert run(call_beside_one_given_up, way, at_once=True).accepted


async def call_beside_one_given_up(way: Way, *, at_once: bool) -> Outcome:
    """Two calls are out; one is given up, and answered at once or a little later; then the other is."""
    peer = Peer([[tool("a")]], holds={"tools/call"})
    got: list[Outcome] = []
    async with way.connect(peer) as user, anyio.create_task_group() as tasks:
        await user.listing()
        given_up = anyio.CancelScope()

        async def call(scope: anyio.CancelScope) -> None:
            with scope:
                got.append(await user.call("a"))

        tasks.start_soon(call, given_up)
        await quiet()
        tasks.start_soon(call, anyio.CancelScope())
        await quiet()
        first, second = peer.parked
        if at_once:
            first.answer()
        given_up.cancel()
        await quiet()
        if not at_once:
            first.answer()
            await quiet()
        if not got:  # it has not failed already
            second.answer()
            await quiet()
    [outcome] = got
    return outcome
