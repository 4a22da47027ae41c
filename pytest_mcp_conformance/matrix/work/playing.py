"""One wrapper judged by pytest in its environment and in an empty folder, and what that has left there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pytest_mcp_conformance.matrix.work.environment import python_in
from pytest_mcp_conformance.matrix.work.process import Ended, run

__all__ = ["play"]

_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR")
_DRAWN = ("broken", "known-gap")
_GRACE = 30.0
_MISUSED = 4
_IMPORTING = re.compile(r"importing \S+ for the bundled adapter|importing \S+ raised")


def play(
    folder: Path,
    wrapper: str,
    *,
    module: str,
    gaps: str | None,
    workers: int,
    more: Sequence[str],
    limit: float,
    stop: threading.Event,
) -> dict[str, Any]:
    """Judge a wrapper in `folder/venv`.

    Args:
        folder: The wrapper's folder.
        wrapper: The adapter's name.
        module: Where the adapter is; empty for a bundled one.
        gaps: The text of its file of known gaps.
        workers: How many processes play.
        more: Further words for pytest.
        limit: Seconds that it may take.
        stop: Set when this is to end.

    Returns:
        The `state`, and `why` where it is not `played`; the `report` where there is one; the `histories`
        that it points to, by item; what the run says of `closed` gaps; and what items have `printed`.
    """
    place = folder / "play"
    shutil.rmtree(place, ignore_errors=True)
    (place / "home").mkdir(parents=True)
    (place / "tmp").mkdir()
    # An ini file of its own, so that pytest looks for none in the folders above.
    (place / "pytest.ini").write_text(f"[pytest]\nmcp_adapters = {module}\n", encoding="utf-8")
    if gaps is not None:
        (place / "known_gaps.toml").write_text(gaps, encoding="utf-8")
    report, log = place / "report.json", folder / "play.log"
    command = [*_command(folder, wrapper, gaps is not None, workers), *more]
    environ = _environ(place)
    ended = run(
        command,
        folder=place,
        log=log,
        environ=environ,
        limit=limit,
        stop=stop,
        done=report.exists,
        grace=_GRACE,
    )
    state, why = _state(ended, place, log, limit)
    said: dict[str, Any] = {"state": state, "why": why, "report": None, "code": ended.code}
    if report.exists():
        said["report"] = json.loads(report.read_text(encoding="utf-8"))
        said["histories"] = dict(_histories(place, said["report"]))
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    closed = [line.partition(": ")[2] for line in lines if line.startswith("known gap closed: ")]
    return {
        **said,
        "closed": [each.rpartition("; take entry")[0] for each in closed],
        "printed": _printed(place),
    }


def _command(folder: Path, wrapper: str, gaps: bool, workers: int) -> list[str]:
    words = [str(python_in(folder / "venv")), "-m", "pytest", "--mcp-conformance", f"--mcp-wrapper={wrapper}"]
    words += ["--mcp-strict", "--mcp-report=report.json", "--mcp-history=histories"]
    words += ["--mcp-known-gaps=known_gaps.toml"] if gaps else []
    words += ["-n", str(workers)] if workers else []
    words += ["--junitxml=junit.xml", "-o", "junit_logging=system-out"]
    return [*words, "-q", "--color=no", "-p", "no:cacheprovider", "--rootdir=."]


def _environ(place: Path) -> dict[str, str]:
    """Little of this one's: no credential, no setting and no file of the user's reaches a wrapper."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    own = {"HOME": "home", "USERPROFILE": "home", "TMPDIR": "tmp", "TEMP": "tmp", "TMP": "tmp"}
    there = {name: str(place / inside) for name, inside in own.items()}
    return {**kept, **there, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": "0"}


def _state(ended: Ended, place: Path, log: Path, limit: float) -> tuple[str, str]:
    if ended.why == "stop":
        return "stopped", "the run was interrupted"
    if ended.why == "lingers":
        return "lingers", "every scenario was played, and then its process did not end: a thread holds it"
    if ended.why == "limit":
        return "hangs", f"it did not end within {limit:g} s{_under_way(place)}"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if (place / "report.json").exists() and not (ended.code == _MISUSED and errors):
        return "played", ""
    if ended.code == _MISUSED and errors:
        return ("not-imported" if _IMPORTING.search(errors[0]) else "not-played"), errors[0]
    return "crashed", f"its process ended {_how(ended.code)}, and gave no report{_under_way(place)}"


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return f"by {signal.Signals(-code).name}"
    return f"with code {code}"


def _under_way(place: Path) -> str:
    """Which items were under way: their histories have no end."""
    names = sorted(
        _header(path).get("name", path.name)
        for path in (place / "histories").glob("*.jsonl")
        if not _last_line(path).startswith(b'{"events":')
    )
    return f" while it was playing {', '.join(names[:3])}" if names else ""


def _histories(place: Path, report: dict[str, Any]) -> list[tuple[str, str]]:
    """The histories of the first item of each broken rule, by the item's id."""
    rules = [rule for wrapper in report["wrappers"] for rule in wrapper["rules"].values()]
    wanted = {rule["items"][0] for rule in rules if rule["verdict"] in _DRAWN and rule["items"]}
    found = []
    for path in sorted((place / "histories").glob("*.jsonl")):
        item = f"mcp-conformance::{_header(path).get('name', '')}"
        if item in wanted:
            found.append((item, path.read_text(encoding="utf-8", errors="replace")))
    return found


def _header(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            told = json.loads(file.readline())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _last_line(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - 4096))
        return file.read().rstrip().rpartition(b"\n")[2]


def _printed(place: Path) -> list[str]:
    """What was printed to stdout while items were played: one text an item."""
    try:
        root = ElementTree.parse(place / "junit.xml").getroot()
    except (OSError, ElementTree.ParseError):
        return []
    texts = [_without_heads(out.text or "") for out in root.iter("system-out")]
    return [text for text in texts if text]


def _without_heads(text: str) -> str:
    """Without the lines by which pytest says of which phase it is."""
    lines: Sequence[str] = text.splitlines()
    return "\n".join(line for line in lines if not re.fullmatch(r"-* ?Captured \w+ ?-*", line)).strip()
