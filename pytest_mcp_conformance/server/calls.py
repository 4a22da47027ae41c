"""What the server answers to `tools/call`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mcp_conformance.history import copied
from pytest_mcp_conformance.server.tools import ABSENT

__all__ = ["Answer", "result_of"]

_BY_TYPE: dict[str, Any] = {
    "integer": 1,
    "number": 1.5,
    "string": "x",
    "boolean": True,
    "array": [],
    "object": {},
}


@dataclass(frozen=True)
class Answer:
    """What a tool answers: by default what its output schema asks for, with the call's nonce.

    Attributes:
        out: The value of the field `out`.
        structured: The whole structured content; `ABSENT` has one made from `out`.
        bare: Leave the structured content out altogether.
        text: The text, in place of the structured content as JSON.
        is_error: Say that the tool failed.
        meta: The result's `_meta`; none where it is left out.
    """

    out: Any = ABSENT
    structured: Any = ABSENT
    bare: bool = False
    text: str | None = None
    is_error: bool = False
    meta: Mapping[str, Any] | None = None


def result_of(entry: Mapping[str, Any], arguments: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """The result of one call of the tool that `entry` defines."""
    schema = entry.get("outputSchema")
    structured: Any = answer.structured
    if structured is ABSENT:
        structured = {"nonce": arguments.get("nonce", "")}
        out = answer.out if answer.out is not ABSENT else _fitting(schema)
        if out is not ABSENT:
            structured["out"] = out
    text = answer.text if answer.text is not None else json.dumps(structured)
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": answer.is_error}
    if not answer.bare and not (answer.is_error and answer.structured is ABSENT) and schema is not None:
        result["structuredContent"] = copied(structured)
    if answer.meta is not None:
        result["_meta"] = dict(answer.meta)
    return result


def _fitting(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return ABSENT
    properties = schema.get("properties")
    out = properties.get("out") if isinstance(properties, Mapping) else None
    kind = out.get("type") if isinstance(out, Mapping) else None
    return _BY_TYPE.get(kind, "x") if isinstance(kind, str) else "x"
