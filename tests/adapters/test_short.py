"""Adapters are short: whoever writes one of their own can read any of them at a glance."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_mcp_conformance import adapters

FILES = [path for path in Path(adapters.__file__).parent.glob("*.py") if not path.name.startswith("_")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_adapter_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
