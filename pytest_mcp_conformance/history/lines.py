"""Events as short lines for a failure text."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

from pytest_mcp_conformance.history.event import Event

__all__ = ["line_of", "telling", "tells"]

_QUIET = frozenset({"initialize", "notifications/initialized", "server/discover", "ping"})
_SAID = {"astray": "refused ", "changed": "", "barred": "", "outlived": ""}


def telling(events: Iterable[Event], most: int = 14, proof: Collection[int] = ()) -> tuple[str, ...]:
    """The last `most` events that tell something, one line each.

    Handshakes and pings that succeeded do not, nor does what happened at the wrapper without a text.

    Args:
        events: The events.
        most: How many are told.
        proof: The numbers of those that prove a finding: they alone are told, whatever they are.
    """
    if proof:
        return tuple(line_of(event) for event in events if event.n in proof)
    lines = [line_of(event) for event in events if tells(event)]
    if len(lines) > most:
        return (f"({len(lines) - most} earlier events)", *lines[-most:])
    return tuple(lines)


def line_of(event: Event) -> str:
    """One event as one line: `#3 asked tools/list (generation 0)`."""
    where = f" on connection {event.connection}" if event.connection > 1 else ""
    who = f" by {event.principal}" if event.principal is not None and event.kind == "opened" else ""
    kind = _SAID.get(event.kind, f"{event.kind} ")
    return f"#{event.n} {kind}{_what(event)}{where}{who}".rstrip()


def tells(event: Event) -> bool:
    """Whether an event tells a reader something: handshakes that succeeded, and verbs that began, do not."""
    if event.who:
        return event.text != ""
    return event.method not in _QUIET or event.kind == "failed"


def _what(event: Event) -> str:
    if event.text:
        return event.text
    name = event.method.removeprefix("notifications/")
    if event.kind == "asked":
        extra = ""
        if event.method == "tools/call":
            extra = f" {event.params.get('name')} {_brief(event.arguments)}"
        elif "cursor" in event.params:
            extra = f" cursor={_brief(event.params['cursor'])}"
        when = "" if event.generation is None else f" (generation {event.generation})"
        return f"{name}{extra}{when}"
    if event.kind == "answered":
        return f"{name} {_result(event.message.get('result'))}"
    if event.kind == "failed":
        return f"{name} {_brief(event.message.get('error'))}"
    if event.kind == "told" and event.method == "notifications/cancelled":
        return f"{name} {_brief(event.params.get('requestId'))}"
    return name


def _result(result: Any) -> str:
    if isinstance(result, dict):
        tools = result.get("tools")
        if isinstance(tools, list):
            names = [tool.get("name") if isinstance(tool, dict) else tool for tool in tools]
            more = f", next {_brief(result['nextCursor'])}" if "nextCursor" in result else ""
            return f"{names}{more}"
        if "structuredContent" in result:
            return _brief(result["structuredContent"])
        if "content" in result:
            return _brief(result["content"])
    return ""


def _brief(value: Any, most: int = 80) -> str:
    text = json.dumps(value, ensure_ascii=True, default=repr)
    return text if len(text) <= most else text[: most - 3] + "..."
