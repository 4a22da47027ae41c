"""A history as text that compares: what differs from run to run, from SDK to SDK and from key to key is gone.

One readable line for each event, after a first one about the recording. Connections and holders are numbered
by first use. A request or a verb has a number only where another of its name is under way: so one line more,
or two that change places, leave the other lines as they are. There are no ids, no times, no headers and no
line numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

from pytest_mcp_conformance.history.entry import Entry, Header, Listed
from pytest_mcp_conformance.history.plain import word

__all__ = ["DigestNames", "normal_lines"]

_NUMBER = re.compile(r" #\d+$")
_BY = {"": "", "client": " by the client", "server": " by the server", "broken": ", its transport broke"}
_RENAMED = {"MCPError": "McpError"}
"""An exception of mcp 2.x, and its name in 1.x."""

Way = tuple[Any, ...]
"""What is under way: whose it is, its name, and its number."""


class DigestNames:
    """Names digests by where they came first: `sum.in1` is the first arguments that a call of `sum` had."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._versions: dict[tuple[str, str], dict[str, int]] = {}

    def __call__(self, kind: str, scope: str, digest: str) -> str:
        """The name of a digest of this kind, which is named after `scope` where it is new."""
        known = self._known.get((kind, digest))
        if known is None:
            self._counts[kind, scope] += 1
            known = f"{scope}.{kind}{self._counts[kind, scope]}"
            self._known[kind, digest] = known
        return known

    def version(self, tool: str, field: str, digest: str) -> str:
        """Which of those seen in a field of a tool's definition it is."""
        seen = self._versions.setdefault((tool, field), {})
        return f"{field}{seen.setdefault(digest, len(seen) + 1)}"


def normal_lines(
    entries: Iterable[Entry], header: Header, *, names: DigestNames | None = None
) -> Iterator[str]:
    """The lines of a history, equal for equal histories; none holds a line feed or what a terminal obeys.

    Args:
        entries: The events.
        header: What was recorded, and of which era.
        names: What digests are called; the same for two histories of one key, whose digests compare.
    """
    yield f"{f'{header.era} era' if header.era else 'any era'}, {header.sees}"
    normal = _Normal(DigestNames() if names is None else names)
    for entry in entries:
        yield normal.line(entry)


