"""What a schedule itself knows of the faults that showed, without any history: by names, frames and values.

Each list that the script has is of a generation of its own, and has a tool that is named after it. So whoever
is handed a list shows of which generation it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_mcp_conformance.history import Event

__all__ = ["Asked", "Truth"]

_NAMED = re.compile(r"[gh](\d+)")


def generations(names: list[str]) -> set[int]:
    """The generations whose tools are in a list."""
    return {int(found[1]) for name in names if (found := _NAMED.fullmatch(name))}


@dataclass
class Asked:
    """What was known when a list was asked for.

    Attributes:
        floors: For each reason, the oldest generation that may be served.
        seen: The newest generation that this user has been handed.
        at: The time.
        frames: How many listings had been asked of the server.
    """

    floors: dict[str, int]
    seen: int
    at: float
    frames: int


@dataclass
class Truth:
    """What one user may be served, and what showed of it.

    Attributes:
        showed: How often each fault showed.
        floors: For each reason, the oldest generation that may be served from now on.
        seen: The newest generation that was handed out.
        spoilt: Whether something failed, so that old lists are allowed.
        lapses: When the lifetime of the newest answer ends; None where it has none.
    """

    showed: Counter[str] = field(default_factory=Counter)
    floors: dict[str, int] = field(default_factory=dict)
    seen: int = 0
    spoilt: bool = False

    def asks(self, at: float, frames: int) -> Asked:
        """The user asks for the tools."""
        return Asked(dict(self.floors), self.seen, at, frames)

    def is_served(
        self, names: list[str], asked: Asked, frames: int, owned: Any, lapses: float | None
    ) -> None:
        """The user was handed a list.

        Args:
            names: The names in it.
            asked: What was known when it was asked for.
            frames: How many listings have been asked of the server by now.
            owned: Says whether a generation is of this user's list.
            lapses: When the last of all answers had run out; None where one had not.
        """
        found = generations(names)
        if any(not owned(each) for each in found):
            self.showed["another's"] += 1
            return
        if not found or self.spoilt:
            return
        oldest, newest = min(found), max(found)
        for reason, floor in asked.floors.items():
            if oldest < floor <= newest and reason == "notice":
                self.showed["glued"] += 1
            elif newest < floor:
                self.showed[reason] += 1
        if newest < asked.seen:
            self.showed["back"] += 1
        if frames == asked.frames and lapses is not None and asked.at >= lapses:
            self.showed["lapse"] += 1
        self.seen = max(self.seen, newest)


def of_the_wire(events: list[Event], handed: Mapping[str, int]) -> Counter[str]:
    """The faults that raw frames show.

    Args:
        events: The events.
        handed: How many events there were when the result of a call was handed out, by its nonce.
    """
    showed: Counter[str] = Counter()
    used: dict[tuple[int, str], Event] = {}
    asked_by_server: set[tuple[int, Any]] = set()
    sessions = {e.connection for e in events if e.method == "initialize" and e.kind == "asked"}
    for event in events:
        key = (event.connection, repr(event.id))
        if event.kind == "asked":
            if key in used and event.connection in sessions:
                showed["id"] += 1
            used[key] = event
        elif event.kind == "requested":
            asked_by_server.add((event.connection, event.id))
        elif event.kind == "replied" and (event.connection, event.id) not in asked_by_server:
            showed["reply"] += 1
        elif event.kind == "told" and event.method == "notifications/cancelled":
            named = used.get((event.connection, repr(event.params.get("requestId"))))
            nonce = named.arguments.get("nonce") if named is not None else None
            done = named is None or handed.get(str(nonce), event.n) < event.n
            if done or (named is not None and named.method == "initialize"):
                showed["cancelled"] += 1
    return showed
