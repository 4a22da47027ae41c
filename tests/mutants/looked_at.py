"""The survivors that somebody has looked at: `looked_at.toml`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.mutants.making import Mutant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["LookedAt"]

EVERYTHING = "*"
TEXT = Path(__file__).with_name("looked_at.toml").read_text(encoding="utf-8")


class LookedAt:
    """The entries of one kind about one file, each with its reason.

    Args:
        kind: `equivalent`, which change nothing that a contract could see, or `unruled`, which change what no
            rule speaks of.
        file: The file's name.
    """

    def __init__(self, kind: str, file: str) -> None:
        entries = [entry for entry in tomllib.loads(TEXT)[kind] if entry["file"] == file]
        self._reasons = {key: str(entry["reason"]) for entry in entries for key in _keys(entry)}
        self._unseen = set(self._reasons)

    def reason(self, mutant: Mutant) -> str:
        """The reason of the entry that a mutant is, which survived; empty where it is none."""
        for key in (
            (mutant.where, mutant.was, mutant.becomes),
            (mutant.where, mutant.was, EVERYTHING),
            (mutant.where, EVERYTHING, EVERYTHING),
        ):
            if key in self._reasons:
                self._unseen.discard(key)
                return self._reasons[key]
        return ""

    def unseen(self) -> list[str]:
        """The entries that no mutant was whose reason was asked for."""
        return [f"{where}: {was}  ->  {becomes}" for where, was, becomes in sorted(self._unseen)]


def _keys(entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    becomes = entry.get("becomes", EVERYTHING)
    for each in [becomes] if isinstance(becomes, str) else becomes:
        yield entry["where"], entry.get("was", EVERYTHING), each
