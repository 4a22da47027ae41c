"""What a file of known gaps says of a broken rule: why it is accepted, where discussed, how confirmed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pytest_mcp_conformance.plugin.project import read_toml

__all__ = ["Known", "known_gap"]

_TOLD = ("reason", "link", "confirmed")


@dataclass(frozen=True)
class Known:
    """The entries of one file; the run that read it has found it in order.

    Attributes:
        entries: The `[[gap]]` tables.
        versions: What is installed where the wrapper was judged, by name.
    """

    entries: tuple[Mapping[str, Any], ...] = ()
    versions: Mapping[str, str] | None = None

    def find(self, rule: str, wrapper: str, eras: Collection[str]) -> Mapping[str, str]:
        """The `reason`, `link` and `confirmed` of the first entry that covers a broken rule."""
        for entry in self.entries:
            if entry.get("rule") != rule or not fnmatchcase(wrapper, str(entry.get("wrapper", ""))):
                continue
            if entry.get("era", "") in ("", *eras) and self._is_in_force(str(entry.get("sdk", ""))):
                return {name: " ".join(str(entry[name]).split()) for name in _TOLD if entry.get(name)}
        return {}

    def _is_in_force(self, sdk: str) -> bool:
        if not sdk:
            return True
        try:
            wanted = Requirement(sdk)
        except InvalidRequirement:
            return False
        found = (self.versions or {}).get(canonicalize_name(wanted.name), "")
        return bool(found) and wanted.specifier.contains(found, prereleases=True)


def known_gap(path: Path | None, versions: Mapping[str, str]) -> Known:
    """What a file says; nothing where there is none.

    Raises:
        UsageError: It is not TOML.
    """
    entries = read_toml(path, "known gaps").get("gap", []) if path is not None else []
    tables = [each for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    return Known(tuple(tables), versions)
