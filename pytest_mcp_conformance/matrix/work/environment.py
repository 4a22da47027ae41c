"""A virtual environment for one wrapper: made where it is missing or does not fit."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.matrix.work.process import run

__all__ = ["NotMade", "clean_environ", "environment", "python_in", "versions_in"]

_STAMP = "made-of.json"
_LIMIT = 1800.0
_LOOK = """
import json, platform, re, sys
from importlib.metadata import distributions
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
there = {canonicalize_name(each.metadata["Name"]): each.version for each in distributions()}
wrong = []
for word in sys.argv[2:]:
    wanted = Requirement(word)
    if wanted.marker is not None and not wanted.marker.evaluate():
        continue
    found = there.get(canonicalize_name(wanted.name), "")
    if not found or not wanted.specifier.contains(found, prereleases=True):
        wrong.append([word, found])
told = {"python": platform.python_version(), "versions": there, "wrong": wrong}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(told, file)
"""


class NotMade(Exception):
    """There is no such environment: why, in one line."""


def environment(folder: Path, python: str, words: Sequence[str], stamp: str, stop: threading.Event) -> bool:
    """Make `folder/venv`, if what is there is of something else.

    Args:
        folder: The wrapper's folder.
        python: The interpreter that makes it.
        words: What pip installs, resolved in one call.
        stamp: What it depends on, the words included.
        stop: Set when this is to end.

    Returns:
        True when it was made, and False when it was there.

    Raises:
        NotMade: It cannot be made.
    """
    place = folder / "venv"
    made = place / _STAMP
    if made.is_file() and made.read_text(encoding="utf-8") == stamp and python_in(place).exists():
        return False
    shutil.rmtree(place, ignore_errors=True)
    _must(folder, "venv", [python, "-m", "venv", str(place)], stop)
    quiet = ["--no-input", "--disable-pip-version-check", "--quiet"]
    _must(folder, "pip", [str(python_in(place)), "-m", "pip", "install", *quiet, *words], stop)
    made.write_text(stamp, encoding="utf-8")
    return True


def versions_in(folder: Path, wanted: Sequence[str], stop: threading.Event) -> dict[str, Any]:
    """What is installed in `folder/venv`: its `python`, the `versions`, and what of the wanted is `wrong`.

    Raises:
        NotMade: The interpreter does not say.
    """
    told = folder / "versions.json"
    told.unlink(missing_ok=True)
    python = str(python_in(folder / "venv"))
    _must(folder, "versions", [python, "-I", "-c", _LOOK, str(told), *wanted], stop)
    return dict(json.loads(told.read_text(encoding="utf-8")))


def python_in(place: Path) -> Path:
    """The interpreter of a virtual environment."""
    return place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def clean_environ() -> dict[str, str]:
    """The environment of this process, without what leads an interpreter to other code."""
    led = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    return {name: value for name, value in os.environ.items() if name not in led}


def _must(folder: Path, what: str, command: Sequence[str], stop: threading.Event) -> None:
    log = folder / f"{what}.log"
    try:
        ended = run(command, folder=folder, log=log, environ=clean_environ(), limit=_LIMIT, stop=stop)
    except OSError as error:
        raise NotMade(f"{command[0]} cannot be run: {error.strerror or error}") from None
    if ended.why:
        raise NotMade(f"{what} did not end within {_LIMIT:g} s" if ended.why == "limit" else "stopped")
    if ended.code != 0:
        raise NotMade(_said(log, what, ended.code))


def _said(log: Path, what: str, code: int | None) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    telling = [line.strip() for line in lines if line.strip()]
    errors = [line.partition("ERROR:")[2].strip() for line in telling if line.startswith("ERROR:")]
    said = next(iter(errors or telling[-1:]), "")
    return f"{what} ended with code {code}: {re.sub(r'[a-z+]+://[^ ]+', '…', said)}"
