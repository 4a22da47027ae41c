"""One connection, from the dial to its end, owned by one task.

The SDK's sessions, and the transports under them, must be left in the task that entered them. So a task of
the client's own enters both, waits, and leaves both; everybody else asks it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import count
from typing import Any, Protocol

import anyio

from mcp_conformance_reference.errors import ConnectionLost, DialFailed
from mcp_conformance_reference.requests import Request
from mcp_conformance_reference.sdk import Frame, SdkSession, open_session
from mcp_conformance_reference.settings import Settings
from mcp_conformance_reference.taps import ReadTap, WriteTap
from mcp_conformance_reference.tasks import spawn

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
        serial: A number that no other connection of this process has.
        session: The SDK session, once it is dialled.
        exchange: The requests that are out on it.
        subscription: Its listen stream, which is begun in the modern era alone.
        finished: Set when the owner task has left everything.
        input_schema_of: Gives the input schema of a tool as it is known now, for the headers of its calls.
    """

    def __init__(self, open_streams: OpenStreams, settings: Settings, hears: Hears) -> None:
        self.serial = next(_serials)
        self.settings = settings
        self.finished = anyio.Event()
        self.session: SdkSession
        self.input_schema_of: Callable[[str], Any] = lambda name: None
        self.exchange = settings.parts.exchange_type(settings, lambda: self.session, self.lost_by)
        self.subscription = settings.parts.subscription_type(settings, self.exchange)
        self._open_streams = open_streams
        self._hears = hears
        self._opened = False
        self._hung_up = False
        self._ready = anyio.Event()
        self._leave = anyio.Event()
        self._scope = anyio.CancelScope()
        self._failure: BaseException | None = None

    @property
    def alive(self) -> bool:
        """Whether requests may be sent on it."""
        return self._opened and self.exchange.over is None

    # -- for everybody -------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Dial.

        Raises:
            DialFailed: No connection came about; the cause is in the text.
        """
        spawn(self._own, f"mcp connection {self.serial}")
        await self._ready.wait()
        if not self._opened:
            raise self.dial_failed(self._failure or self.exchange.over)

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its raw result; see `Exchange.ask`."""
        return await self.exchange.ask(method, params)

    def coverage(self) -> object | None:
        """What stands for hearing of every change from now on.

        Returns:
            None while nothing does: a listing asked for now is handed out and not kept. Otherwise a value; as
            long as it stays equal, no change can have been missed since.
        """
        if not self.alive:
            return None
        if self.session.era == "modern":
            watched = self.subscription.coverage()
        else:
            watched = "notices" if self.session.announces_changes else None
        return None if watched is None else (self.serial, watched)

    def end(self, why: ConnectionLost) -> None:
        """It is of no use any more: whoever waits for an answer gets an error now, without a timer."""
        self.exchange.end(why)
        self._leave.set()

    async def close(self, why: ConnectionLost) -> None:
        """End it and wait until it is left: `close_limit` seconds in good order, and then by force."""
        if not self._opened:
            self._scope.cancel()
        self.end(why)
        with anyio.move_on_after(self.settings.close_limit):
            await self.finished.wait()
        if not self.finished.is_set():
            self._scope.cancel()
            with anyio.move_on_after(self.settings.close_limit):
                await self.finished.wait()

    # -- in the owner task ---------------------------------------------------------------------------------

    async def _own(self) -> None:
        Request.forget()
        try:
            with self._scope:
                await self.live()
        except BaseException as error:
            self._failure = _leaf(error)
            if not isinstance(error, Exception):
                raise
        finally:
            self.end(self.closed_by(self._failure))
            self.finished.set()
            self._ready.set()

    async def live(self) -> None:
        """Enter everything, wait for the end, leave everything."""
        async with self._open_streams() as (read, write):
            self.session = self.make_session(read, write)
            async with self.session:
                await self.session.agree(self.settings.era)
                await self.watch()
                if self._hung_up:
                    raise ConnectionError("the server hung up")
                self._opened = True
                self._ready.set()
                await self.stay()
                if not self._hung_up:
                    await self.subscription.end()

    async def stay(self) -> None:
        """Wait for the end. A transport that breaks ends this by a cancellation, and says later why."""
        try:
            await self._leave.wait()
        except BaseException:
            self.exchange.ending(self.settings.close_limit)
            raise

    def make_session(self, read: Any, write: Any) -> SdkSession:
        """The SDK session over the stream pair, both streams listened to."""
        return open_session(
            ReadTap(read, self.heard, self.hung_up),
            WriteTap(write, self.exchange.leaving, self.exchange.departed, self.hung_up),
            client_info=self.settings.client_info,
            log_level=self.settings.wanted_log_level,
            capabilities=self.settings.capabilities,
            input_schema_of=lambda name: self.input_schema_of(name),
        )

    async def watch(self) -> None:
        """Ask to hear of changes, where that has to be asked for."""
        if self.session.era == "modern":
            await self.subscription.begin()

    # -- on the wire ---------------------------------------------------------------------------------------

    async def heard(self, frame: Frame) -> None:
        """A message was read. Runs in the receive loop, before the SDK sees the message."""
        if frame.method is None:
            self.exchange.answered(frame)
        elif frame.id is None and self.exchange.over is None:
            await self._hears.hear(self, frame)

    def hung_up(self) -> None:
        """One of the streams ended."""
        self._hung_up = True
        if self._opened:  # during the dial the SDK's own error says more
            self.end(self.closed_by(None))

    def lost_by(self, cause: BaseException) -> None:
        """A request failed in a way that shows that there is no connection any more."""
        self._hung_up = True
        self.end(self.closed_by(cause))

    def closed_by(self, cause: BaseException | None) -> ConnectionLost:
        """The error that says that the connection is closed."""
        said = "" if cause is None else f" ({cause!r})"
        return ConnectionLost(f"{self.settings.name}: the connection is closed{said}; try again to dial anew")

    def dial_failed(self, cause: BaseException | None) -> DialFailed:
        """The error that says that no connection came about."""
        if isinstance(cause, DialFailed):
            return cause
        failed = DialFailed(f"{self.settings.name}: no connection ({cause!r}); the next verb dials again")
        failed.__cause__ = cause
        return failed


def _leaf(error: BaseException) -> BaseException:
    """The failure inside the groups that task groups make of everything."""
    inside = getattr(error, "exceptions", ())
    return _leaf(inside[0]) if inside else error
