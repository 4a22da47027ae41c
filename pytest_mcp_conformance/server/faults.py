"""What may go wrong, as data: each fault has a name, and the steps and the ways in where it makes sense."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_mcp_conformance.contract import ERAS, WAYS, UsageError, eras_over
from pytest_mcp_conformance.history import Event, copied
from pytest_mcp_conformance.server.tools import ABSENT

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.connection import Connection

__all__ = ["FAULTS", "SHAKES_HANDS", "STEPS", "Fault", "Step", "possible", "step_of"]

Answer = Callable[[], None]
Plays = Callable[["Fault", "Connection", "Event | None", Callable[[], Answer]], None]


@dataclass(frozen=True)
class Step:
    """A place in a conversation where something may go wrong.

    Attributes:
        name: What `at=` says.
        says: What happens there, for people.
        method: The request of the client, where it is one.
        takes: Which of these requests.
    """

    name: str
    says: str
    method: str = ""
    takes: Callable[[Event], bool] = lambda request: True


STEPS: Mapping[str, Step] = MappingProxyType(
    {
        step.name: step
        for step in (
            Step("connect", "the client opens a connection"),
            Step("initialize", "it shakes hands", "initialize"),
            Step("discover", "it asks what the server is", "server/discover"),
            Step(
                "list", "it asks for the first page", "tools/list", lambda each: "cursor" not in each.params
            ),
            Step("page", "it asks for another page", "tools/list", lambda each: "cursor" in each.params),
            Step("call", "it calls a tool", "tools/call"),
            Step("notice", "the server says that its tools changed"),
            Step("close", "the client leaves: by DELETE, or by the end of stdin"),
        )
    }
)

SHAKES_HANDS = {"handshake": "initialize", "modern": "discover"}
"""The step with which a connection begins."""


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong. `dataclasses.replace` makes another of its kind.

    Attributes:
        name: What `server.suffers` takes.
        says: What happens, for people.
        at: The steps where it makes sense, each with its ways in.
        plays: What the script does: it is given the fault, the connection, the request where the step is one,
            and what makes the answer. None where the way in does it.
        eras: The eras in which there is such a thing.
        answers: Whether the step is done all the same.
        code: Of a JSON-RPC error.
        text: Of a JSON-RPC error, or of a line that is none.
        result: In place of one; by default one that is wrong for the request.
        status: Of HTTP.
        headers: That go with the status.
        seconds: How long it takes, on the loop's clock.
    """

    name: str
    says: str
    at: Mapping[str, tuple[str, ...]] = field(hash=False)
    plays: Plays | None = field(default=None, repr=False)
    eras: tuple[str, ...] = ERAS
    answers: bool = False
    code: int = -32603
    text: str = "scripted failure"
    result: Any = field(default=ABSENT, hash=False)
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 30.0

    def places(self, era: str) -> dict[str, tuple[str, ...]]:
        """The steps where it makes sense in an era, each with its ways in."""
        if era not in self.eras:
            return {}
        found = {step: tuple(w for w in ways if _is_there(step, w, era)) for step, ways in self.at.items()}
        return {step: ways for step, ways in found.items() if ways}

    def play(self, connection: Connection, request: Event | None, made: Callable[[], Answer]) -> None:
        """Go wrong, now, on one connection; `made` gives what would do the step well."""
        if self.plays is None:
            connection.suffer(self, request)
        else:
            self.plays(self, connection, request, made)


def possible(fault: Fault | str, at: str, way: str, era: str) -> Fault:
    """The fault, once it is known that it can be played there.

    Raises:
        UsageError: There is no such fault or step, or the one makes no sense at the other.
    """
    if isinstance(fault, str):
        if fault not in FAULTS:
            raise UsageError(f"{fault!r}: there is no such fault; there are {', '.join(FAULTS)}")
        fault = FAULTS[fault]
    step_of(at)
    places = fault.places(era)
    if way not in places.get(at, ()):
        there = "; ".join(f"{step} over {', '.join(ways)}" for step, ways in places.items())
        raise UsageError(
            f"the fault {fault.name!r} makes no sense at {at!r} over {way} in the {era} era; "
            f"what is possible: {there or f'nothing in this era, only in {fault.eras[0]}'}"
        )
    return fault


def step_of(at: str) -> Step:
    """The step of this name.

    Raises:
        UsageError: There is none.
    """
    if at not in STEPS:
        raise UsageError(f"at={at!r}: there is no such step; there are {', '.join(STEPS)}")
    return STEPS[at]


def _is_there(step: str, way: str, era: str) -> bool:
    """Whether a step can be seen at all: nobody takes leave of a modern server over HTTP."""
    return era in eras_over(way) and (step != "close" or era == "handshake" or way not in HTTP)


# -- what a script does ----------------------------------------------------------------------------------

