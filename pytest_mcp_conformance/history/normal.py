"""A history as text that compares: what differs from run to run, from SDK to SDK and from key to key is gone.

One readable line for each event, after a first one about the recording. Connections and holders are numbered
by first use, requests and verbs by what they are about, so that two lines that change places differ in two
lines. There are no ids, no times, no headers and no line numbers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from pytest_mcp_conformance.history.entry import Entry, Header, Listed
from pytest_mcp_conformance.history.plain import clean

__all__ = ["normal_lines", "word"]

_PLAIN = re.compile(r"[\w.:/~@+-]{1,80}")
_BY = {"": "", "client": " by the client", "server": " by the server", "broken": ", its transport broke"}
_RENAMED = {"MCPError": "McpError"}
"""An exception of mcp 2.x, and its name in 1.x."""
_LONG_LIVED = "subscriptions/listen"

Shown = Callable[[str, str, str], str]
"""From a namespace, a scope and a digest to the word for it."""


def normal_lines(entries: Iterable[Entry], header: Header, *, digests: bool = False) -> Iterator[str]:
    """The lines of a history, equal for equal histories; none holds a line feed or anything a terminal obeys.

    Args:
        entries: The events.
        header: What was recorded, and of which era.
        digests: Show them as they are, for histories of one key; by default ordinals of first occurrence.
    """
    yield f"{f'{header.era} era' if header.era else 'any era'}, {header.sees}"
    normal = _Normal((lambda kind, scope, digest: word(digest)) if digests else _Ordinals())
    for entry in entries:
        yield normal.line(entry)


def word(name: str) -> str:
    """A name as one word: as it is where that is plain, else in quotes with every control written out."""
    return name if _PLAIN.fullmatch(name) else clean(json.dumps(name, ensure_ascii=False))


class _Ordinals:
    """Names digests by where they came first: `sum.in1` is the first arguments that a call of `sum` had."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def __call__(self, kind: str, scope: str, digest: str) -> str:
        known = self._known.get((kind, digest))
        if known is None:
            self._counts[kind, scope] += 1
            known = f"{scope}.{kind}{self._counts[kind, scope]}"
            self._known[kind, digest] = known
        return known


class _Normal:
    """Remembers what later lines refer to: who is which number, and what is under way."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._places: dict[tuple[str, str, int], int] = {}
        self._counts: Counter[tuple[object, ...]] = Counter()
        self._verbs: dict[int, str] = {}
        self._requests: dict[tuple[str, int], dict[tuple[bool, object], str]] = {}
        self._versions: dict[tuple[str, str], dict[str, int]] = {}

    def line(self, entry: Entry) -> str:
        if entry.who:
            return f"{self._place(entry, 'user', entry.who)}: {entry.kind}{self._at_the_wrapper(entry)}"
        if entry.kind in ("changed", "astray"):
            where = "script" if entry.kind == "changed" else "wire"
            of = f" {word(entry.list)}" if entry.list else ""
            return f"{where}{_of(entry)}: {entry.kind}{of}"
        return f"{self._place(entry, 'connection', entry.connection)}: {entry.kind}{self._at_the_wire(entry)}"

    def _place(self, entry: Entry, what: str, number: int) -> str:
        """The connection or the user, by first use: connections with each server on their own."""
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
            name = self._verbs[entry.op] = self._numbered(name, "user", entry.who)
        elif entry.op:
            name = self._verbs.pop(entry.op, name)
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
        scope = (of.rpartition(" #")[0] or of).removeprefix("tools/call ")
        return "".join(parts) + self._payload(entry, scope)

    def _request(self, entry: Entry) -> tuple[str, str]:
        """Which request an entry is about, and what more is said of it."""
        place = (entry.server, entry.connection)
        requests = self._requests.setdefault(place, {})
        key = (entry.kind in ("requested", "replied"), entry.id)
        name = " ".join(map(word, filter(None, (entry.method, entry.tool))))
        if entry.kind in ("asked", "requested"):
            requests[key] = self._numbered(name, *place)
            return requests[key], ""
        if entry.kind in ("answered", "failed", "replied"):
            found = requests.get(key, f"{name} to nobody".strip())
            if entry.method != _LONG_LIVED:
                requests.pop(key, None)
            return found, ""
        if entry.kind == "cancelled":
            return self._known(entry, entry.id), _BY[entry.how]
        if entry.kind == "listened":
            return f"to {' '.join(map(word, entry.lists)) or 'nothing'}", ""
        if entry.kind == "closed":
            self._requests.pop(place, None)
            return "", _BY[entry.how]
        return name, ""

    def _numbered(self, name: str, *about: object) -> str:
        key = (*about, name)
        self._counts[key] += 1
        return f"{name} #{self._counts[key]}"

    def _known(self, entry: Entry, number: object) -> str:
        requests = self._requests.get((entry.server, entry.connection), {})
        servers = entry.how == "server"  # its own request, or what it was asked for
        return (
            requests.get((servers, number)) or requests.get((not servers, number)) or "what is not under way"
        )

    def _payload(self, entry: Entry, scope: str) -> str:
        parts = []
        if entry.cursor:
            parts.append(f" from {self._shown('page', entry.list, entry.cursor)}")
        if entry.arguments:
            parts.append(f" with {self._shown('in', scope, entry.arguments)}")
        if entry.result:
            parts.append(f" giving {self._shown('out', scope, entry.result)}")
        if entry.ttl is not None:
            parts.append(f" for {entry.ttl:g} ms")
        if entry.scope:
            parts.append(f" {entry.scope}")
        if entry.next:
            parts.append(f" then {self._shown('page', entry.list, entry.next)}")
        if entry.tools is not None:
            listed = [self._listed(tool) for tool in entry.tools]
            more = [f"and {entry.more} more"] if entry.more else []
            parts.append(": " + (", ".join(listed + more) or "nothing"))
        return "".join(parts)

    def _listed(self, tool: Listed) -> str:
        """A tool and which of the definitions seen under its name it has: `sum[d1 i2 o1 w2]`."""
        fields = (("d", tool.description), ("i", tool.input), ("o", tool.output), ("w", tool.whole))
        told = " ".join(self._version(tool.name, field, digest) for field, digest in fields if digest)
        return f"{word(tool.name)}[{told}]" if told else word(tool.name)

    def _version(self, name: str, field: str, digest: str) -> str:
        if not isinstance(self._shown, _Ordinals):
            return f"{field}:{word(digest)}"
        seen = self._versions.setdefault((name, field), {})
        return f"{field}{seen.setdefault(digest, len(seen) + 1)}"


def _of(entry: Entry) -> str:
    server = f" of {word(entry.server)}" if entry.server else ""
    return f"{server} ({word(entry.principal)})" if entry.principal else server
