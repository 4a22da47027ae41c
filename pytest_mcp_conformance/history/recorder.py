"""The history of one scenario, written as it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from pytest_mcp_conformance.history.event import Event

__all__ = ["Recorder"]


class Recorder:
    """An ordered list of events that tells its watchers of each one.

    Args:
        now: Seconds on the scenario's clock; a constant 0 where there is none.

    Attributes:
        holders: Gives each holder its number.
        verbs: Gives each verb that begins its number.
        rest: The number of the last event that was there when everything had last come to rest.
    """

    def __init__(self, now: Callable[[], float] = lambda: 0.0) -> None:
        self._now = now
        self.holders = count(1)
        self.verbs = count(1)
        self.rest = 0
        self._events: list[Event] = []
        self._watchers: list[Callable[[], None]] = []
        self._listeners: list[Callable[[Event], None]] = []

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    def __len__(self) -> int:
        return len(self._events)

    def keep_time(self, now: Callable[[], float]) -> None:
        """Take the times of later events from `now`, in seconds."""
        self._now = now

    def record(self, kind: str, **fields: Any) -> Event:
        """Write one event and tell the watchers."""
        event = Event(len(self._events) + 1, self._now(), kind, **fields)
        self._events.append(event)
        for listener in self._listeners:
            listener(event)
        for watcher in tuple(self._watchers):
            watcher()
        return event

    def came_to_rest(self) -> None:
        """Every task waits for something that is not there yet: whatever was sent has been read."""
        self.rest = len(self._events)

    def since(self, mark: int) -> list[Event]:
        """The events written after the first `mark` ones."""
        return self._events[mark:]

    def tell(self, listener: Callable[[Event], None]) -> None:
        """Have `listener` told of each event, of those before as well; it must not write any."""
        for event in self._events:
            listener(event)
        self._listeners.append(listener)

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Have `watcher` called after each event; returns what ends it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)
