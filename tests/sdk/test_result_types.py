"""Results of a type that the client does not know, which the modern protocol says to take for invalid."""

from __future__ import annotations

import anyio
import pytest

from tests.sdk.clock import quiet, run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import GONE, MODERN_CLIENT, MODERN_SESSION, Outcome, Way


async def _answered(way: Way, kind: str) -> Outcome:
    """What comes of a call that is answered with a result of type `kind`."""
    peer = Peer([[tool("a")]], holds={"tools/call"})
    outcomes: list[Outcome] = []
    async with way.connect(peer) as user, anyio.create_task_group() as tasks:
        await user.listing()

        async def call() -> None:
            outcomes.append(await user.call("a"))

        tasks.start_soon(call)
        await quiet()
        held = peer.parked.pop()
        held.body["result"]["resultType"] = kind
        held.answer()
    return outcomes[0]


@pytest.mark.parametrize("way", [MODERN_SESSION, MODERN_CLIENT])
def test_a_result_of_an_unknown_type_is_handed_out_as_a_good_one(way: Way) -> None:
    assert run(_answered, way, "complete").accepted
    unknown = run(_answered, way, "later")
    assert unknown.accepted, GONE
    assert not unknown.result.is_error
