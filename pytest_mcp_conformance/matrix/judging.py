"""Wrappers judged: what has to be played is played, and what is known already is taken as it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.matrix.kit import Kit
from pytest_mcp_conformance.matrix.merging import blank, merged
from pytest_mcp_conformance.matrix.places import Place
from pytest_mcp_conformance.matrix.running import run_all
from pytest_mcp_conformance.matrix.table import Row
from pytest_mcp_conformance.reports.json import write_atomically

__all__ = ["Setting", "entries_of", "judge", "kept_result"]

_TO_ITS_END = "played"
_BESIDE = ("pytest-xdist>=3.6",)
"""What is installed beside the kit, so that `--workers` asks for no other environment."""


@dataclass(frozen=True)
class Setting:
    """How wrappers are judged.

    Attributes:
        folder: Where environments and results are; a wrapper has a folder in it.
        kit: What is installed as the kit.
        python: The interpreter that makes environments.
        limit: Seconds that a wrapper may take.
        workers: How many processes play one wrapper.
        more: Further words for pytest, as --mcp-rule=CALL.
    """

    folder: Path
    kit: Kit
    python: str
    limit: float = 1800.0
    workers: int = 0
    more: tuple[str, ...] = ()

    def words(self, row: Row) -> list[str]:
        """What pip installs for a wrapper."""
        return [*row.requirements, *self.kit.words, *_BESIDE]

    def made_of(self, row: Row) -> str:
        """What an environment depends on."""
        return _digest(self.words(row), self.kit.copied, self.python)

    def judged_by(self, row: Row) -> str:
        """What a result depends on."""
        return _digest(
            self.made_of(row),
            self.kit.state_for(row.adapter),
            row.adapter,
            row.module,
            _text(row.gaps),
            self.more,
        )

    def job(self, row: Row) -> dict[str, Any]:
        """What is to be done for a wrapper, as plain data."""
        return {
            "key": row.key,
            "folder": str(self.folder / row.key),
            "python": self.python,
            "words": self.words(row),
            "stamp": self.made_of(row),
            "requirements": [*row.requirements],
            "wrapper": row.adapter,
            "module": row.module,
            "gaps": _text(row.gaps),
            "workers": self.workers,
            "more": [*self.more],
            "limit": self.limit,
        }


def judge(
    rows: Sequence[Row],
    setting: Setting,
    places: Sequence[Place],
    *,
    fresh: bool = False,
    tell: Callable[[str, str], object],
    done: Callable[[Row, Mapping[str, Any]], object],
) -> bool:
    """Judge wrappers, except those whose result is there.

    Args:
        rows: The wrappers.
        setting: How.
        places: Who does it.
        fresh: Whether environments and results that are there are of no use.
        tell: Told the key of a row, and what is done for it.
        done: Given a row and its entry, once that is known.

    Returns:
        False when it was interrupted.
    """
    by_key = {row.key: row for row in rows}
    jobs = []
    for row in rows:
        if fresh:
            shutil.rmtree(setting.folder / row.key, ignore_errors=True)
        raw = kept_result(row, setting)
        if raw is None:
            jobs.append(setting.job(row))
        else:
            tell(row.key, "is known")
            done(row, merged(row, raw))

    def keep(key: str, raw: Mapping[str, Any]) -> None:
        row = by_key[key]
        path = _result(row, setting)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps({"by": setting.judged_by(row), "raw": raw}))
        done(row, merged(row, raw))

    return run_all(jobs, places, tell=tell, keep=keep) if jobs else True


def kept_result(row: Row, setting: Setting) -> dict[str, Any] | None:
    """What came of a wrapper that was played to its end by the same requirements, kit and known gaps."""
    try:
        told = json.loads(_result(row, setting).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(told, dict) or told.get("by") != setting.judged_by(row):
        return None
    raw = told.get("raw")
    return raw if isinstance(raw, dict) and raw.get("state") == _TO_ITS_END else None


def entries_of(
    rows: Sequence[Row],
    setting: Setting,
    now: Mapping[str, Mapping[str, Any]],
    before: Callable[[str, str], Mapping[str, Any] | None],
) -> list[Mapping[str, Any]]:
    """An entry for each row of the table, in its order: of this run, else of an earlier one.

    Args:
        rows: All rows of the table.
        setting: How they are judged.
        now: The entries of this run, by key.
        before: Gives the entry of an adapter and version that was written down before.
    """
    found: list[Mapping[str, Any]] = []
    for row in rows:
        if row.key in now:
            found.append(now[row.key])
        elif (raw := kept_result(row, setting)) is not None:
            found.append(merged(row, raw))
        else:
            found.append(before(row.adapter, row.version) or blank(row))
    return found


def _result(row: Row, setting: Setting) -> Path:
    return setting.folder / row.key / "result.json"


def _text(path: Path | None) -> str | None:
    return path.read_text(encoding="utf-8") if path is not None else None


def _digest(*parts: Any) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()
