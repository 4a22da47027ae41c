"""What the SDK hands out of a tool's definition."""

from __future__ import annotations

from typing import Any

from tests.sdk.clock import run
from tests.sdk.peer import Peer, tool
from tests.sdk.users import GONE, Way, every_way, first_only, second_only

MORE: dict[str, Any] = {
    "title": "A title",
    "annotations": {"readOnlyHint": True},
    "_meta": {"com.example/kind": "sample"},
}


@second_only
@every_way
def test_a_field_that_the_sdk_does_not_know_is_dropped(way: Way) -> None:
    assert run(handed_out, way, MORE) == MORE
    assert run(handed_out, way, {**MORE, "later": {"deep": [1]}}) == MORE, GONE


@first_only
def test_the_first_major_hands_out_a_field_that_it_does_not_know() -> None:
    whole = {**MORE, "later": {"deep": [1]}}
    assert run(handed_out, Way("session", "handshake"), whole) == whole


async def handed_out(way: Way, more: dict[str, Any]) -> dict[str, Any]:
    """What a user is handed of a tool, beside its name and its schema."""
    peer = Peer([[{**tool("a"), **more}]])
    async with way.connect(peer) as user:
        [listed] = (await user.listing()).tools
        shown: dict[str, Any] = listed.model_dump(by_alias=True, mode="json", exclude_unset=True)
        return {key: value for key, value in shown.items() if key not in ("name", "inputSchema")}
