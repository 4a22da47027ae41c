"""The request ledger: which requests went out for which call, and what became of each.

A call is begun with `RequestLedger.call`, which gives it a marker and the marked params to send. The watcher
of the connection (`watcher.py`) takes the marker out as the request leaves, and the ledger ties the request's
id to the call; from then on the id alone ties the answer to it. Nothing is matched by content. The call's
context is a second witness: it cannot tie a request to a call, but it says within which call one was written.

States of a record, and who moves it:

    sending --departed--> sent --answer--> answered
       |                   |-----the call's block ends--> abandoned
       |                   '-----the connection ends----> lost
       |--raised, this end was closed: nothing left-----> failed
       '--raised otherwise, or cancelled----------------> delivery unknown

    a call without a request: "not sent"; "unmatched" where one of its method was written within it, unmarked

Source: the seed callMarker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import count
from secrets import token_hex
from typing import Any, Literal

import anyio

from mcp_conformance_reference.marker import TakenMarker, mark_params, take_marker
from mcp_conformance_reference.watcher import WatchedDispatcher, watch_of, watched

__all__ = ["LedgerCall", "RequestLedger", "RequestRecord", "RequestState"]

RequestState = Literal[
    "sending",
    "sent",
    "answered",
    "abandoned",
    "lost",
    "failed",
    "delivery unknown",
    "not sent",
    "unmatched",
]
"""How far a request is; see the drawing in this module. Only `sending` and `sent` are open."""

_within: ContextVar[str | None] = ContextVar("mcp_conformance_reference_call", default=None)


@dataclass
class RequestRecord:
    """One request that left, or one call that sent none. Nothing of the payload is in it unless asked for.

    Attributes:
        number: From 1, in the order in which the ledger learnt of them.
        method: The JSON-RPC method.
        call: The `ref` of the call whose marker it carried, None where it matches no call.
        connection: The number of the connection, from 1 in the order of watching; 0 where nothing was sent.
        request_id: The JSON-RPC id, which is of this connection only; None where there is none.
        attempt: From 1 among the requests of one call; 0 where it is no call's.
        state: How far it is.
        within: The `ref` of the call in whose context it was written, None outside of any.
        error_code: The code, where it was answered with an error.
        kept: What the ledger's `keep` made of its params.

    Source: the seed callMarker.
    """

    number: int
    method: str
    call: str | None
    connection: int = 0
    request_id: str | int | None = None
    attempt: int = 0
    state: RequestState = "sending"
    within: str | None = None
    error_code: int | None = None
    kept: Any = None


class LedgerCall:
    """One call under way.

    Args:
        ref: Its marker, which names it in the records.
        params: The marked params, to be sent.
        method: The method.

    Source: the seed callMarker.
    """

    def __init__(self, ref: str, params: dict[str, Any], method: str) -> None:
        self.ref = ref
        self.params = params
        self.method = method
        self.attempts: list[RequestRecord] = []
        self.written_within = False


class RequestLedger:
    """Ties calls to requests, over any number of connections.

    Its memory is bounded: at most `limit` records that are settled, the oldest dropped first, and at most
    `limit` open ones, the oldest given up first.

    Args:
        limit: How many records of each kind are kept, 1 or more.
        keep: Makes what a record keeps of a request, from its params as they are sent; nothing by default.

    Raises:
        ValueError: The limit is below 1.

    Source: the seed callMarker.
    """

    def __init__(self, *, limit: int = 1000, keep: Callable[[Mapping[str, Any]], Any] | None = None) -> None:
        if limit < 1:
            raise ValueError(f"limit is {limit}: give 1 or more")
        self._limit = limit
        self._keep = keep
        self._family = token_hex(8)
        self._numbers = count(1)
        self._connections = count(1)
        self._calls: dict[str, LedgerCall] = {}
        self._open: dict[int, RequestRecord] = {}
        self._by_id: dict[tuple[int, str], RequestRecord] = {}
        self._settled: deque[RequestRecord] = deque(maxlen=limit)

    # -- for whoever connects and calls --------------------------------------------------------------------

    def watch(self, read: Any, write: Any) -> tuple[Any, Any]:
        """Watch one connection. Call it before the SDK session is built.

        Args:
            read: The transport's read stream.
            write: The transport's write stream. Where another ledger watches it already, this one joins that
                watcher: one connection has one.

        Returns:
            The (read, write) pair for the session.

        Source: the seed callMarker.
        """
        read, write = watched(read, write)
        watch_of(write).join(self)
        return read, write

    def watch_dispatcher(self, dispatcher: Any) -> Any:
        """Watch a connection without frames: a dispatcher of mcp 2.x that calls its server directly.

        Returns:
            The dispatcher for `ClientSession(dispatcher=)`. Its requests have no id.

        Source: the seed callMarker.
        """
        if not isinstance(dispatcher, WatchedDispatcher):
            dispatcher = WatchedDispatcher(dispatcher)
        watch_of(dispatcher).join(self)
        return dispatcher

    @contextmanager
    def call(self, params: Mapping[str, Any], method: str = "tools/call") -> Iterator[LedgerCall]:
        """One call, from here to the end of the block; after it none of its requests is open.

        Args:
            params: The params to send, which are not changed.
            method: Their method.

        Returns:
            The call; send its `params` inside the block.

        Raises:
            ValueError: `_meta` of the params is no object or holds a reserved key; see `mark_params`.

        Source: the seed callMarker.
        """
        ref = self.new_ref()
        call = LedgerCall(ref, self.mark(params, ref), method)
        before = _within.get()
        self._calls[ref] = call
        _within.set(ref)
        try:
            yield call
        finally:
            _within.set(before)
            self.end(call)

    def records(self, call: str | None = None) -> list[RequestRecord]:
        """Copies of the records, of one call where its `ref` is given, in the order of their numbers."""
        known = sorted([*self._settled, *self._open.values()], key=lambda record: record.number)
        return [replace(record) for record in known if call is None or record.call == call]

    # -- the marker ----------------------------------------------------------------------------------------

    def new_ref(self) -> str:
        """A marker that no other call has, in any ledger; it says nothing of its call."""
        return f"{self._family}-{token_hex(8)}"

    def owns(self, ref: str) -> bool:
        """Whether a marker is of a call of this ledger, under way or over."""
        return ref.startswith(f"{self._family}-")

    def mark(self, params: Mapping[str, Any], ref: str) -> dict[str, Any]:
        """The params with the marker."""
        return mark_params(params, ref)

    def take(self, message: Mapping[str, Any]) -> TakenMarker:
        """The marker of an outgoing message, and the message without it."""
        return take_marker(message)

    # -- for the watcher -----------------------------------------------------------------------------------

    def connected(self) -> int:
        """A number for a connection that is watched from now on."""
        return next(self._connections)

    def leaving(
        self,
        connection: int,
        method: str,
        request_id: str | int | None,
        params: Mapping[str, Any] | None,
        ref: str | None,
    ) -> RequestRecord:
        """A request is about to be written: `params` are as sent, `ref` is the marker taken out of it."""
        record = RequestRecord(next(self._numbers), method, ref, connection, request_id)
        record.within = self.witness()
        if self._keep is not None:
            record.kept = self._keep(params or {})
        if (call := self.call_of(record)) is not None:
            call.attempts.append(record)
            record.attempt = len(call.attempts)
        elif record.within is not None and record.call is None:
            inside = self._calls.get(record.within)
            if inside is not None and inside.method == method:
                inside.written_within = True
        self._open[record.number] = record
        if request_id is not None:
            self._by_id[_key(connection, request_id)] = record
        if len(self._open) > self._limit:
            self.settle(next(iter(self._open.values())), "abandoned")
        return record

    def departed(self, record: RequestRecord) -> None:
        """It is written. A call that is over by now waits for no answer."""
        if record.number in self._open:
            record.state = "sent"
            if record.call is not None and self.call_of(record) is None:
                self.settle(record, "abandoned")

    def raised(self, record: RequestRecord, error: BaseException) -> None:
        """Writing it raised. Only of an end that was closed before is it known that nothing left."""
        self.settle(record, "failed" if isinstance(error, anyio.ClosedResourceError) else "delivery unknown")

    def heard(self, connection: int, request_id: str | int, error_code: int | None) -> None:
        """An answer was read; one to a request that is not open is nobody's."""
        if (record := self._by_id.get(_key(connection, request_id))) is not None:
            self.answered(record, error_code)

    def answered(self, record: RequestRecord, error_code: int | None) -> None:
        """A request was answered."""
        record.error_code = error_code
        self.settle(record, "answered")

    def disconnected(self, connection: int) -> None:
        """The connection ended: nothing that is open on it is answered any more."""
        for record in [each for each in self._open.values() if each.connection == connection]:
            self.settle(record, "lost")

    # -- inside --------------------------------------------------------------------------------------------

    def call_of(self, record: RequestRecord) -> LedgerCall | None:
        """The call under way that a request belongs to: by its marker, and by nothing else."""
        return None if record.call is None else self._calls.get(record.call)

    def witness(self) -> str | None:
        """The call in whose context this runs."""
        ref = _within.get()
        return ref if ref is not None and self.owns(ref) else None

    def end(self, call: LedgerCall) -> None:
        """The call is over."""
        del self._calls[call.ref]
        for record in call.attempts:
            self.settle(record, "abandoned")
        if not call.attempts:
            silent = RequestRecord(next(self._numbers), call.method, call.ref)
            silent.state = "unmatched" if call.written_within else "not sent"
            self._settled.append(silent)

    def settle(self, record: RequestRecord, state: RequestState) -> None:
        """Nothing more will happen to a request. Without effect once that is so."""
        if self._open.pop(record.number, None) is None:
            return
        record.state = state
        if record.request_id is not None:
            key = _key(record.connection, record.request_id)
            if self._by_id.get(key) is record:
                del self._by_id[key]
        self._settled.append(record)


def _key(connection: int, request_id: str | int) -> tuple[int, str]:
    """How answers find their request: as in the SDKs, "7" answers 7, and ids are of one connection."""
    return connection, str(request_id)
