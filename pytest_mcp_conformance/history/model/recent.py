"""What was seen last, in bounded memory."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["Recent"]

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """A mapping that forgets what is old: it knows at least the last `most / 2` keys, and at most `most`.

    Args:
        most: How many keys are kept at the most.
    """

    __slots__ = ("_half", "_new", "_old")

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._new: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}

    def __setitem__(self, key: Key, value: Value) -> None:
        new = self._new
        if len(new) >= self._half and key not in new:
            self._old, self._new = new, {key: value}
        else:
            new[key] = value

    def get(self, key: Key) -> Value | None:
        """What was set last for `key`, where it is still known."""
        found = self._new.get(key)
        return self._old.get(key) if found is None else found
