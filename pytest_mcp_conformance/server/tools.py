"""Tool definitions as they stand on the wire, and the two versions that most scenarios use."""

from __future__ import annotations

from typing import Any

__all__ = ["ABSENT", "INTEGER", "STRING", "V1", "V2", "output", "tool"]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
"""A field that is left out, where `None` would be a JSON null."""


def output(kind: str) -> dict[str, Any]:
    """An output schema with one required field `out` of that JSON type, and the echoed `nonce`."""
    return {
        "type": "object",
        "properties": {"out": {"type": kind}, "nonce": {"type": "string"}},
        "required": ["out"],
    }


INTEGER = output("integer")
STRING = output("string")


def tool(
    name: str,
    out: dict[str, Any] | str | None = None,
    *,
    description: str | None = None,
    takes: str = "nonce",
    **more: Any,
) -> dict[str, Any]:
    """One entry of a `tools/list` answer.

    Args:
        name: The tool's name.
        out: Its output schema, or the JSON type of its field `out`; none where it is left out.
        description: Its text; by default made of the name.
        takes: The name of its one argument, a string.
        more: Further fields of the entry.
    """
    entry: dict[str, Any] = {
        "name": name,
        "description": description if description is not None else f"The tool {name}",
        "inputSchema": {"type": "object", "properties": {takes: {"type": "string"}}},
    }
    if out is not None:
        entry["outputSchema"] = output(out) if isinstance(out, str) else out
    return {**entry, **more}


V1 = (tool("a", "integer"), tool("old"))
"""Tool `a` gives an integer, and there is a tool `old`."""

V2 = (tool("a", "string"), tool("new"))
"""Tool `a` gives a string, and `new` has come for `old`."""
