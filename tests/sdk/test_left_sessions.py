"""Calls that are out when their session is left, by its user or because its transport broke."""

from __future__ import annotations

from contextlib import suppress

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import GONE, Way, every_way, first_only, second_only

ENDINGS = ("its user leaves", "its transport breaks")


async def _leave(way: Way, how: str, limit: float | None = None) -> tuple[bool, str]:
    """Whether a call has ended when all is quiet after its session was left, and by what in the end."""
    peer = Peer([[tool("a")]], holds={"tools/call"})
    ended: list[str] = []
    leave, breaks = anyio.Event(), anyio.Event()

    async def call(user) -> None:
        ended.append(repr((await user.call("a", limit)).error))

    async def fails() -> None:
        await breaks.wait()
        raise OSError("the cable was cut")

    async def own() -> None:
        with suppress(BaseException):
            async with anyio.create_task_group() as transport:
                transport.start_soon(fails)
                async with way.connect(peer) as user:
                    await user.listing()
                    tasks.start_soon(call, user)
                    await leave.wait()
                transport.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(own)
        await quiet()
        assert len(peer.parked) == 1
        (leave if how == "its user leaves" else breaks).set()
        await quiet()
        told = bool(ended)
        await anyio.sleep(3600)
        tasks.cancel_scope.cancel()
    return told, ended[0] if ended else "nothing"


@first_only
@pytest.mark.parametrize("how", ENDINGS)
def test_the_first_major_leaves_a_call_waiting_when_its_session_is_left(how: str) -> None:
    way = Way("session", "handshake")
    told, by = run(_leave, way, how, limit=30)
    assert (told, "Timed out" in by) == (False, True), GONE
    assert run(_leave, way, how) == (False, "nothing"), GONE


@second_only
@pytest.mark.parametrize("how", ENDINGS)
@every_way
def test_the_second_major_ends_a_call_when_its_session_is_left(way: Way, how: str) -> None:
    told, by = run(_leave, way, how)
    assert told
    assert "Connection closed" in by
