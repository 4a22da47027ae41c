"""One connection, from the dial to its end, owned by one task.

The SDK's sessions, and the transports under them, must be left in the task that entered them. So a task of the
client's own enters both, waits, and leaves both; everybody else asks it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any, Protocol

import anyio

from mcp_conformance_reference.errors import ClientError, ConnectionLost, DialFailed, RequestFailed
from mcp_conformance_reference.requests import Request
from mcp_conformance_reference.sdk import Frame, SdkSession, is_session_lost, open_session, rpc_error
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.subscription import Subscription
from mcp_conformance_reference.taps import HungUp, ReadTap, WriteTap
from mcp_conformance_reference.tasks import Shared, spawn

__all__ = ["Connection", "Hears", "OpenStreams"]

OpenStreams = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]
"""Opens one connection: a context manager that gives the SDK's (read, write) pair and closes it when left."""

_serials = count(1)


class Hears(Protocol):
    """Whoever is told of the notices that arrive on a connection."""

    async def hear(self, connection: Connection, frame: Frame) -> None:
        """A notification was read. Runs in the receive loop: must come back at once."""


class Connection:
    """One connection. It is opened once, used by any number of tasks, and ends once.

    Args:
        open_streams: Opens the stream pair.
        settings: The client's measures.
        hears: Told of every notification.

    Attributes:
        serial: A number no other connection of this process has.
        lost: Why it is of no use any more, None while it is.
        finished: Set when the owner task has left everything.
    """

    request_type: type[Request] = Request
    subscription_type: type[Subscription] = Subscription

    def __init__(self, open_streams: OpenStreams, settings: Settings, hears: Hears) -> None:
        self.serial = next(_serials)
        self.settings = settings
        self.lost: ConnectionLost | None = None
        self.finished = anyio.Event()
        self.session: SdkSession
        self._open_streams = open_streams
        self._hears = hears
        self._opened = False
        self._gone = False
        self._ready = anyio.Event()
        self._leave = anyio.Event()
        self._scope = anyio.CancelScope()
        self._failure: BaseException | None = None
        self._requests: set[Request] = set()
        self._by_id: dict[str, Request] = {}
        self._asides: set[Shared[None]] = set()
        self._subscription = self.subscription_type(self)

    # -- the life of it ------------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        """Whether requests may be sent on it."""
        return self._opened and self.lost is None

    async def open(self) -> None:
        """Dial.

        Raises:
            DialFailed: No connection came about; the cause is in the text.
        """
        spawn(self._own, f"mcp connection {self.serial}")
        await self._ready.wait()
        if not self._opened:
            if isinstance(self._failure, DialFailed):
                raise self._failure
            cause = self._failure or self.lost
            raise DialFailed(
                f"{self.settings.name}: no connection could be opened: {cause!r}; see to the cause, the next try dials again"
            ) from cause

    async def _own(self) -> None:
        Request.forget()
        try:
            with self._scope:
                await self._live()
        except BaseException as error:
            self._failure = _leaf(error)
            if not isinstance(error, Exception):
                raise
        finally:
            self.end(self._closed_because(self._failure))
            self.finished.set()
            self._ready.set()

    async def _live(self) -> None:
        async with self._open_streams() as (read, write):
            self.session = open_session(
                ReadTap(read, self._heard, self._hung_up),
                WriteTap(write, self._leaving, self._departed, self._hung_up),
                client_info=self.settings.client_info,
                log_level=self.settings.wanted_log_level,
            )
            async with self.session:
                await self.session.agree(self.settings.era)
                if self.session.era == "modern":
                    await self._subscription.begin()
                if self._gone:
                    raise ConnectionError("the server hung up")
                self._opened = True
                self._ready.set()
                await self._leave.wait()
                if not self._gone:
                    await self._subscription.end()

    def end(self, why: ConnectionLost) -> None:
        """It is of no use any more: requests that wait for an answer end with an error now, without a timer."""
        if self.lost is None:
            self.lost = why
        for request in list(self._requests):
            if not request.answered:  # an answer that has arrived is handed over, whatever came behind it
                request.fail(self.lost_again())
        for aside in list(self._asides):
            aside.fail(self.lost_again())
        self._leave.set()

    async def close(self, why: ConnectionLost) -> None:
        """End it and wait until it is left, `close_limit` seconds in good order and then by force."""
        if not self._opened:
            self._scope.cancel()
        self.end(why)
        with anyio.move_on_after(self.settings.close_limit):
            await self.finished.wait()
        if not self.finished.is_set():
            self._scope.cancel()
            with anyio.move_on_after(self.settings.close_limit):
                await self.finished.wait()

    def lost_again(self) -> ConnectionLost:
        """A fresh error that says why it is lost: one exception object is raised in one task only."""
        why = self.lost or self._closed_because(None)
        return type(why)(*why.args)

    def _closed_because(self, cause: BaseException | None) -> ConnectionLost:
        said = f": {cause!r}" if cause is not None else ""
        return ConnectionLost(f"{self.settings.name}: the connection is closed{said}; try again to dial anew")

    def _hung_up(self) -> None:
        self._gone = True
        if self._opened:  # during the dial the SDK's own error says more
            self.end(self._closed_because(None))

    # -- requests ------------------------------------------------------------------------------------------

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its raw result.

        Raises:
            ConnectionLost: The connection ended before the answer.
            RequestFailed: The server answered with an error.
        """
        request = self.begin(self.request_type, method, params)
        try:
            return await request.wait()
        except Exception as error:
            explained = self.explain(method, error)
            if explained is error:
                raise
            raise explained from error

    def begin(self, kind: type[Request], method: str, params: dict[str, Any]) -> Request:
        """Start one request in a task of its own.

        Raises:
            ConnectionLost: The connection is closed already.
        """
        if self.lost is not None:
            raise self.lost_again()
        request = kind(self.session, method, params, self.given_up, self._forget)
        self._requests.add(request)
        request.start()
        return request

    def explain(self, method: str, error: Exception) -> Exception:
        """What a failure of a request is called by this client."""
        said = rpc_error(error)
        if said is not None and is_session_lost(said):
            self.end(self._closed_because(error))
        if isinstance(error, ClientError):
            return error
        if self.lost is not None or isinstance(error, HungUp):
            return self.lost_again()
        if said is not None:
            return RequestFailed(method, said.message, code=said.code, data=said.data)
        return RequestFailed(method, repr(error))

    def given_up(self, request: Request) -> None:
        """Tell the server that nobody waits for a request that it still works on."""
        if self.lost is None:
            self.aside(lambda: self.say_cancelled(request), f"mcp cancel {request.id}")

    async def say_cancelled(self, request: Request) -> None:
        """Write the cancellation of one open request, in bounded time."""
        with anyio.move_on_after(self.settings.close_limit):
            await self.session.tell(
                "notifications/cancelled", {"requestId": request.id, "reason": "the caller gave up"}
            )

    def aside(self, work: Callable[[], Awaitable[None]], name: str) -> None:
        """Run something beside the verbs, until it is done or the connection ends."""

        async def run() -> None:
            try:
                await work()
            finally:
                self._asides.discard(aside)

        aside: Shared[None] = Shared(run, name)
        self._asides.add(aside)
        aside.start()

    def _forget(self, request: Request) -> None:
        self._requests.discard(request)
        if request.id is not None:
            self._by_id.pop(str(request.id), None)

    # -- the wire ------------------------------------------------------------------------------------------

    async def _leaving(self, frame: Frame) -> None:
        request = Request.current()
        if request is not None and frame.method is not None and frame.id is not None:
            await request.leaving(frame.id)
            self._by_id[str(frame.id)] = request  # "7" answers 7 as well

    def _departed(self, frame: Frame) -> None:
        if frame.method is not None and (request := self._by_id.get(str(frame.id))) is not None:
            request.departed()

    async def _heard(self, frame: Frame) -> None:
        if frame.method is None:
            if (request := self._by_id.get(str(frame.id))) is not None:
                request.answer_heard(frame)
        elif frame.id is None and self.lost is None:
            await self._hears.hear(self, frame)

    # -- what is heard of changes --------------------------------------------------------------------------

    @property
    def subscription(self) -> Subscription:
        """The listen stream of a modern connection; never begun on another."""
        return self._subscription

    def coverage(self) -> object | None:
        """What stands for hearing of every change from now on.

        Returns:
            None while nothing does: a listing asked for now is handed out and not kept. Otherwise a value;
            as long as it stays equal, no change can have been missed since.
        """
        if not self.alive:
            return None
        if self.session.era == "modern":
            covered = self._subscription.coverage()
            return None if covered is None else (self.serial, covered)
        return (self.serial, "notices") if self.session.announces_changes else None


def _leaf(error: BaseException) -> BaseException:
    """The one failure inside groups of one, which task groups make of everything."""
    inside = getattr(error, "exceptions", ())
    return _leaf(inside[0]) if inside else error
