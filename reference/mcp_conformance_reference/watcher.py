"""The watcher of one connection: it takes markers out of what leaves, and tells ledgers what it saw.

It stands where messages leave the SDK: around the write stream, or around the dispatcher of mcp 2.x where
there are no streams. One connection has one watcher, however many ledgers look at it, and a marker is taken
out only for the ledger that it can be reported to.

Source: the seed callMarker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any, Protocol

from mcp_conformance_reference.marker import TakenMarker
from mcp_conformance_reference.sdk import MAJOR, Frame, frame_of, rpc_error
from mcp_conformance_reference.taps import ReadTap

__all__ = ["Ledger", "Watch", "WatchedDispatcher", "WatchedRead", "WatchedWrite", "watch_of", "watched"]

Params = Mapping[str, Any]


class Ledger(Protocol):
    """Whoever is told of the requests of a connection; see `RequestLedger`."""

    def connected(self) -> int:
        """A number for the connection."""

    def take(self, message: Params) -> TakenMarker:
        """The marker of a message, and the message without it."""

    def owns(self, ref: str) -> bool:
        """Whether a marker is of this ledger."""

    def leaving(
        self,
        connection: int,
        method: str,
        request_id: str | int | None,
        params: Params | None,
        ref: str | None,
    ) -> Any:
        """A request is about to be written; gives its record."""

    def departed(self, record: Any) -> None:
        """It is written."""

    def raised(self, record: Any, error: BaseException) -> None:
        """It could not be written."""

    def heard(self, connection: int, request_id: str | int, error_code: int | None) -> None:
        """An answer with this id was read."""

    def answered(self, record: Any, error_code: int | None) -> None:
        """A request without an id was answered."""

    def disconnected(self, connection: int) -> None:
        """The connection ended."""


class Passing:
    """One request on its way out.

    Args:
        params: Its params without the marker.
        told: The ledgers that are told of it, each with its record.
    """

    def __init__(self, params: Params | None, told: list[tuple[Ledger, Any]]) -> None:
        self.params = params
        self._told = told

    def departed(self) -> None:
        """It is written."""
        for ledger, record in self._told:
            ledger.departed(record)

    def raised(self, error: BaseException) -> None:
        """Writing it raised."""
        for ledger, record in self._told:
            ledger.raised(record, error)

    def answered(self, error_code: int | None) -> None:
        """It was answered."""
        for ledger, record in self._told:
            ledger.answered(record, error_code)


class Watch:
    """One connection and the ledgers that look at it."""

    def __init__(self) -> None:
        self._ledgers: dict[int, tuple[Ledger, int]] = {}

    def join(self, ledger: Ledger) -> None:
        """A ledger looks on from now on. A second time is nothing."""
        if id(ledger) not in self._ledgers:
            self._ledgers[id(ledger)] = ledger, ledger.connected()

    def leaving(self, method: str, request_id: str | int | None, params: Params | None) -> Passing:
        """Take the marker out of a request, and tell its ledger; a request of no ledger is told to all."""
        ledgers = list(self._ledgers.values())
        for ledger, connection in ledgers:
            taken = ledger.take({"params": params})
            if taken.marker is not None and ledger.owns(taken.marker):
                bare = taken.message["params"]
                record = ledger.leaving(connection, method, request_id, bare, taken.marker)
                return Passing(bare, [(ledger, record)])
        unmatched = [
            (ledger, ledger.leaving(connection, method, request_id, params, None))
            for ledger, connection in ledgers
        ]
        return Passing(params, unmatched)

    def heard(self, frame: Frame) -> None:
        """A message was read."""
        if frame.method is None and frame.id is not None:
            for ledger, connection in self._ledgers.values():
                ledger.heard(connection, frame.id, frame.error_code)

    def ended(self) -> None:
        """One of the streams ended."""
        for ledger, connection in self._ledgers.values():
            ledger.disconnected(connection)


class WatchedRead(ReadTap):
    """A read stream whose answers the ledgers hear of.

    Args:
        stream: The transport's read stream.
        watch: The connection's watch.
    """

    def __init__(self, stream: Any, watch: Watch) -> None:
        async def heard(frame: Frame) -> None:
            watch.heard(frame)

        super().__init__(stream, heard, watch.ended)


class WatchedWrite:
    """A write stream that takes markers out. Everything else is as the stream under it does it.

    Args:
        stream: The transport's write stream.
        watch: The connection's watch.
    """

    def __init__(self, stream: Any, watch: Watch) -> None:
        self._stream = stream
        self.watch = watch

    def __getattr__(self, name: str) -> Any:
        if name in ("send_nowait", "clone"):
            raise AttributeError(f"a watched stream has no {name}: it would leave past the watcher")
        return getattr(self._stream, name)

    async def __aenter__(self) -> WatchedWrite:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> Any:
        self.watch.ended()
        return await self._stream.__aexit__(*exc)

    async def aclose(self) -> None:
        """Close the stream under this."""
        self.watch.ended()
        await self._stream.aclose()

    async def send(self, item: Any) -> Any:
        """Send one message like the stream under this: what that returns, raises and waits for is kept."""
        frame = frame_of(item)
        if frame is None or frame.method is None or frame.id is None:
            return await self._stream.send(item)
        passing = self.watch.leaving(frame.method, frame.id, frame.params)
        if passing.params is not frame.params:
            item = with_params(item, dict(passing.params or {}))
        try:
            returned = await self._stream.send(item)
        except BaseException as error:
            passing.raised(error)
            raise
        passing.departed()
        return returned


class WatchedDispatcher:
    """A dispatcher of mcp 2.x that takes markers out of requests; they have no id here.

    Args:
        dispatcher: The dispatcher under it.
    """

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self.watch = Watch()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dispatcher, name)

    async def run(self, *args: Any, **kwargs: Any) -> None:
        """Run the dispatcher under this."""
        try:
            await self._dispatcher.run(*args, **kwargs)
        finally:
            self.watch.ended()

    async def notify(self, *args: Any, **kwargs: Any) -> None:
        """Send a notification, as it is."""
        await self._dispatcher.notify(*args, **kwargs)

    async def send_raw_request(
        self, method: str, params: Params | None, opts: Any = None, **more: Any
    ) -> dict[str, Any]:
        """Send one request without its marker, and wait for its result."""
        passing = self.watch.leaving(method, None, params)
        try:
            result: dict[str, Any] = await self._dispatcher.send_raw_request(
                method, passing.params, opts, **more
            )
        except BaseException as error:
            if (code := answer_code(error)) is not None:
                passing.answered(code)
            else:
                passing.raised(error)
            raise
        passing.answered(None)
        return result


def watched(read: Any, write: Any) -> tuple[Any, Any]:
    """A stream pair with a watch; the very pair where it has one."""
    if isinstance(write, WatchedWrite):
        return read, write
    watch = Watch()
    return WatchedRead(read, watch), WatchedWrite(write, watch)


def watch_of(end: Any) -> Watch:
    """The watch of a watched write stream or dispatcher."""
    watch: Watch = end.watch
    return watch


def with_params(item: Any, params: dict[str, Any]) -> Any:
    """What the SDK's streams carry, with other params, as the SDK would have written it with these.

    A new item, whose metadata are the old one's. The SDK's own message is not changed.
    """
    message = item.message
    if MAJOR == 1:
        return replace(item, message=type(message)(message.root.model_copy(update={"params": params})))
    if params.get("_meta") == {}:
        params = {
            key: value for key, value in params.items() if key != "_meta"
        }  # 2.x never writes an empty one
    message = message.model_copy(update={"params": params})
    if not params:
        message.model_fields_set.discard("params")  # and no empty params
    return replace(item, message=message)


def answer_code(error: BaseException) -> int | None:
    """The code of an error that the server answered with; None for one that is no answer."""
    said = rpc_error(error)
    if said is None:
        return None
    types = import_module("mcp_types")
    return None if said.code in (types.CONNECTION_CLOSED, types.REQUEST_TIMEOUT) else said.code
