"""The arrows of the house: who may import whom, read from the imports."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KIT = ROOT / "pytest_mcp_conformance"
NAME = KIT.name

MAY_IMPORT = {
    "contract": set(),
    "outside": set(),
    "elsewhere": set(),
    "door": set(),
    "quiet": {"outside"},
    "clock": {"quiet", "outside"},
    "history": {"contract"},
    "snapshots": {"contract", "history"},
    "server": {"contract", "history", "clock", "outside", "door"},
    "adapters": {"contract"},
    "scenarios": {"contract", "elsewhere", "history", "clock", "server", "adapters"},
    "reports": {"contract", "history"},
    "plugin": {"contract", "history", "clock", "server", "adapters", "scenarios", "reports", "snapshots"},
    "recording": {"contract", "history", "door"},
    "matrix": {"contract", "history", "reports", "plugin"},
    "cli": {"contract", "history", "recording", "scenarios", "reports", "matrix"},
}
"""A room, and the rooms that it may lean on."""


def imports_of(path):
    """The dotted names that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(dotted):
    """The room of the kit that a dotted name is in, or None."""
    parts = dotted.split(".")
    return parts[1] if parts[0] == NAME and len(parts) > 1 and parts[1] in MAY_IMPORT else None


def test_every_room_is_known():
    rooms = {path.stem for path in KIT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__"} == set(MAY_IMPORT)


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_arrows_go_one_way(room):
    files = [KIT / f"{room}.py"] if (KIT / f"{room}.py").exists() else sorted((KIT / room).rglob("*.py"))
    allowed = MAY_IMPORT[room] | {room}
    found = {
        (path.name, to)
        for path in files
        for name in imports_of(path)
        if (to := room_of(name)) and to not in allowed
    }
    assert found == set()


def test_the_reference_knows_nothing_of_the_kit_and_of_pytest():
    files = (ROOT / "reference" / "mcp_conformance_reference").rglob("*.py")
    found = {
        (path.name, name)
        for path in files
        for name in imports_of(path)
        if name.split(".")[0] in (NAME, "pytest")
    }
    assert found == set()


def test_what_is_sent_to_another_machine_needs_the_standard_library_alone():
    work = f"{NAME}.matrix.work"
    files = (KIT / "matrix" / "work").glob("*.py")
    found = {
        (path.name, name)
        for path in files
        for name in imports_of(path)
        if not name.startswith(work) and name.split(".")[0] not in sys.stdlib_module_names
    }
    assert found == set()


def test_the_script_is_free_of_the_sdk():
    files = (KIT / "server").glob("*.py")
    found = {
        (path.name, name)
        for path in files
        for name in imports_of(path)
        if name.split(".")[0] in ("mcp", "mcp_types")
    }
    assert found == set()
