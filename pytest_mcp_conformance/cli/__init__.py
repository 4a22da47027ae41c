"""The console script `mcp-conformance`: one file a command."""

from __future__ import annotations

import sys

import click

from pytest_mcp_conformance.cli.check import check
from pytest_mcp_conformance.cli.contract import kills, rules
from pytest_mcp_conformance.cli.convert import convert
from pytest_mcp_conformance.cli.diff import diff
from pytest_mcp_conformance.cli.matrix import matrix
from pytest_mcp_conformance.cli.record import record
from pytest_mcp_conformance.cli.reported import badge, summary
from pytest_mcp_conformance.cli.show import show

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pytest-mcp-conformance")
def main() -> None:
    """Conformance of MCP client wrappers. Wrappers are judged by `pytest --mcp-conformance`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a letter that the terminal lacks ends no command


for command in (badge, check, convert, diff, kills, matrix, record, rules, show, summary):
    main.add_command(command)
