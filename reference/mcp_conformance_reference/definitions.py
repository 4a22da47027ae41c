"""One tool as it was listed: frozen plain JSON, and what "the same definition" means."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Definition", "canonical", "definition_of", "plain_copy"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def plain_copy(value: Any) -> Any:
    """A deep copy of plain JSON data.

    Args:
        value: None, bool, int, finite float, str, list or dict with str keys, nested in any way.

    Raises:
        ValueError: The data holds anything else, or holds itself; the text names where.
    """
    return _copy(value, (), ())


def _copy(value: Any, where: tuple[Any, ...], above: tuple[int, ...]) -> Any:
    kind = type(value)
    if value is None or kind is int or kind is bool:
        return value
    if kind is str:
        if not value.isascii() and _SURROGATE.search(value):
            raise ValueError(f"{_named(where)} holds half a surrogate pair, which is no text")
        return value
    if kind is float and math.isfinite(value):
        return value
    if id(value) in above:
        raise ValueError(f"{_named(where)} holds itself")
    inside = (*above, id(value))
    if kind is list:
        return [_copy(item, (where, index), inside) for index, item in enumerate(value)]
    if kind is dict and all(type(key) is str for key in value):
        return {key: _copy(item, (where, key), inside) for key, item in value.items()}
    raise ValueError(f"{_named(where)} is {value!r}, which is not plain JSON")


def _named(where: tuple[Any, ...]) -> str:
    """A place as text: it is only made where something is wrong there."""
    if not where:
        return "$"
    outside, key = where
    return f"{_named(outside)}[{key}]" if isinstance(key, int) else f"{_named(outside)}.{key}"


def canonical(value: Any) -> str:
    """The JSON text of plain data in which only the order of object keys is evened out.

    `true` and `1`, `1` and `"1"`, null and absent, and the order of arrays all stay different.
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Definition:
    """One entry of `tools/list`, frozen: the text is all it holds, so nothing handed out can reach it.

    Attributes:
        name: The tool's name, exactly as listed.
        text: The entry as JSON text, keys in the server's order.
        canonical: The entry as canonical JSON text: equal texts are the same definition.
    """

    name: str
    text: str = field(repr=False, compare=False)
    canonical: str = field(repr=False)

    @property
    def listed(self) -> dict[str, Any]:
        """The whole entry as listed, unknown fields included: a fresh copy each time."""
        entry: dict[str, Any] = json.loads(self.text)
        return entry

    @property
    def output_schema(self) -> Any:
        """A fresh copy of the output schema, or None where none was declared."""
        return self.listed.get("outputSchema")

    @property
    def promises_output(self) -> bool:
        """Whether an output schema was declared."""
        return self.output_schema is not None

    @property
    def names_headers(self) -> bool:
        """Whether the entry holds the annotation by which arguments go into HTTP headers, wherever in it."""
        return '"x-mcp-header"' in self.text

    def differences(self, other: Definition) -> Iterator[str]:
        """The names of the fields in which two definitions of one tool differ, sorted."""
        mine, others = self.listed, other.listed
        absent = object()
        for key in sorted({*mine, *others}):
            here, there = mine.get(key, absent), others.get(key, absent)
            if here is absent or there is absent or canonical(here) != canonical(there):
                yield key


def definition_of(listed: Any) -> Definition:
    """Freeze one entry of a listing.

    Raises:
        ValueError: The entry is not plain JSON, or lacks what a tool must have; the text says what.
    """
    entry = plain_copy(listed)
    if not isinstance(entry, dict):
        raise ValueError(f"the entry is not an object: {entry!r}")
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError(f"its name is {name!r}, not a text")
    if not isinstance(entry.get("inputSchema"), dict):
        raise ValueError(f"its inputSchema is {entry.get('inputSchema')!r}, not an object")
    return Definition(name, json.dumps(entry, ensure_ascii=False), canonical(entry))
