"""Spans of MCP, read from what exporters write: OTLP as JSON, or the JSON of OpenTelemetry's Python SDK."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

from pytest_mcp_conformance.contract import UsageError

__all__ = ["METHOD", "REQUEST", "Span", "spans_in"]

METHOD = "mcp.method.name"
REQUEST = "jsonrpc.request.id"

_NANOSECONDS = 1_000_000_000
_LATEST = 2**63
_SIDES: Mapping[Any, Literal["client", "server"]] = {
    2: "server",
    3: "client",
    "SPAN_KIND_SERVER": "server",
    "SPAN_KIND_CLIENT": "client",
    "SpanKind.SERVER": "server",
    "SpanKind.CLIENT": "client",
}
_FAILED = frozenset({2, "STATUS_CODE_ERROR", "ERROR"})
_WRONG = (AttributeError, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class Span:
    """One span that names a method of MCP.

    Attributes:
        name: Its name.
        id: Its trace and its own id.
        parent: The same of its parent, or `None`.
        side: Of whoever sent the message, `client`, or received it, `server`.
        begin: Nanoseconds since 1970.
        end: The same.
        failed: Whether its status is an error.
        attributes: Its attributes.
        source: What wrote it: the attributes of its resource that tell one process from another.
    """

    name: str
    id: tuple[str, str]
    parent: tuple[str, str] | None
    side: Literal["client", "server"]
    begin: int
    end: int
    failed: bool
    attributes: Mapping[str, Any]
    source: tuple[str, ...]


def spans_in(lines: Iterable[str], name: str) -> Iterator[Span]:
    """The spans of MCP among whatever else was traced, in the order of the file.

    Args:
        lines: The lines of the file: JSON, one document a line or over several lines.
        name: The file, for errors.

    Raises:
        UsageError: It holds something else.
    """
    for number, document in _documents(lines, name):
        yield from _read(document, f"{name}, line {number}")


_REMEDY = "give the lines of an OTLP file exporter, or what span.to_json() returns"


def _documents(lines: Iterable[str], name: str) -> Iterator[tuple[int, Any]]:
    """Each document with the line that it ends in. One over several lines ends where its brackets do."""
    held: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        held.append(line)
        if len(held) == 1 or line[0] in "}]":
            try:
                yield number, json.loads("".join(held))
            except (ValueError, RecursionError):
                continue
            held.clear()
    if held:
        raise UsageError(f"{name}, line {number}: what begins {len(held)} lines before is no JSON; {_REMEDY}")


def _read(document: Any, place: str) -> list[Span]:
    try:
        return [*_of_document(document)]
    except (*_WRONG, RecursionError) as wrong:
        what = f"no span of OpenTelemetry ({type(wrong).__name__})"
        raise UsageError(f"{place}: {what}; {_REMEDY}") from None


def _of_document(document: Any) -> Iterator[Span]:
    if isinstance(document, list):
        for each in document:
            yield from _of_document(each)
    elif "resourceSpans" in document:
        for of_resource in document["resourceSpans"]:
            resource = _unpacked(of_resource.get("resource", {}).get("attributes", []))
            for of_scope in of_resource["scopeSpans"]:
                for span in of_scope["spans"]:
                    yield from _of_otlp(span, resource)
    else:
        yield from _of_python(document)


def _of_otlp(span: Mapping[str, Any], resource: Mapping[str, Any]) -> Iterator[Span]:
    attributes = _unpacked(span.get("attributes", []))
    if METHOD in attributes and span.get("kind") in _SIDES:
        yield _span(
            span,
            (span["traceId"], span["spanId"], span.get("parentSpanId")),
            (int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])),
            span.get("status", {}).get("code"),
            attributes,
            resource,
        )


def _of_python(span: Mapping[str, Any]) -> Iterator[Span]:
    attributes = span["attributes"]
    if METHOD in attributes and span["kind"] in _SIDES:
        context = span["context"]
        yield _span(
            span,
            (context["trace_id"], context["span_id"], span.get("parent_id")),
            (_nanoseconds(span["start_time"]), _nanoseconds(span["end_time"])),
            span.get("status", {}).get("status_code"),
            attributes,
            span.get("resource", {}).get("attributes", {}),
        )


def _span(
    span: Mapping[str, Any],
    ids: tuple[Any, Any, Any],
    times: tuple[int, int],
    status: Any,
    attributes: Mapping[str, Any],
    resource: Mapping[str, Any],
) -> Span:
    trace, own, parent = ids
    begin, end = times
    if not 0 <= begin < _LATEST or not isinstance(attributes.get(REQUEST, ""), str | int):
        raise ValueError
    return Span(
        str(span["name"]),
        (str(trace), str(own)),
        (str(trace), str(parent)) if parent else None,
        _SIDES[span["kind"]],
        begin,
        min(max(begin, end), _LATEST),
        status in _FAILED,
        attributes,
        tuple(str(resource.get(key)) for key in ("service.name", "service.instance.id", "process.pid")),
    )


def _unpacked(attributes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The attributes of OTLP, each of which wraps its value into the name of its type."""
    return {each["key"]: next(iter(each["value"].values()), None) for each in attributes}


def _nanoseconds(text: str) -> int:
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return int(moment.timestamp()) * _NANOSECONDS + moment.microsecond * 1000
