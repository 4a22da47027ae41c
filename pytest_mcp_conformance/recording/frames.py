"""The frames of one connection, from either side, as events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pytest_mcp_conformance.history import is_frame, kind_from_client, kind_from_server
from pytest_mcp_conformance.recording.record import Record

__all__ = ["LONGEST", "Frames", "Side", "frames_of", "remember"]

LONGEST = 64 * 1024 * 1024
"""Bytes of a message that are read; what is longer is passed on all the same, and recorded as no frame."""

_MOST_SEEN = 100_000
_PARTS = frozenset({"method", "result", "error"})
_NO_HEADERS: Mapping[str, str] = {}

Side = Literal["client", "server"]


class Frames:
    """One connection that is looked at from between its two ends.

    Args:
        record: Where events are written.
        principal: Whoever its credentials stand for, as an ordinal; `None` where it carries none.
        headers: What came with its opening.

    Attributes:
        number: Of the connection, from 1.
        open: False once it was closed; what is said after that is not recorded.
        asked: The methods of the client's requests that are not answered, by their ids.
    """

    def __init__(
        self, record: Record, principal: str | None = None, headers: Mapping[str, str] = _NO_HEADERS
    ) -> None:
        self.number = record.next_connection()
        self.principal = principal
        self.open = True
        self.asked: dict[Any, str] = {}
        self._requested: dict[Any, str] = {}
        self._used: dict[Any, None] = {}
        self._events: dict[bytes, None] = {}
        self._record = record
        self._event("opened", headers=headers)

    def has_used(self, number: Any) -> bool:
        """Whether a request of the client had this id."""
        return number in self._used

    def said(
        self,
        by: Side,
        text: bytes,
        headers: Mapping[str, str] = _NO_HEADERS,
        principal: str | None = None,
    ) -> None:
        """Take a message as it was on the wire: a frame, several in a batch, or what is neither."""
        for frame in frames_of(text):
            if frame is None:
                self.garbled(by)
            elif by == "client":
                self.from_client(frame, headers, principal)
            else:
                self.from_server(frame, headers)

    def garbled(self, by: Side) -> None:
        """Take what is no frame."""
        self._event("garbled", how=by)

    def from_client(
        self,
        frame: Mapping[str, Any],
        headers: Mapping[str, str] = _NO_HEADERS,
        principal: str | None = None,
    ) -> None:
        """Take a frame of the client."""
        kind, number = kind_from_client(frame), frame.get("id")
        method = frame.get("method") or self._requested.pop(number, "")
        if kind == "asked":
            remember(self.asked, number, method)
            remember(self._used, number, None)
        whoever = principal if principal is not None else self.principal
        self._event(kind, frame, id=number, method=method, headers=headers, principal=whoever)

    def from_server(self, frame: Mapping[str, Any], headers: Mapping[str, str] = _NO_HEADERS) -> None:
        """Take a frame of the server."""
        kind, number = kind_from_server(frame), frame.get("id")
        method = frame.get("method") or self.asked.pop(number, "")
        if kind == "requested":
            remember(self._requested, number, method)
        self._event(kind, frame, id=number, method=method, headers=headers)

    def refused(self, number: Any, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        """Take an error that is none of JSON-RPC for a request; nothing where it has ended."""
        if number in self.asked:
            self._event("failed", id=number, method=self.asked.pop(number), headers=headers)

    def gave_up(self, number: Any) -> None:
        """Take that the client left the response of a request: a cancellation, of a request that is open."""
        if number in self.asked:
            method = "notifications/cancelled"
            frame = {"jsonrpc": "2.0", "method": method, "params": {"requestId": number}}
            self._event("told", frame, method=method)

    def is_again(self, event: bytes) -> bool:
        """Whether an event of a stream, by its id, was there before."""
        known = event in self._events
        remember(self._events, event, None)
        return known

    def close(self, how: Literal["client", "server", "broken", ""]) -> None:
        """Write that it was closed, and by whom; empty where only the recording ends. Once."""
        if self.open:
            self._event("closed", how=how)
            self.open = False
            for known in (self.asked, self._requested, self._used, self._events):
                known.clear()

    def _event(self, kind: str, frame: Mapping[str, Any] = _NO_HEADERS, **fields: Any) -> None:
        if self.open:
            known = {"principal": self.principal, **fields}
            self._record.event(kind, connection=self.number, message=frame, **known)


def frames_of(text: bytes) -> Iterator[dict[str, Any] | None]:
    """The frames of a message, of a batch one by one; `None` for what is no frame."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        yield None
        return
    for each in told if isinstance(told, list) and told else [told]:
        yield each if _is_whole(each) else None


def _is_whole(value: Any) -> bool:
    """Whether it is a frame; an error may answer what nobody could read, and has no id then."""
    if isinstance(value, dict) and "error" in value and value.get("id", 0) is None:
        value = {**value, "id": 0}
    return is_frame(value) and not _PARTS.isdisjoint(value)


def remember(known: dict[Any, Any], key: Any, value: Any, most: int = _MOST_SEEN) -> None:
    """Add to what is known, and forget the oldest where it is too much."""
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]