_WRONG: Mapping[str, Any] = {
    "initialize": {"protocolVersion": 7},
    "server/discover": {"supportedVersions": 7},
    "tools/list": {"tools": "nonsense"},
    "tools/call": {"content": "nonsense"},
}


def _fail(fault: Fault, connection: Connection, request: Event | None, made: Callable[[], Answer]) -> None:
    assert request is not None
    connection.fail(request, fault.code, fault.text)


def _talk_nonsense(
    fault: Fault, connection: Connection, request: Event | None, made: Callable[[], Answer]
) -> None:
    assert request is not None
    connection.answer(request, copied(_WRONG[request.method] if fault.result is ABSENT else fault.result))


def _do_nothing(fault: Fault, connection: Connection, request: Event | None, made: Any) -> None:
    pass


def _wait(fault: Fault, connection: Connection, request: Event | None, made: Callable[[], Answer]) -> None:
    asyncio.get_running_loop().call_later(fault.seconds, made())


def _hang_up(fault: Fault, connection: Connection, request: Event | None, made: Any) -> None:
    connection.drop()


def _hang_up_by(fault: Fault, connection: Connection, request: Event | None, made: Any) -> None:
    connection.drop(fault)


# -- the faults -----------------------------------------------------------------------------------------

HTTP = ("http", "loopback")
SSE = ("sse",)
STDIO = ("stdio",)
REQUESTS = ("initialize", "discover", "list", "page", "call")


def _at(ways: tuple[str, ...], *steps: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(steps, ways)


def _status(name: str, says: str, status: int, *steps: str, **headers: str) -> Fault:
    fields = tuple(headers.items())
    at = _at(HTTP, *steps) if steps else {**_at((*HTTP, *SSE), *REQUESTS), **_at(HTTP, "close")}
    return Fault(name, says, at, status=status, headers=fields)


_ENDS = _at(STDIO, "connect", *REQUESTS, "notice")

REFUSED = Fault("refused", "nobody takes the connection", _at(WAYS, "connect"), _do_nothing)
ERROR = Fault("error", "a JSON-RPC error", _at(WAYS, *REQUESTS), _fail)
MALFORMED = Fault("malformed", "a result that is no such result", _at(WAYS, *REQUESTS), _talk_nonsense)
SILENT = Fault(
    "silent",
    "nothing comes, ever",
    {**_at(WAYS, *REQUESTS, "notice"), **_at(HTTP, "close")},
    _do_nothing,
)
SLOW = Fault(
    "slow", "it comes after some seconds", {**_at(WAYS, *REQUESTS, "notice"), **_at(HTTP, "close")}, _wait
)
HANGS_UP = Fault(
    "hangs_up",
    "the connection is lost",
    {**_at(("memory", "stdio", "sse"), "connect"), **_at(WAYS, *REQUESTS, "notice"), **_at(HTTP, "close")},
    _hang_up,
)
UNAUTHORIZED = _status(
    "unauthorized", "401 and a challenge", 401, www_authenticate='Bearer error="invalid_token"'
)
FORBIDDEN = _status("forbidden", "403", 403)
NOT_FOUND = _status("not_found", "404", 404)
NOT_ALLOWED = _status("not_allowed", "405: no client may end its session", 405, "close", allow="GET, POST")
TOO_MANY_REQUESTS = _status("too_many_requests", "429 and when to come back", 429, retry_after="30")
SERVER_ERROR = _status("server_error", "500", 500)
UNAVAILABLE = _status("unavailable", "503 and when to come back", 503, retry_after="30")
FORGOTTEN_SESSION = Fault(
    "forgotten_session",
    "404, for the session has expired",
    _at(HTTP, "list", "page", "call"),
    eras=("handshake",),
    status=404,
)
CUT_BODY = Fault("cut_body", "the response breaks off within an event", _at(HTTP, *REQUESTS))
SLOW_BODY = Fault("slow_body", "the response comes in bits, with pauses", _at(HTTP, *REQUESTS), answers=True)
ENDS = Fault("ends", "the child exits", _ENDS, _hang_up_by)
KILLED = Fault("killed", "the child is killed", _ENDS, _hang_up_by)
CLOSES_STDOUT = Fault("closes_stdout", "the child closes its stdout, and lives on", _ENDS, _hang_up_by)
NOISE = Fault(
    "noise",
    "a line on stdout that is no message comes first",
    _at(STDIO, "connect", *REQUESTS),
    answers=True,
    text="Starting up…",
)
IGNORES_EOF = Fault("ignores_eof", "the child lives on when its stdin is closed", _at(STDIO, "close"))
IGNORES_SIGTERM = Fault("ignores_sigterm", "the child lives on after SIGTERM as well", _at(STDIO, "close"))

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {fault.name: fault for fault in list(globals().values()) if isinstance(fault, Fault)}
)
"""Every fault by its name."""
