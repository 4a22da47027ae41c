"""Environments that cost nothing, and wrappers that misbehave: what the tests of the matrix judge."""

from __future__ import annotations

import sysconfig
import venv
from pathlib import Path

from pytest_mcp_conformance.matrix.judging import Setting
from pytest_mcp_conformance.matrix.table import Row

__all__ = ["ROOT", "WRAPPERS", "ready", "written"]

ROOT = Path(__file__).parents[2]

_ADAPTER = """
from mcp import ClientSession
from pytest_mcp_conformance import Claims, Wrapper, adapter
{before}

@adapter(
    {name!r},
    version="1.0",
    claims=Claims(transports=("memory",), eras=("handshake",), follows_pages=False),
)
async def adapter_(dial):
    async with dial.session() as session:
        async def list_tools():
            return (await session.list_tools()).tools

        async def call_tool(tool, arguments):
            {inside}
            return await session.call_tool(getattr(tool, "name", tool), arguments)

        yield Wrapper(list_tools=list_tools, call_tool=call_tool, refresh=list_tools)
"""

WRAPPERS = {
    "quiet": ("", "pass"),
    "absent": ("import a_module_that_is_not_there", "pass"),
    "talking": ("print('hello from the import')", "print('calling', flush=True)"),
    "aborting": ("import os", "os.abort()"),
    "leaving": ("import os", "os._exit(0)"),
    "lingering": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()",
        "pass",
    ),
    "hanging": ("import time", "time.sleep(600)"),
    "roaming": ("import socket", "socket.create_connection(('example.org', 80), 5).close()"),
}
"""What each does when it is imported, and when a tool is called."""


def written(folder: Path, name: str) -> Path:
    """A folder with the module of one of them, named `acme_NAME`."""
    before, inside = WRAPPERS[name]
    folder.mkdir(parents=True, exist_ok=True)
    text = _ADAPTER.format(name=name, before=before, inside=inside)
    (folder / f"acme_{name}.py").write_text(text, encoding="utf-8")
    return folder


def ready(setting: Setting, row: Row, *paths: Path) -> None:
    """Make the environment of a row: what is installed here, and further folders.

    It bears the stamp of one that pip has made, so it is taken as it is.
    """
    place = setting.folder / row.key / "venv"
    venv.EnvBuilder(with_pip=False, symlinks=True).create(place)
    there = [ROOT, ROOT / "reference", *paths, sysconfig.get_path("purelib")]
    site = next(place.glob("lib/python*/site-packages"), place / "Lib" / "site-packages")
    (site / "here.pth").write_text("".join(f"{each}\n" for each in there), encoding="utf-8")
    (place / "made-of.json").write_text(setting.made_of(row), encoding="utf-8")
