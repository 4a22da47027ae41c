"""What a call hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcp_conformance_reference.errors import CallFailed

__all__ = ["CallResult"]


@dataclass(frozen=True)
class CallResult:
    """The answer to one call.

    Attributes:
        content: The content blocks, as plain dicts.
        structured_content: Any JSON value; None also where there is none, see `has_structured_content`.
        has_structured_content: Whether the server sent one: null is a value.
        is_error: Whether the tool says that it failed. Its text is in `content`.
        meta: The result's `_meta`, or None.
        raw: The whole result as it came.
    """

    content: list[Any]
    structured_content: Any
    has_structured_content: bool
    is_error: bool
    meta: dict[str, Any] | None
    raw: dict[str, Any] = field(repr=False)

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        blocks = (block for block in self.content if isinstance(block, dict))
        return "\n".join(str(block["text"]) for block in blocks if "text" in block)

    @classmethod
    def read(cls, tool: str, raw: dict[str, Any]) -> CallResult:
        """Read the raw result of a tool, which is its caller's from then on: nothing is copied.

        Raises:
            CallFailed: The result is not one: its content is no list, or it is not complete.
        """
        kind = raw.get("resultType", "complete")
        if kind != "complete":
            raise CallFailed(tool, f"the result is of type {kind!r}, which this client does not serve")
        content = raw.get("content", [])
        if not isinstance(content, list):
            raise CallFailed(tool, f"its content is {content!r}, not a list")
        meta = raw.get("_meta")
        return cls(
            content=content,
            structured_content=raw.get("structuredContent"),
            has_structured_content="structuredContent" in raw,
            is_error=bool(raw.get("isError")),
            meta=meta if isinstance(meta, dict) else None,
            raw=raw,
        )
