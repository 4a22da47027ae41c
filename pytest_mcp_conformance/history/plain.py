"""Copies of JSON data."""

from __future__ import annotations

from typing import Any

__all__ = ["copied"]


def copied(value: Any) -> Any:
    """A copy of JSON data, in depth. Several times faster than `copy.deepcopy`, which looks for cycles."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [copied(inner) for inner in value]
    return value
