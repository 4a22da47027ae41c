"""The pages: all three are made of one document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.matrix.document import dumped
from pytest_mcp_conformance.matrix.html import html
from pytest_mcp_conformance.matrix.markdown import markdown
from pytest_mcp_conformance.reports.json import write_atomically

__all__ = ["pages", "write"]


def pages(data: Mapping[str, Any]) -> dict[str, str]:
    """The text of each file, by its name."""
    return {"matrix.json": dumped(data), "matrix.md": markdown(data), "index.html": html(data)}


def write(folder: Path, data: Mapping[str, Any]) -> list[Path]:
    """Write them, and say where.

    Raises:
        OSError: The folder does not take them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(data).items():
        write_atomically(folder / name, text)
    return [folder / name for name in pages(data)]
