"""A history from the spans of MCP: what was asked and how it ended, and no more than the attributes tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history import Condenser, Digests, Entry, Event, HistoryWriter
from pytest_mcp_conformance.recording.spans import METHOD, REQUEST, Span, spans_in

__all__ = ["converted", "entries_of"]

_SESSION = "mcp.session.id"
_TOOL = "gen_ai.tool.name"
_CODE = "rpc.response.status_code"
_ERROR = "error.type"
_VERSION = "mcp.protocol.version"
_ARGUMENTS = "gen_ai.tool.call.arguments"
_RESULT = "gen_ai.tool.call.result"
_SEEN = "seen by the server"
_PEERS = ("client.address", "client.port", "server.address", "server.port", "network.transport")
_CALL = "tools/call"
_OF_SERVERS = frozenset({"sampling/createMessage", "elicitation/create", "roots/list"})
_NOTICES = re.compile(
    r"notifications/((tools|prompts|resources)/list_changed|message|resources/updated|subscriptions/.*"
    r"|elicitation/.*)"
)
_NUMBER = re.compile(r"0|[1-9]\d{0,14}")

Told = tuple[int, int, str, Span]


def converted(spans: Path, to: Path, digests: Digests | None = None) -> int:
    """Write the history that a file of spans holds; gives how many entries it has.

    Args:
        spans: The file.
        to: The history.
        digests: What stands in the place of payloads, with a key of its own by default.

    Raises:
        UsageError: It cannot be read, is no file of spans, or has none of MCP.
        OSError: The history cannot be written.
    """
    try:
        with spans.open(encoding="utf-8", errors="replace") as lines:
            found = [*spans_in(lines, str(spans))]
    except OSError as error:
        raise UsageError(
            f"{spans}: cannot be read: {error.strerror or error}; name a file of spans"
        ) from None
    if not found:
        raise UsageError(f"{spans}: no span has an attribute {METHOD}; trace a client or a server of MCP")
    digests = digests or Digests()
    number = 0
    with HistoryWriter(to, digests, sees="wire", clock="real", name="spans", era=_era(found)) as writer:
        for number, entry in enumerate(entries_of(found, digests), start=1):
            writer.write_entry(replace(entry, n=number))
    return number


def entries_of(spans: Iterable[Span], digests: Digests) -> Iterator[Entry]:
    """The entries of some spans, in the order of their times; of a message that both sides traced, once."""
    kept = _of_one_side([*spans])
    told: list[Told] = []
    for at, span in enumerate(kept):
        told.extend((moment, at, kind, span) for moment, kind in _moments(span))
    told.sort(key=lambda each: each[:2])
    yield from _Story(digests, told[0][0] if told else 0).tell(told)


def _of_one_side(spans: list[Span]) -> list[Span]:
    """One span for each message. Where both sides were traced, his who sent it with what the other one adds.

    They belong together because the trace of the sender goes along with the message.
    """
    kept = {_key(span.id, span): span for span in spans if span.side == "client"}
    for span in spans:
        if span.side == "server":
            sent = _key(span.parent or span.id, span)
            if sent in kept:
                both = {**span.attributes, **kept[sent].attributes, _SEEN: True}
                kept[sent] = replaced(kept[sent], attributes=both)
            else:
                kept[_key(span.id, span)] = span
    return sorted(kept.values(), key=lambda span: span.begin)


def _key(id: tuple[str, str], span: Span) -> tuple[Any, ...]:
    """A span, by its id and the message that it is about."""
    return id, str(span.attributes[METHOD]), span.attributes.get(REQUEST)


def _moments(span: Span) -> Iterator[tuple[int, str]]:
    """What happened when."""
    method = str(span.attributes[METHOD])
    if REQUEST not in span.attributes:
        yield span.begin, "noticed" if _NOTICES.fullmatch(method) else "told"
        return
    by_server = method in _OF_SERVERS
    yield span.begin, "requested" if by_server else "asked"
    good = not span.failed or span.attributes.get(_ERROR) == "tool_error"
    if good or _CODE in span.attributes or span.side == "server":
        yield span.end, "replied" if by_server else "answered" if good else "failed"


class _Story:
    """Numbers connections, and makes entries."""

    def __init__(self, digests: Digests, began: int) -> None:
        self._digests = digests
        self._condenser = Condenser(digests)
        self._began = began
        self._connections: dict[tuple[Any, ...], int] = {}
        self._of_span: dict[tuple[Any, ...], int] = {}
        self._used: set[tuple[int, Any]] = set()
        self._opened = 0

    def tell(self, told: Iterable[Told]) -> Iterator[Entry]:
        last = self._began
        for last, _, kind, span in told:
            known = self._opened
            connection = self._connection(span, kind)
            if self._opened != known:
                yield self._entry(last, "opened", connection)
            yield self._of(last, kind, connection, span)
        for number in range(1, self._opened + 1):
            yield self._entry(last, "closed", number)

    def _connection(self, span: Span, kind: str) -> int:
        """The session; without one, what comes from one process and uses no id twice."""
        if kind in ("answered", "failed", "replied"):
            return self._of_span.pop(_key(span.id, span))
        told = span.attributes
        session = told.get(_SESSION)
        key = ("session", str(session)) if session else (span.source, *(str(told.get(p)) for p in _PEERS))
        number, identity = self._connections.get(key), (kind, _id_of(span))
        if number is None or (not session and kind == "asked" and (number, identity) in self._used):
            self._opened += 1
            number = self._connections[key] = self._opened
        if REQUEST in told:
            self._used.add((number, identity))
            self._of_span[_key(span.id, span)] = number
        return number

    def _of(self, at: int, kind: str, connection: int, span: Span) -> Entry:
        told = span.attributes
        method = str(told[METHOD])
        frame: dict[str, Any] = {"error": {}} if kind == "replied" and span.failed else {}
        if kind == "asked" and method == _CALL:
            frame = {"params": {"name": _tool_of(span)}}
        entry = self._entry(at, kind, connection, id=_id_of(span), method=method, message=frame)
        entry = replace(entry, arguments="", result="")  # what was not traced is not known to be empty
        if kind == "failed":
            return replace(entry, code=_code_of(told))
        if kind == "answered" and method == _CALL:
            return replace(entry, ok=_is_good(span), result=self._digest(told, _RESULT))
        if kind == "asked" and method == _CALL:
            return replace(entry, arguments=self._digest(told, _ARGUMENTS))
        return entry

    def _entry(self, at: int, kind: str, connection: int, **fields: Any) -> Entry:
        seconds = round((at - self._began) / 1e9, 9)
        event = Event(1, seconds, kind, connection, generation=None, **fields)
        return self._condenser.entry(event)

    def _digest(self, told: Mapping[str, Any], key: str) -> str:
        """The digest of a payload that was traced, which is an option that few take."""
        if key not in told:
            return ""
        try:
            return self._digests(json.loads(told[key]))
        except (TypeError, ValueError, RecursionError):
            return self._digests(told[key])


def _tool_of(span: Span) -> str:
    """The tool that is called; senders name it in the name of the span alone."""
    return str(span.attributes.get(_TOOL) or span.name.partition(f"{_CALL} ")[2])


def _is_good(span: Span) -> bool | None:
    """Whether a call that was answered is good; a client does not say so of a tool that has failed."""
    if span.attributes.get(_ERROR) == "tool_error":
        return False
    return True if span.side == "server" or _SEEN in span.attributes else None


def _id_of(span: Span) -> Any:
    """The JSON-RPC id; a span has it as text, and most clients count."""
    given = span.attributes.get(REQUEST)
    return int(given) if isinstance(given, str) and _NUMBER.fullmatch(given) else given


def _code_of(told: Mapping[str, Any]) -> int | None:
    code = re.fullmatch(r"-?\d{1,9}", str(told.get(_CODE, "")))
    return int(code[0]) if code else None


def _era(spans: Iterable[Span]) -> str:
    """The era, where every span that names a version names one of it."""
    versions = {str(span.attributes[_VERSION]) for span in spans if _VERSION in span.attributes}
    eras = {"modern" if version >= "2026" else "handshake" for version in versions}
    return eras.pop() if len(eras) == 1 else ""
