"""TOML files of the user's: read as data, and checked before anything is made of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.reports.text import closest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]  # mypy reads as 3.10, wherever it runs

__all__ = ["known_gaps_of_project", "read_toml"]

_KEYS = ["known-gaps"]


def read_toml(path: Path, place: str) -> dict[str, Any]:
    """The content of a TOML file.

    Args:
        path: The file.
        place: Who named it, for the message.

    Raises:
        UsageError: There is no such file, or it is not TOML.
    """
    try:
        return dict(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(
            f"{place}: cannot read {path}: {error.strerror or error}; write the path of a TOML file"
        ) from None
    except ValueError as error:
        raise UsageError(f"{place}: {path} is not TOML: {error}") from None


def known_gaps_of_project(pyproject: Path) -> Path | None:
    """The baseline that a project's pyproject.toml names, relative to that file.

    Raises:
        UsageError: `[tool.mcp-conformance]` holds something that the kit does not know.
    """
    if not pyproject.is_file():
        return None
    tool = read_toml(pyproject, "[tool.mcp-conformance]").get("tool")
    table = tool.get("mcp-conformance", {}) if isinstance(tool, dict) else {}
    where = f"[tool.mcp-conformance] in {pyproject}"
    if not isinstance(table, dict):
        raise UsageError(f'{where}: write a table with known-gaps = "file.toml"')
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key {key!r}: {closest(key, _KEYS)}")
    named = table.get("known-gaps")
    if named is None:
        return None
    if not isinstance(named, str) or not named:
        raise UsageError(f'{where}: known-gaps={named!r} is no path; write known-gaps = "file.toml"')
    return pyproject.parent / named
