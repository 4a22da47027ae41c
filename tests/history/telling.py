"""A history that is told by hand, entry by entry."""

from __future__ import annotations

from itertools import count

from pytest_mcp_conformance.history import Entry, Header, Listed, check

__all__ = ["NOTICE", "Telling"]

CLAIMS = {
    "reacts_to_list_changed": 0.0,
    "caches_listings": True,
    "clock": True,
    "isolates_principals": True,
    "redials": True,
}
NOTICE = {"kind": "noticed", "connection": 1, "list": "tools"}


class Telling:
    """A history, entry by entry."""

    def __init__(self):
        self.entries = []
        self.at = 0.0
        self.rest = 0
        self._ids = count(1)
        self._ops = count(1)
        self.open()
        self.add(kind="entered", who=1)

    def add(self, **fields):
        self.entries.append(Entry(len(self.entries) + 1, self.at, **fields))

    def settle(self):
        self.rest = len(self.entries)

    def open(self, connection=1):
        self.add(kind="opened", connection=connection)
        self.add(kind="asked", connection=connection, method="initialize", id=0)
        self.add(kind="answered", connection=connection, method="initialize", id=0)

    def ask(self, connection=1, **fields):
        id = next(self._ids)
        self.add(kind="asked", connection=connection, method="tools/list", id=id, **fields)
        return id

    def answer(self, id, *names, connection=1, **fields):
        tools = tuple(Listed(name) for name in names)
        self.add(kind="answered", connection=connection, method="tools/list", id=id, tools=tools, **fields)

    def want(self):
        op = next(self._ops)
        self.add(kind="wanted", who=1, op=op, verb="list_tools", rest=self.rest)
        return op

    def serve(self, op, *names):
        self.add(kind="served", who=1, op=op, tools=tuple(Listed(name) for name in names))

    def list(self, *names, **fields):
        op = self.want()
        self.answer(self.ask(), *names, **fields)
        self.serve(op, *names)

    def verb(self, verb, kind):
        op = next(self._ops)
        self.add(kind="began", who=1, op=op, verb=verb, rest=self.rest)
        self.add(kind=kind, who=1, op=op, verb=verb)

    def found(self, **claims):
        header = Header(1, "0" * 16, claims={**CLAIMS, **claims})
        return [(finding.name, finding.rule) for finding in check(self.entries, header)]
