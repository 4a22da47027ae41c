"""The report file: what a run said, for programs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.reports.text import plain
from pytest_mcp_conformance.reports.verdicts import RuleVerdict, WrapperVerdicts

__all__ = ["FORMAT", "document", "dumped", "version_of", "write_atomically"]

FORMAT = 1
"""Counts up when a reader of the file would have to change."""


def document(wrappers: Iterable[WrapperVerdicts], *, contract: str, complete: bool) -> dict[str, Any]:
    """The report as plain data.

    Args:
        wrappers: The verdicts. Rules that nothing judged are not in them, and not in the report either: a
            report says what was seen.
        contract: The version of the rules.
        complete: False when the run was interrupted.
    """
    return {
        "format": FORMAT,
        "kit": {"version": version_of("pytest-mcp-conformance"), "contract": contract},
        "environment": {
            "python": platform.python_version(),
            "mcp": version_of("mcp"),
            "pytest": version_of("pytest"),
        },
        "wrappers": [_wrapper(each) for each in wrappers],
        "complete": complete,
    }


def write_atomically(path: Path, text: str) -> None:
    """Write a file whole or not at all: a reader never sees half of it.

    Raises:
        OSError: The folder does not take it.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("x", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def version_of(package: str) -> str:
    """The installed version of `package`, or an empty text."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def dumped(data: dict[str, Any]) -> str:
    """The text of a report file."""
    return json.dumps(data, indent=2) + "\n"


def _wrapper(verdicts: WrapperVerdicts) -> dict[str, Any]:
    return {
        "name": plain(verdicts.name),
        "version": plain(verdicts.version),
        "claims": plain(verdicts.claims),
        "probes": [
            {"claim": probe.claim, "says": probe.says, "wire": probe.wire, "detail": plain(probe.detail)}
            for probe in verdicts.probes
        ],
        "counts": verdicts.counts,
        "rules": {name: _rule(each) for name, each in verdicts.rules.items()},
        "trouble": [{"item": item, "detail": plain(trouble)} for item, trouble in verdicts.trouble],
        "borne": [{"item": item, "detail": plain(trouble)} for item, trouble in verdicts.borne],
    }


def _rule(verdict: RuleVerdict) -> dict[str, Any]:
    return {
        "verdict": verdict.verdict.value,
        "level": verdict.level.value,
        "source": verdict.rule.source.text,
        "inherited": verdict.inherited,
        "items": list(verdict.items),
        "clock": plain(verdict.clock),
        "detail": plain(verdict.detail),
        "proof": list(verdict.proof),
        "replay": "",
    }
