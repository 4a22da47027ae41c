"""The examples of the reference's README run as they stand there."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from pytest_mcp_conformance.clock import run
from pytest_mcp_conformance.server import ScriptedServer, tool

README = Path(__file__).parents[2] / "reference" / "README.md"
EXAMPLES = re.findall(
    r"^### (.+?)$.+?<!-- run -->\n```python\n(.+?)```", README.read_text(encoding="utf-8"), re.M | re.S
)


def test_each_part_has_an_example():
    assert len(EXAMPLES) == README.read_text(encoding="utf-8").count("\n### ")


@pytest.mark.parametrize(("part", "code"), EXAMPLES, ids=[part for part, _ in EXAMPLES])
def test_the_example_runs_as_it_stands(part, code):
    server = ScriptedServer()
    server.has_tools(tool("a", "integer"))
    names = {"streams": server.dial().streams}
    exec(compile(f"async def example():\n{textwrap.indent(code, '    ')}", f"README: {part}", "exec"), names)
    run(names["example"])
    assert server.ledger.frames()
    assert server.ledger.open_connections() == []
