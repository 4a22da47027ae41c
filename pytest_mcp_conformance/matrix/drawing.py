"""The events that show a broken rule: as data that is the same in every run, and drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from pytest_mcp_conformance.history import Entry, History, HistoryError, Listed
from pytest_mcp_conformance.history.svg import drawn

__all__ = ["picture", "shown"]


def shown(history: str, numbers: Collection[int], *, virtual: bool) -> list[dict[str, Any]]:
    """Some entries of a history as plain data.

    Digests have a key of their own in each file, and become `in1`, `out1` and the like, in the order in which
    they come. By a real clock, times differ from run to run, and so may the number of what happened between.

    Args:
        history: The text of its file.
        numbers: The numbers of the entries.
        virtual: Whether times are of a virtual clock.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "one.history.jsonl"
        path.write_text(history, encoding="utf-8")
        try:
            found = [entry for entry in History.load(path) if entry.n in numbers]
        except HistoryError:
            return []
    names = _Names()
    plain = []
    for place, entry in enumerate(found, 1):
        named = names.entry(entry)
        if not virtual:
            named = msgspec.structs.replace(named, n=place, at=0.0)
        plain.append(msgspec.to_builtins(named))
    return plain


def picture(entries: Iterable[Any], *, title: str, told: str, virtual: bool) -> str:
    """The same as an `svg` element without a style sheet, its texts escaped; empty where they are none.

    Args:
        entries: What `shown` gave, or what a file says that it was.
        title: What stands above it.
        told: What whoever cannot see it is told.
        virtual: Whether it says when each happened.
    """
    try:
        read = msgspec.convert(list(entries), list[Entry])
    except msgspec.ValidationError:
        return ""
    return drawn(read, title=title, told=told, times=virtual, style="") if read else ""


class _Names:
    """Short names for digests, by what they stand for and in the order in which they come."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()

    def entry(self, entry: Entry) -> Entry:
        return msgspec.structs.replace(
            entry,
            cursor=self._name("page", entry.cursor),
            next=self._name("page", entry.next),
            arguments=self._name("in", entry.arguments),
            result=self._name("out", entry.result),
            tools=None if entry.tools is None else tuple(map(self._listed, entry.tools)),
            id=self._id(entry.id),
            subscription=self._id(entry.subscription),
            headers={},
            rest=0,
            shown=0,
        )

    def _listed(self, tool: Listed) -> Listed:
        return Listed(
            tool.name,
            self._name("text", tool.description),
            self._name("schema", tool.input),
            self._name("schema", tool.output),
            self._name("tool", tool.whole),
        )

    def _id(self, value: Any) -> Any:
        return self._name("~", value) if isinstance(value, str) else value

    def _name(self, kind: str, digest: str) -> str:
        if not digest:
            return ""
        if (kind, digest) not in self._known:
            self._counts[kind] += 1
            self._known[kind, digest] = f"{kind}{self._counts[kind]}"
        return self._known[kind, digest]
