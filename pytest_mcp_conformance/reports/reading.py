"""A report file, read again."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.reports.json import FORMAT

__all__ = ["Report", "ReportedRule", "ReportedWrapper", "read_report"]

Word = Literal["kept", "broken", "known-gap", "not-claimed", "not-testable", "unknown"]


class ReportedRule(msgspec.Struct, frozen=True):
    """What a report says of one rule."""

    verdict: Word
    level: Literal["MUST", "SHOULD"]
    inherited: bool = False
    detail: str = ""


class ReportedWrapper(msgspec.Struct, frozen=True):
    """What a report says of one wrapper."""

    name: str
    version: str
    counts: dict[str, int]
    rules: dict[str, ReportedRule]


class Report(msgspec.Struct, frozen=True):
    """The part of a report file that is shown to people."""

    format: int
    environment: dict[str, str]
    wrappers: tuple[ReportedWrapper, ...]
    complete: bool


def read_report(path: Path) -> Report:
    """Read what `--mcp-report` wrote.

    Args:
        path: The file.

    Raises:
        UsageError: It cannot be read, or is no report of this format.
    """
    try:
        report = msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise UsageError(
            f"{path}: is no report: {error}; name a file that --mcp-report=FILE.json wrote"
        ) from None
    if report.format != FORMAT:
        raise UsageError(
            f"{path}: a report of format {report.format}, and this kit reads format {FORMAT}; "
            "read it with the version of the kit that wrote it"
        )
    return report