class _Numbers:
    """Gives out the least number that is free."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._most = 0

    @property
    def taken(self) -> int:
        return self._most - len(self._free)

    def take(self) -> int:
        if self._free:
            return heappop(self._free)
        self._most += 1
        return self._most

    def give_back(self, number: int) -> None:
        heappush(self._free, number)


class _Normal:
    """Remembers what later lines refer to: who is which number, and what is under way."""

    def __init__(self, names: DigestNames) -> None:
        self._names = names
        self._places: dict[tuple[str, str, int], int] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._verbs: dict[int, Way] = {}
        self._requests: dict[tuple[str, int], dict[tuple[bool, object], Way]] = {}
        self._numbers: dict[Way, _Numbers] = {}

    def line(self, entry: Entry) -> str:
        if entry.who:
            return f"{self._place(entry, 'holder', entry.who)}: {entry.kind}{self._at_the_wrapper(entry)}"
        if not entry.connection:
            where = "script" if entry.kind == "changed" else "wire"
            return f"{where}{_of(entry)}: {entry.kind}{self._at_the_wire(entry)}"
        return f"{self._place(entry, 'connection', entry.connection)}: {entry.kind}{self._at_the_wire(entry)}"

    def _place(self, entry: Entry, what: str, number: int) -> str:
        """The connection or the holder, by first use: connections with each server on their own."""
        server = entry.server if what == "connection" else ""
        if number:
            if (what, server, number) not in self._places:
                self._counts[what, server] += 1
                self._places[what, server, number] = self._counts[what, server]
            number = self._places[what, server, number]
        return f"{what} {number}{_of(entry)}"

    def _at_the_wrapper(self, entry: Entry) -> str:
        begins = entry.kind in ("wanted", "called", "began")
        name = entry.list if entry.kind in ("wanted", "served") else entry.tool or entry.verb
        if entry.tool and entry.verb not in ("", "call_tool"):
            name = f"{entry.verb} {word(entry.tool)}"
        else:
            name = word(name) if name else ""
        if begins:
            self._verbs[entry.op] = way = self._begin(name, "holder", entry.who)
            name = _named(way)
        elif entry.op in self._verbs:
            name = self._end(self._verbs.pop(entry.op))
        parts = [f" {name}" if name else ""]
        if entry.outcome:
            parts.append(f" {entry.outcome}")
        if entry.error:
            parts.append(f" {word(_RENAMED.get(entry.error, entry.error))}")
        return "".join(parts) + self._payload(entry, word(entry.tool or entry.verb))

    def _at_the_wire(self, entry: Entry) -> str:
        of, by = self._request(entry)
        parts = [f" {of}" if of else "", by]
        if entry.subscription is not None:
            parts.append(f" on {self._known(entry, entry.subscription)}")
        if entry.version:
            parts.append(f" version {word(entry.version)}")
        if entry.code is not None:
            parts.append(f" code {entry.code}")
        if entry.kind in ("answered", "replied") and entry.ok is not None:
            parts.append(" ok" if entry.ok else " not ok")
        scope = _NUMBER.sub("", of).removeprefix("tools/call ")
        return "".join(parts) + self._payload(entry, scope)

    def _request(self, entry: Entry) -> tuple[str, str]:
        """Which request an entry is about, and what more is said of it."""
        place = (entry.server, entry.connection)
        requests = self._requests.setdefault(place, {})
        key = (entry.kind in ("requested", "replied"), entry.id)
        name = " ".join(map(word, filter(None, (entry.method, entry.tool))))
        if entry.kind in ("asked", "requested"):
            requests[key] = self._begin(name, *place, key[0])
            return _named(requests[key]), ""
        if entry.kind in ("answered", "failed", "replied"):
            return self._end(requests.pop(key)) if key in requests else f"{name} to nobody".strip(), ""
        if entry.kind == "cancelled":
            return self._known(entry, entry.id), _BY[entry.how]
        if entry.kind == "listened":
            return f"to {' '.join(map(word, entry.lists)) or 'nothing'}", ""
        if entry.kind == "changed":
            return entry.list, ""
        if entry.kind == "closed":
            for way in self._requests.pop(place).values():
                self._end(way)
            return "", _BY[entry.how]
        return name, _BY[entry.how]

    def _begin(self, name: str, *about: object) -> Way:
        """What is under way from here on: whose it is, its name, and the least number that is free."""
        numbers = self._numbers.setdefault((*about, name), _Numbers())
        return (*about, name, numbers.take())

    def _end(self, way: Way) -> str:
        *about, number = way
        numbers = self._numbers[tuple(about)]
        numbers.give_back(number)
        if not numbers.taken:
            del self._numbers[tuple(about)]
        return _named(way)

    def _known(self, entry: Entry, number: object) -> str:
        requests = self._requests.get((entry.server, entry.connection), {})
        servers = entry.how == "server"  # its own request, or what it was asked for
        found = requests.get((servers, number)) or requests.get((not servers, number))
        return _named(found) if found else "what is not under way"

    def _payload(self, entry: Entry, scope: str) -> str:
        parts = []
        if entry.cursor:
            parts.append(f" from {self._names('page', entry.list, entry.cursor)}")
        if entry.arguments:
            parts.append(f" with {self._names('in', scope, entry.arguments)}")
        if entry.result:
            parts.append(f" giving {self._names('out', scope, entry.result)}")
        if entry.ttl is not None:
            parts.append(f" for {entry.ttl:g} ms")
        if entry.scope:
            parts.append(f" {entry.scope}")
        if entry.next:
            parts.append(f" then {self._names('page', entry.list, entry.next)}")
        if entry.tools is not None:
            listed = [self._listed(tool) for tool in entry.tools]
            more = [f"and {entry.more} more"] if entry.more else []
            parts.append(": " + (", ".join(listed + more) or "nothing"))
        return "".join(parts)

    def _listed(self, tool: Listed) -> str:
        """A tool and which of the definitions seen under its name it has: `sum[d1 i2 o1 w2]`."""
        fields = (("d", tool.description), ("i", tool.input), ("o", tool.output), ("w", tool.whole))
        told = " ".join(self._names.version(tool.name, field, digest) for field, digest in fields if digest)
        return f"{word(tool.name)}[{told}]" if told else word(tool.name)


def _named(way: Way) -> str:
    *_, name, number = way
    return f"{name}" if number == 1 else f"{name} #{number}"


def _of(entry: Entry) -> str:
    server = f" of {word(entry.server)}" if entry.server else ""
    return f"{server} ({word(entry.principal)})" if entry.principal else server
