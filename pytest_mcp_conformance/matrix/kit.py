"""What is installed as the kit, and by what one state of it is told from another."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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

_ADAPTERS = "adapters"
_BARE = ("mcp_client", "mcp_session")
"""The adapters that have a part in each verdict: what breaks them too is inherited."""


@dataclass(frozen=True)
class Kit:
    """What is installed as the kit.

    Attributes:
        words: What pip is told.
        copied: What the copy that is installed depends on, beside the words; empty where it is no copy.
        state: What all verdicts depend on.
        adapters: What the verdicts about one adapter depend on beside that, by its module's name.
    """

    words: tuple[str, ...]
    copied: str
    state: str
    adapters: Mapping[str, str] = field(default_factory=dict)

    def state_for(self, adapter: str) -> str:
        """What the verdicts about one adapter depend on."""
        return self.state + self.adapters.get(adapter.replace("-", "_"), "")


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
    adapters = _adapters_of(path)
    state = _digest_of([_state_of(path), *(adapters.get(name, "") for name in _BARE)])
    words = f"{path.absolute()}[{_EXTRAS}]"
    if editable:
        return Kit(("-e", words), "", state, adapters)
    return Kit((words,), _digest_of([state, *adapters.values()]), state, adapters)


def _state_of(folder: Path) -> str:
    """A digest of the files that judge, without the adapters."""
    found: list[str | bytes] = []
    for top in ("pytest_mcp_conformance", "reference/mcp_conformance_reference"):
        root = folder / top
        for path in sorted(root.rglob("*.py")):
            inside = path.relative_to(root)
            of_one = inside.parts[0] == _ADAPTERS and path.name != "__init__.py"
            if inside.parts[0] not in _NOT_PLAYED and not of_one:
                found += [f"{top}/{inside.as_posix()}\n", path.read_bytes()]
    return _digest_of(found)


def _adapters_of(folder: Path) -> dict[str, str]:
    """A digest of each adapter, by the name of its module, and of what it imports from those beside it."""
    beside = {path.stem: path for path in (folder / "pytest_mcp_conformance" / _ADAPTERS).glob("*.py")}
    imports = {name: _imported(path) & beside.keys() for name, path in beside.items()}

    def reached(name: str, known: frozenset[str] = frozenset()) -> frozenset[str]:
        for each in imports[name] - known - {name}:
            known |= reached(each, known | {name})
        return known | {name}

    return {
        name: _digest_of([beside[each].read_bytes() for each in sorted(reached(name))])
        for name in sorted(beside)
        if not name.startswith("_")
    }


def _imported(path: Path) -> set[str]:
    """The last part of every name that a file imports, and of the module from which it does."""
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [each.name for each in node.names]
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            found |= {name.rpartition(".")[2] for name in names}
    return found


def _digest_of(parts: Iterable[str | bytes]) -> str:
    found = sha256()
    for part in parts:
        found.update(part.encode() if isinstance(part, str) else part)
    return found.hexdigest()
