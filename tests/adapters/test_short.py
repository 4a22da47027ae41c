"""Adapters are short: whoever writes one of their own can read any of them at a glance."""

from __future__ import annotations

import ast
from pathlib import Path
from statistics import median

import pytest

from pytest_mcp_conformance import adapters

FILES = [path for path in Path(adapters.__file__).parent.glob("*.py") if not path.name.startswith("_")]


def lines_that_do_something(path):
    """The lines of a file without imports, docstrings, comments and blanks."""
    text = path.read_text(encoding="utf-8")
    beside = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            beside |= {*range(node.lineno, node.end_lineno + 1)}
    numbered = enumerate(text.splitlines(), 1)
    return [n for n, line in numbered if n not in beside and line.strip() and line.strip()[0] != "#"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_adapter_is_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60


def test_half_of_them_do_what_they_do_in_thirty_lines():
    of_packages = [path for path in FILES if path.stem != "reference"]
    assert median(len(lines_that_do_something(path)) for path in of_packages) <= 30
