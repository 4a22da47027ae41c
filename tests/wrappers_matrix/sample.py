"""A small matrix that never changes: two wrappers that were judged, and one that could not be installed."""

from __future__ import annotations

from typing import Any

from pytest_mcp_conformance.contract import RULES
from pytest_mcp_conformance.matrix.document import document
from pytest_mcp_conformance.matrix.merging import blank
from pytest_mcp_conformance.matrix.table import Row

__all__ = ["BROKEN", "DRAWN", "entry", "sample"]

DRAWN: list[dict[str, Any]] = [
    {"n": 9, "at": 0.0, "kind": "served", "who": 1, "tools": [{"name": "a"}]},
    {"n": 16, "at": 0.0, "kind": "noticed", "method": "notifications/tools/list_changed", "connection": 1},
    {"n": 20, "at": 2.5, "kind": "served", "who": 1, "tools": [{"name": "a"}]},
]
BROKEN: dict[str, Any] = {
    "verdict": "broken",
    "level": "MUST",
    "detail": "the user was handed a, which had gone\nassert ['a'] == ['b']",
    "inherited": False,
    "clock": "virtual",
    "items": 2,
    "item": "fresh_listing_meets_a_notice[acme-memory-handshake]",
    "drawn": DRAWN,
}


def entry(adapter: str, version: str, rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The entry of a wrapper that was judged by every rule: kept where nothing else is said."""
    said = {
        name: rules.get(name)
        or (
            {"verdict": "kept", "level": rule.level.value}
            if rule.area in ("CCH", "CALL")
            else {"verdict": "not-claimed", "level": rule.level.value, "detail": "bind"}
        )
        for name, rule in RULES.items()
    }
    found = [each["verdict"] for each in said.values()]
    names = ("kept", "broken", "known-gap", "not-claimed", "not-testable", "unknown")
    return {
        **blank(Row(adapter, f"{adapter}-mcp", version, ("mcp==2.3.0",))),
        "sdk": "2.3.0",
        "python": "3.11.7",
        "state": "judged",
        "why": "",
        "counts": {name: found.count(name) for name in names},
        "claims": {"caches_listings": True, "own_timeout": 30.0, "eras": ["handshake"]},
        "rules": said,
        **more,
    }


def sample() -> dict[str, Any]:
    """The whole."""
    known = {
        **BROKEN,
        "verdict": "known-gap",
        "inherited": True,
        "reason": "one side request is let to replace the result",
        "confirmed": "played by hand against a server of forty lines, twice",
        "link": "https://example.org/acme/issues/7",
    }
    return document(
        [
            entry("acme", "1.0", {"CCH-12": BROKEN, "CALL-2": known}, state="differs", why="broken: CCH-12"),
            entry("blue", "0.2", {"CALL-2": known}),
            blank(Row("gone", "gone-mcp", "3.0"), "pip ended with code 1: no matching distribution"),
        ]
    )
