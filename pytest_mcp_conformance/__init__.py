"""Conformance of MCP client wrappers: what an adapter is written with, and what a verdict is made of.

The names are loaded when they are touched: pytest imports this package in every run of every project in which
the kit is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_mcp_conformance.contract import (
        Adapter,
        AdapterError,
        Claims,
        ConformanceError,
        Dial,
        Judgement,
        Level,
        NotSpoken,
        Outcome,
        Played,
        Probe,
        Rule,
        Source,
        Tool,
        UsageError,
        Verdict,
        Wrapper,
        adapter,
    )
    from pytest_mcp_conformance.history import Explanation, Finding, History, HistoryError, check, explain

__all__ = [
    "Adapter",
    "AdapterError",
    "Claims",
    "ConformanceError",
    "Dial",
    "Explanation",
    "Finding",
    "History",
    "HistoryError",
    "Judgement",
    "Level",
    "NotSpoken",
    "Outcome",
    "Played",
    "Probe",
    "Rule",
    "Source",
    "Tool",
    "UsageError",
    "Verdict",
    "Wrapper",
    "adapter",
    "check",
    "explain",
]

_OF_HISTORIES = frozenset({"Explanation", "Finding", "History", "HistoryError", "check", "explain"})


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{'history' if name in _OF_HISTORIES else 'contract'}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
