"""What came of one call, as the wrapper's user sees it: one shape for every library's way to say so."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["MISSING", "Outcome", "outcome_of"]


class _Missing:
    """No structured value was handed out; `None` is a value."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


@dataclass(frozen=True, kw_only=True, repr=False)
class Outcome:
    """One call's outcome. An adapter may return one itself; otherwise the kit makes it (`outcome_of`).

    Attributes:
        kind: `ok`; `tool_error` (handed out as a failed tool); `refused` (by the wrapper); `raised`.
        value: The structured content handed out, `MISSING` where there was none.
        text: The text handed out, or the error's text.
        error: The exception, where one was raised.
        meta: The result's `_meta`, where it was handed out.
    """

    kind: Literal["ok", "tool_error", "refused", "raised"] = "ok"
    value: Any = MISSING
    text: str = ""
    error: BaseException | None = None
    meta: Mapping[str, Any] | None = None

    @property
    def ok(self) -> bool:
        """True when the result was handed out as good."""
        return self.kind == "ok"

    def shows(self, value: object) -> bool:
        """True when `value` can be read from what was handed out, as data or as text."""
        if _contains(self.value, value):
            return True
        needle = value if isinstance(value, str) else json.dumps(value)
        return needle in self.text

    def __repr__(self) -> str:
        return f"<Outcome {self}>"

    def __str__(self) -> str:
        if self.kind == "ok":
            return "ok " + (self.text if self.value is MISSING else json.dumps(self.value, default=repr))
        return f"{self.kind}: {self.text}" if self.text else self.kind


def _contains(held: Any, value: object) -> bool:
    if type(held) is type(value) and held == value:
        return True
    if isinstance(held, Mapping):
        return any(_contains(inner, value) for inner in held.values())
    if isinstance(held, Sequence) and not isinstance(held, str | bytes):
        return any(_contains(inner, value) for inner in held)
    return False


def outcome_of(returned: Any = None, *, error: BaseException | None = None) -> Outcome:
    """The outcome of a call that returned `returned` or raised `error`.

    Understands an `Outcome`, the results of both SDK majors, mappings with the protocol's field names,
    objects that carry `is_error` or `isError`, mappings with an `error` key, text, and plain values.
    """
    if error is not None:
        return Outcome(kind="raised", text=describe(error), error=error)
    if isinstance(returned, Outcome):
        return returned
    if isinstance(returned, str):
        return Outcome(text=returned, value=_json_or_missing(returned))
    failed = _field(returned, "is_error", "isError")
    value = _field(returned, "structured_content", "structuredContent")
    content = _field(returned, "content")
    if failed is MISSING and value is MISSING and content is MISSING:
        if isinstance(returned, Mapping) and returned.get("error"):
            return Outcome(kind="tool_error", text=str(returned["error"]))
        return Outcome(
            value=MISSING if returned is None else returned, text="" if returned is None else str(returned)
        )
    text = _text(content)
    meta = _field(returned, "_meta", "meta")
    meta = meta if isinstance(meta, Mapping) else None
    if failed is True:
        return Outcome(kind="tool_error", text=text, value=value, meta=meta)
    if value is None or value is MISSING:
        # A model's empty field reads as None; whether the wire said null is for `model_fields_set` to tell.
        said_null = "structured_content" in getattr(returned, "model_fields_set", ())
        value = None if value is None and said_null else _json_or_missing(text)
    return Outcome(text=text, value=value, meta=meta)


def describe(error: BaseException) -> str:
    """An exception in words: type, text, members of a group, cause. Never empty, and never an address."""
    parts = [f"{type(each).__name__}: {each}" if str(each) else type(each).__name__ for each in family(error)]
    return re.sub(r"\b(?:0x)?[0-9a-f]{9,16}\b", "...", "; ".join(parts))


def family(error: BaseException | None) -> list[BaseException]:
    """An exception, the members of groups and the causes, each once: a cause may hold whom it caused."""
    found: list[BaseException] = []

    def look(each: BaseException | None) -> None:
        if each is not None and not any(each is known for known in found):
            found.append(each)
            for member in getattr(each, "exceptions", ()):
                look(member)
            look(each.__cause__)

    look(error)
    return found


def _field(holder: Any, *names: str) -> Any:
    for name in names:
        if isinstance(holder, Mapping):
            if name in holder:
                return holder[name]
        elif hasattr(holder, name):
            return getattr(holder, name)
    return MISSING


def _text(content: Any) -> str:
    if content is MISSING or content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        found = (part if isinstance(part, str) else _field(part, "text") for part in content)
        return "\n".join(str(text) for text in found if text is not MISSING)
    return str(content)


def _json_or_missing(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return MISSING
