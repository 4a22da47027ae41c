"""One entry in a few words, for people: `asked tools/call sum with 3fa2c1 (id 4, generation 2)`."""

from __future__ import annotations

from pytest_mcp_conformance.history.entry import Entry, Listed
from pytest_mcp_conformance.history.plain import clean, word

__all__ = ["LANES", "Words", "lane_of"]

LANES = ("wrapper", "server", "notices")
"""Where an entry is drawn: at the wrapper, at a connection, or among what makes lists out of date."""

_NOTICES = frozenset({"changed", "noticed", "listened"})
_ENDS = frozenset({"answered", "failed", "replied", "cancelled"})
_SHORT = 6
_MOST_NAMES = 10_000
_MOST_VERSIONS = 32
_HOW = {"": "", "client": " by the client", "server": " by the server", "broken": ": its transport broke"}

Shown = tuple[str, str, str]


def lane_of(entry: Entry) -> int:
    """The place of an entry's lane in `LANES`."""
    return 0 if entry.who else 2 if entry.kind in _NOTICES else 1


class Words:
    """Says entries of one history, in their order; a definition unlike those before is told apart."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[int, Shown]]] = {}

    def __call__(self, entry: Entry) -> str:
        """The words of an entry; nothing in them is obeyed by a terminal, and there is no line feed."""
        said = self._at_the_wrapper(entry) if entry.who else self._at_the_wire(entry)
        return f"{_whose(entry)}{said}{_payload(entry)}{_bracket(entry)}{self._tools(entry)}"

    def _at_the_wrapper(self, entry: Entry) -> str:
        if entry.kind == "wanted":
            return "wanted the tools"
        verb = "" if entry.verb in ("", "call_tool") or entry.kind == "served" else f" {word(entry.verb)}"
        tool = f" {word(entry.tool)}" if entry.tool else ""
        came = " ".join([*filter(None, [entry.outcome]), *map(word, filter(None, [entry.error]))])
        return f"{entry.kind}{verb}{tool}{': ' if came else ''}{came}"

    def _at_the_wire(self, entry: Entry) -> str:
        name = word(entry.method.removeprefix("notifications/")) if entry.method else ""
        if entry.kind == "changed":
            return f"{entry.list} changed"
        if entry.kind == "noticed":
            return name
        if entry.kind == "listened":
            return f"listens to {', '.join(map(word, entry.lists)) or 'nothing'}"
        good = "" if entry.ok is None else " ok" if entry.ok else " not ok"
        code = "" if entry.code is None else f" code {entry.code}"
        tool = f" {word(entry.tool)}" if entry.tool else ""
        return f"{entry.kind}{' ' if name else ''}{name}{tool}{good}{code}{_HOW[entry.how]}"

    def _tools(self, entry: Entry) -> str:
        if entry.tools is None:
            return ""
        more = [f"and {entry.more} more"] if entry.more else []
        return ": " + (", ".join([*map(self._tool, entry.tools), *more]) or "nothing")

    def _tool(self, tool: Listed) -> str:
        version = self._version(tool)
        return word(tool.name) if version == 1 else f"{word(tool.name)} ({version})"

    def _version(self, tool: Listed) -> int:
        """Which of the definitions seen under its name it is: all that both show is equal."""
        shown = (tool.description, tool.input, tool.output)
        if len(self._seen) > _MOST_NAMES:
            self._seen.clear()
        seen = self._seen.setdefault(tool.name, [])
        for at, (version, known) in enumerate(seen):
            if all(one == other or not one or not other for one, other in zip(known, shown, strict=True)):
                fuller = tuple(one or other for one, other in zip(known, shown, strict=True))
                seen[at] = version, (fuller[0], fuller[1], fuller[2])
                return version
        version = seen[-1][0] + 1 if seen else 1
        seen.append((version, shown))
        del seen[:-_MOST_VERSIONS]
        return version


def _whose(entry: Entry) -> str:
    """Which user or connection it is, where there may be several."""
    number = entry.who or entry.connection
    parts = [str(number)] if number > 1 else []
    parts += [word(each) for each in (entry.server, entry.principal) if each]
    return f"[{' '.join(parts)}] " if parts else ""


def _payload(entry: Entry) -> str:
    parts = []
    if entry.cursor:
        parts.append(f" from {_short(entry.cursor)}")
    if entry.arguments:
        parts.append(f" with {_short(entry.arguments)}")
    if entry.result:
        parts.append(f" giving {_short(entry.result)}")
    if entry.ttl is not None:
        parts.append(f" for {entry.ttl:g} ms")
    if entry.scope:
        parts.append(f" {entry.scope}")
    if entry.next:
        parts.append(f" then {_short(entry.next)}")
    return "".join(parts)


def _bracket(entry: Entry) -> str:
    parts = []
    if entry.id is not None and (entry.kind in _ENDS or entry.kind in ("asked", "requested")):
        parts.append(f"id {word(str(entry.id))}")
    if entry.generation is not None and entry.list and entry.kind in ("asked", "changed"):
        parts.append(f"generation {entry.generation}")
    return f" ({', '.join(parts)})" if parts else ""


def _short(digest: str) -> str:
    return clean(digest[:_SHORT]).replace("\n", " ")
