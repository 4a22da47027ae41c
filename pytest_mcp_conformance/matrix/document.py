"""The file `matrix.json`: what is known of all wrappers. The pages are made of it alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.contract import AREAS, CLIENT_AREAS, RULES, UsageError
from pytest_mcp_conformance.reports.json import version_of
from pytest_mcp_conformance.reports.text import source_of

__all__ = ["FORMAT", "document", "dumped", "entry_of", "loaded"]

FORMAT = 1
"""Counts up when a reader of the file would have to change."""


def document(wrappers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All entries, with the rules that they speak of."""
    return {
        "format": FORMAT,
        "kit": version_of("pytest-mcp-conformance"),
        "areas": {name: {"title": title, "client": name in CLIENT_AREAS} for name, title in AREAS.items()},
        "rules": {
            name: {
                "text": rule.text,
                "level": rule.level.value,
                "source": source_of(rule),
                "why": rule.why,
                "untested": rule.untested,
            }
            for name, rule in RULES.items()
        },
        "wrappers": list(wrappers),
    }


def dumped(data: Mapping[str, Any]) -> str:
    """The text of the file."""
    return json.dumps(data, indent=1, ensure_ascii=True) + "\n"


def loaded(path: Path) -> dict[str, Any] | None:
    """What a file says; None where there is none.

    Raises:
        UsageError: It is no such file, or of another format.
    """
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}; take it away to have it written anew") from None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise UsageError(f"{path} is no matrix of format {FORMAT}; take it away to have it written anew")
    return told


def entry_of(told: Mapping[str, Any] | None, adapter: str, version: str) -> dict[str, Any] | None:
    """The entry of a wrapper in an older file; None where it has none."""
    for each in (told or {}).get("wrappers", []):
        if (each.get("adapter"), each.get("version")) == (adapter, version):
            return dict(each)
    return None
