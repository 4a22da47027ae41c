"""What the SDK's clients make of HTTP errors, of connections that fail, and of a session that is gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.sdk.clock import run
from tests.sdk.http_peer import Fault, HttpPeer, http, hung_up, refused, status
from tests.sdk.peer import tool
from tests.sdk.users import (
    CLIENT,
    GONE,
    MODERN_CLIENT,
    MODERN_SESSION,
    SECOND,
    SESSION,
    Way,
    every_way,
    first_only,
    second_only,
)

handshake_ways = pytest.mark.parametrize("way", [SESSION, CLIENT])


@dataclass
class Came:
    """What came of calls: the errors of the calls that ended, and what the connection died of."""

    errors: list[str] = field(default_factory=list)
    died: BaseException | None = None
    peer: Any = None

    @property
    def leaf(self) -> BaseException | None:
        """The error inside the groups that task groups make."""
        error = self.died
        while getattr(error, "exceptions", None):
            error = error.exceptions[0]  # type: ignore[union-attr]
        return error


async def calls_under(way: Way, fault: Fault | None, *, number: int = 1, heals: bool = True) -> Came:
    """Some calls meet a fault; then, where it heals, one more call."""
    came = Came(peer=HttpPeer([[tool("a")]]))
    try:
        async with way.connect(came.peer) as user:
            await user.listing()
            if fault is not None:
                came.peer.faults["tools/call"] = fault
            for _ in range(number):
                came.errors.append(str((await user.call("a")).error or "none"))
            if heals:
                came.peer.faults.clear()
                came.errors.append(str((await user.call("a")).error or "none"))
    except BaseException as died:
        came.died = died
    return came


@every_way
def test_calls_over_http_are_answered(way: Way) -> None:
    came = run(calls_under, way, None)
    assert (came.errors, came.died) == (["none", "none"], None)


@first_only
@pytest.mark.parametrize(
    "fault", [status(401), status(500), status(400, "bad arguments")], ids=["401", "500", "400"]
)
def test_in_the_first_major_an_http_error_to_one_call_ends_the_whole_session(fault: Fault) -> None:
    came = run(calls_under, Way("session", "handshake"), fault)
    assert came.errors == [] and isinstance(came.leaf, http.HTTPStatusError), GONE


@second_only
@every_way
@pytest.mark.parametrize("code", [401, 403, 429, 500, 503])
def test_in_the_second_major_an_http_error_does_not_say_its_status(way: Way, code: int) -> None:
    came = run(calls_under, way, status(code))
    assert came.died is None
    assert came.errors == ["Server returned an error response", "none"], GONE


@second_only
@every_way
def test_in_the_second_major_an_error_in_the_body_of_an_http_error_is_what_the_caller_gets(way: Way) -> None:
    assert run(calls_under, way, status(400, "bad arguments")).errors == ["bad arguments", "none"]


@every_way
@pytest.mark.parametrize(
    ("fault", "kind"),
    [(refused, http.ConnectError), (hung_up, http.RemoteProtocolError)],
    ids=["refused", "lost"],
)
def test_a_connection_that_fails_before_the_response_ends_the_whole_session(
    way: Way, fault: Fault, kind: Any
) -> None:
    came = run(calls_under, way, fault)
    assert came.errors == [] and isinstance(came.leaf, kind), GONE


@handshake_ways
def test_a_session_that_the_server_forgot_is_not_replaced(way: Way) -> None:
    came = run(calls_under, way, status(404), number=3, heals=False)
    assert came.errors == ["Session terminated"] * 3
    assert len(came.peer.ids("initialize")) == 1, GONE
    assert {headers["mcp-session-id"] for headers, _ in came.peer.came("tools/call")} == {"the-session"}


@every_way
@pytest.mark.parametrize("fault", [status(401), refused], ids=["401", "refused"])
def test_a_dial_that_fails_raises_at_once(way: Way, fault: Fault) -> None:
    async def dial() -> BaseException:
        peer = HttpPeer([[tool("a")]], faults={"initialize": fault, "server/discover": fault})
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - a group, with the cause in it
            async with way.connect(peer):
                pass
        return raised.value

    error: Any = run(dial)
    assert isinstance(error, Exception)
    leaf = Came(died=error).leaf
    if fault is refused:
        assert isinstance(leaf, http.ConnectError)
    elif SECOND:
        assert str(leaf) == "Server returned an error response"
    else:
        assert "401" in str(leaf)


@second_only
@pytest.mark.parametrize("way", [MODERN_SESSION, MODERN_CLIENT])
def test_a_call_that_is_refused_for_its_headers_is_sent_again_by_the_client_and_not_by_the_session(
    way: Way,
) -> None:
    came = run(calls_under, way, status(400, "Header mismatch", -32020), heals=False)
    assert came.errors == ["Header mismatch"]
    calls, listings = len(came.peer.came("tools/call")), len(came.peer.came("tools/list"))
    assert (calls, listings) == ((2, 2) if way.client == "client" else (1, 1)), GONE


@handshake_ways
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_a_session_id_that_comes_in_two_headers_is_sent_back_as_another_one(way: Way, twice: bool) -> None:
    peer = HttpPeer([[tool("a")]], names_twice=twice)

    async def life() -> None:
        async with way.connect(peer) as user:
            await user.listing()

    run(life)
    ((headers, _),) = peer.came("tools/list")
    named = headers["mcp-session-id"]
    assert named == ("the-session, the-session" if twice else "the-session"), GONE
