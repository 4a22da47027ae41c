"""From an event with its whole message to the entry that is written: names are kept, payloads are not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pytest_mcp_conformance.contract import MISSING, outcome_of
from pytest_mcp_conformance.history.digests import Digests
from pytest_mcp_conformance.history.entry import Entry, Listed
from pytest_mcp_conformance.history.event import Event

__all__ = ["HEADERS", "SUBSCRIPTION", "Condenser"]

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
"""The `_meta` key that names the subscription a modern notice belongs to."""

HEADERS = frozenset(
    {
        "accept",
        "content-type",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "retry-after",
    }
)
"""The headers that are kept, the ones that name a session or an event as digests."""

_DIGESTED = frozenset({"last-event-id", "mcp-session-id"})
_LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "templates",
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}
_CALL = "tools/call"
_NAMED = frozenset({_CALL, "prompts/get"})
_CANCELLED = "notifications/cancelled"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_HANDSHAKES = frozenset({"initialize", "server/discover"})
_SHORT_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
_LONGEST_NAME = 128
_MOST_TOOLS = 10_000
_MOST_GRANTS = 16
_SAFE = 2**53

Fields = dict[str, Any]


class Condenser:
    """Makes the entries of one history.

    Args:
        digests: What stands in the place of payloads.
    """

    def __init__(self, digests: Digests) -> None:
        self._digest = digests
        self._by_kind: Mapping[str, Callable[[Event], Fields]] = {
            "asked": self._request,
            "requested": self._request,
            "told": self._notification,
            "noticed": self._notification,
            "answered": self._answer,
            "failed": self._failure,
            "replied": lambda event: {"ok": "error" not in event.message},
            "closed": lambda event: {"how": event.how},
            "garbled": lambda event: {"how": event.how},
            "changed": lambda event: {"list": "tools"},
        }

    def entry(self, event: Event) -> Entry:
        """The entry of an event."""
        fields: Fields = {
            "kind": event.kind,
            "who": event.who,
            "op": event.op,
            "connection": event.connection,
            "server": self._name(event.server),
            "principal": self._name(event.principal or ""),
            "id": self._id(event.id),
            "method": self._name(event.method),
            "list": _LISTS.get(event.method, ""),
            "generation": event.generation,
            "headers": self._headers(event),
        }
        told = self._by_kind.get(event.kind) if not event.who else self._at_the_wrapper
        if told is not None:
            fields |= told(event)
        return Entry(event.n, float(event.at), **fields)

    def _request(self, event: Event) -> Fields:
        params = event.params
        fields: Fields = {"cursor": self._digest(params["cursor"]) if "cursor" in params else ""}
        if event.method == _CALL:
            fields["tool"] = self._name(params.get("name"))
            fields["arguments"] = self._digest(event.arguments)
        elif event.method in _HANDSHAKES:
            fields["version"] = self._name(params.get("protocolVersion"))
        else:
            rest = {key: value for key, value in params.items() if key not in ("_meta", "cursor")}
            fields["arguments"] = self._digest(rest) if rest else ""
        return fields

    def _notification(self, event: Event) -> Fields:
        meta = _mapping(event.params.get("_meta"))
        fields: Fields = {"subscription": self._id(meta.get(SUBSCRIPTION))}
        if event.method == _CANCELLED:
            by = "client" if event.kind == "told" else "server"
            return {**fields, "kind": "cancelled", "id": self._id(event.params.get("requestId")), "how": by}
        if event.method == _ACKNOWLEDGED and event.kind == "noticed":
            granted = _mapping(event.params.get("notifications"))
            lists = [self._name(name) for name, wanted in granted.items() if wanted]
            return {**fields, "kind": "listened", "lists": tuple(lists[:_MOST_GRANTS])}
        return fields

    def _answer(self, event: Event) -> Fields:
        result = event.message.get("result")
        if event.method == _CALL:
            return {"result": self._content(result), "ok": _goodness(result)}
        told = _mapping(result)
        if event.method in _HANDSHAKES:
            return {"version": self._name(told.get("protocolVersion"))}
        if event.method not in _LISTS:
            return {"result": self._digest(told) if told else ""}
        fields: Fields = {
            "ttl": _number(told.get("ttlMs")),
            "scope": _scope(told.get("cacheScope")),
            "next": self._digest(told["nextCursor"]) if "nextCursor" in told else "",
        }
        listed = told.get("tools")
        if event.method == "tools/list" and isinstance(listed, list):
            return {**fields, **self._tools(listed)}
        return {**fields, "result": self._digest(told)}

    def _failure(self, event: Event) -> Fields:
        return {"code": _whole(_mapping(event.message.get("error")).get("code"))}

    def _at_the_wrapper(self, event: Event) -> Fields:
        data = event.data
        fields: Fields = {
            "verb": self._name(data.get("verb")),
            "tool": self._name(data.get("tool")),
            "error": self._name(data.get("error")),
        }
        if event.kind in ("wanted", "served"):
            fields["list"] = "tools"
        if "tools" in data:
            fields |= self._tools(data["tools"], whole=False)
        for key in ("rest", "shown"):
            if key in data:
                fields[key] = data[key]
        if "arguments" in data:
            fields["arguments"] = self._digest(data["arguments"])
        if "outcome" in data:
            fields["outcome"] = data["outcome"]
            fields["ok"] = data["outcome"] == "ok"
            fields["result"] = self._digest(data["content"]) if "content" in data else ""
            if not fields["ok"] and not data["reached"]:
                fields["kind"] = "refused"
        return fields

    def _content(self, result: Any) -> str:
        """The digest of what a wrapper that adds nothing would hand out for `result`."""
        try:
            outcome = outcome_of(result)
        except (RecursionError, ValueError):  # a text that is JSON too deep to read, a number too long
            return self._digest(result)
        return self._digest(outcome.text if outcome.value is MISSING else outcome.value)

    def _tools(self, listed: Any, *, whole: bool = True) -> Fields:
        tools = tuple(self._listed(each, whole=whole) for each in listed[:_MOST_TOOLS])
        return {"tools": tools, "more": len(listed) - len(tools)}

    def _listed(self, entry: Any, *, whole: bool) -> Listed:
        told = _mapping(entry)
        description, given, gives = (
            self._digest(told[key]) if told.get(key) is not None else ""
            for key in ("description", "inputSchema", "outputSchema")
        )
        return Listed(
            self._name(told.get("name")), description, given, gives, self._digest(entry) if whole else ""
        )

    def _headers(self, event: Event) -> dict[str, str]:
        kept = {str(name).lower(): str(value) for name, value in event.headers.items()}
        digested = _DIGESTED if event.method in _NAMED else _DIGESTED | {"mcp-name"}  # it may be a URI
        return {
            name: self._digest(value) if name in digested else self._name(value)
            for name, value in sorted(kept.items())
            if name in HEADERS
        }

    def _id(self, given: Any) -> int | float | str | None:
        if given is None:
            return None
        number = _number(given)
        if number is not None:
            return number
        if isinstance(given, str) and _SHORT_ID.fullmatch(given):
            return given
        return f"~{self._digest(given)}"

    def _name(self, given: Any) -> str:
        """A name as it is, but of a bounded length, and as text that every file can hold."""
        if given is None or given == "":
            return ""
        name = given if isinstance(given, str) else f"~{self._digest(given)}"
        if len(name) > _LONGEST_NAME:
            name = f"{name[:_LONGEST_NAME]}~{self._digest(name)}"
        return name.encode("utf-8", "backslashreplace").decode()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _goodness(result: Any) -> bool | None:
    """Whether a call's result is good; None for what is no result, or none yet."""
    told = _mapping(result)
    content = told.get("content")
    if told.get("resultType", "complete") != "complete" or not isinstance(content, list):
        return None
    if not all(isinstance(_mapping(part).get("type"), str) for part in content):
        return None
    return not told.get("isError")


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < _SAFE else None  # NaN is no less than anything


def _whole(value: Any) -> int | None:
    number = _number(value)
    return number if isinstance(number, int) else None


def _scope(value: Any) -> Any:
    return value if value in ("private", "public") else "" if value is None else "other"
