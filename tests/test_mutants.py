"""What is said of surviving mutants is about code that is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
KINDS = tomllib.loads((ROOT / "tests" / "mutants" / "looked_at.toml").read_text(encoding="utf-8"))
ENTRIES = [(kind, entry) for kind, entries in KINDS.items() for entry in entries]


def _id(entry):
    kind, about = entry
    return f"{kind}-{about['file']}-{about['where'] or 'module'}"


def test_the_kinds_are_known():
    assert set(KINDS) == {"equivalent", "unruled"}


@pytest.mark.parametrize("entry", ENTRIES, ids=_id)
def test_the_line_that_was_looked_at_is_still_there(entry):
    _, about = entry
    path = ROOT / "reference" / "mcp_conformance_reference" / about["file"]
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    assert about.get("was", "") in " ".join(lines)
    assert about["reason"]
