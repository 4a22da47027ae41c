"""The table of wrappers: which there are, in which versions, and where their known gaps stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.plugin.project import read_toml
from pytest_mcp_conformance.reports.text import closest

__all__ = ["PACKAGED", "Row", "chosen", "read_table"]

PACKAGED = Path(__file__).with_name("wrappers.toml")
"""The table of this kit."""

_NEEDED = ("adapter", "package", "version")
_KEYS = [*_NEEDED, "pins", "from"]
_EXAMPLE = '[[wrapper]] with adapter = "acme", package = "acme-mcp" and version = "1.0"'


@dataclass(frozen=True)
class Row:
    """One wrapper in one version.

    Attributes:
        adapter: The name of its adapter.
        package: The package that holds the wrapper.
        version: The version that is installed.
        pins: Requirements of what is installed beside it.
        module: Where the adapter is, as `module:name`; empty for a bundled one.
        gaps: The file of its known gaps, or None where there is none.
    """

    adapter: str
    package: str
    version: str
    pins: tuple[str, ...] = ()
    module: str = ""
    gaps: Path | None = None

    @property
    def key(self) -> str:
        """What tells it from the others: adapter and version."""
        return f"{self.adapter}-{self.version}"

    @property
    def requirements(self) -> tuple[str, ...]:
        """What is installed for it, beside the kit."""
        return (f"{self.package}=={self.version}", *self.pins)


def read_table(path: Path = PACKAGED) -> tuple[Row, ...]:
    """The rows of a table, in their order.

    Args:
        path: A TOML file of `[[wrapper]]` entries; known gaps stand in the folder `known_gaps` beside it.

    Raises:
        UsageError: The file or an entry of it is not as it should be; the message names the entry.
    """
    content = read_toml(path, "the table of wrappers")
    for key in content:
        if key != "wrapper":
            raise UsageError(f"{path}: unknown key {key!r}; write {_EXAMPLE}")
    entries = content.get("wrapper", [])
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"{path}: there is no wrapper in it; write {_EXAMPLE}")
    rows = [
        _read(each, f"{path}, wrapper {n}", path.parent / "known_gaps") for n, each in enumerate(entries, 1)
    ]
    for number, row in enumerate(rows, 1):
        first = next(n for n, each in enumerate(rows, 1) if each.key == row.key)
        if first != number:
            raise UsageError(f"{path}: wrappers {first} and {number} are both {row.key}; take one out")
    return tuple(rows)


def chosen(rows: Sequence[Row], names: Sequence[str]) -> tuple[Row, ...]:
    """The rows that names or globs fit, by adapter, package, or adapter and version; without any, all.

    Raises:
        UsageError: A name fits none.
    """
    for name in names:
        if not any(_fits(row, name) for row in rows):
            known = [*dict.fromkeys(each for row in rows for each in (row.adapter, row.key))]
            raise UsageError(f"{name!r} fits no wrapper of the table: {closest(name, known)}")
    return tuple(row for row in rows if not names or any(_fits(row, name) for name in names))


def _fits(row: Row, name: str) -> bool:
    return any(fnmatchcase(each, name) for each in (row.adapter, row.package, row.key))


def _read(entry: Any, where: str, gaps: Path) -> Row:
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: not a table; write {_EXAMPLE}")
    for key in entry:
        if key not in _KEYS:
            raise UsageError(f"{where}: unknown key {key!r}: {closest(key, _KEYS)}")
    for key in _NEEDED:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise UsageError(f"{where}: no {key}; write {_EXAMPLE}")
    adapter, package, version = (entry[key].strip() for key in _NEEDED)
    pins, module = entry.get("pins", []), entry.get("from", "")
    if not isinstance(pins, list) or not all(isinstance(pin, str) for pin in pins):
        raise UsageError(f'{where}: pins = {pins!r} is no list of requirements; write pins = ["mcp==2.3.0"]')
    if not isinstance(module, str) or not re.fullmatch(r"|[\w.]+:\w+", module):
        raise UsageError(f'{where}: from = {module!r} is no place of an adapter; write from = "module:name"')
    if not re.fullmatch(r"[\w.-]+", adapter, re.ASCII):
        raise UsageError(f"{where}: adapter = {adapter!r} cannot be a name")
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", package, re.ASCII):
        raise UsageError(f"{where}: package = {package!r} is no name of a package; extras stand in pins")
    _must_be_a_version(version, where)
    for pin in pins:
        _must_be_a_requirement(pin, where)
    file = gaps / f"{adapter}-{version}.toml"
    return Row(adapter, package, version, tuple(pins), module, file if file.is_file() else None)


def _must_be_a_version(version: str, where: str) -> None:
    try:
        Version(version)
    except InvalidVersion:
        raise UsageError(f"{where}: version = {version!r} is no version; write one, as 1.0") from None


def _must_be_a_requirement(pin: str, where: str) -> None:
    try:
        Requirement(pin)
    except InvalidRequirement:
        raise UsageError(f'{where}: pin {pin!r} is no requirement; write one, as "mcp==2.3.0"') from None
