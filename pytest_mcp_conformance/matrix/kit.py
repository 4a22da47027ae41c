"""What is installed as the kit, and by what one state of it is told from another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from packaging.requirements import InvalidRequirement, Requirement

from pytest_mcp_conformance.contract import UsageError

__all__ = ["Kit", "kit_of"]

NAME = "pytest-mcp-conformance"
_EXTRAS = "http"
_NOT_PLAYED = ("matrix", "cli")
"""Rooms that take no part when a wrapper is judged."""


@dataclass(frozen=True)
class Kit:
    """What is installed as the kit.

    Attributes:
        words: What pip is told.
        copied: What the copy that is installed depends on, beside the words; empty where it is no copy.
        state: What verdicts depend on.
    """

    words: tuple[str, ...]
    copied: str
    state: str


def kit_of(requirement: str = "") -> Kit:
    """The kit that a requirement names: a folder, a file, or what an index is asked for.

    Args:
        requirement: Without one it is what runs here: this version, and from where it was installed.

    Raises:
        UsageError: It is neither.
    """
    if not requirement:
        return _this_one()
    path = Path(requirement)
    if path.is_dir():
        return _in_a_folder(path, editable=True)
    if path.is_file():
        digest = sha256(path.read_bytes()).hexdigest()
        return Kit((f"{path.absolute()}[{_EXTRAS}]",), digest, digest)
    try:
        wanted = Requirement(requirement)
    except InvalidRequirement:
        raise UsageError(
            f"--kit {requirement!r} is neither a folder nor a file nor a requirement; "
            f"write one, as in --kit '{NAME}==0.1.0'"
        ) from None
    wanted.extras.add(_EXTRAS)
    return Kit((str(wanted),), "", str(wanted))


def _this_one() -> Kit:
    try:
        here = distribution(NAME)
    except PackageNotFoundError:
        raise UsageError(f"{NAME} is not installed here: say with --kit what is to be installed") from None
    told = json.loads(here.read_text("direct_url.json") or "{}")
    place = urlparse(told.get("url", ""))
    if place.scheme == "file":
        path = Path(url2pathname(place.path))
        editable = bool(told.get("dir_info", {}).get("editable"))
        return _in_a_folder(path, editable=editable) if path.is_dir() else kit_of(str(path))
    return kit_of(f"{NAME}=={here.version}")


def _in_a_folder(path: Path, *, editable: bool) -> Kit:
    state = _state_of(path)
    words = f"{path.absolute()}[{_EXTRAS}]"
    return Kit(("-e", words), "", state) if editable else Kit((words,), state, state)


def _state_of(folder: Path) -> str:
    """A digest of the files that judge."""
    found = sha256()
    for top in ("pytest_mcp_conformance", "reference/mcp_conformance_reference"):
        root = folder / top
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(root)
            if path.suffix in (".py", ".json") and inside.parts[0] not in _NOT_PLAYED:
                found.update(f"{top}/{inside.as_posix()}\n".encode())
                found.update(path.read_bytes())
    return found.hexdigest()
