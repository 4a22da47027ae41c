"""`badge` and `summary`: what a report says, for a README and for the page of a CI job."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.reports.badge import LABEL, badge_of
from pytest_mcp_conformance.reports.reading import Report, read_report
from pytest_mcp_conformance.reports.summary import summary_of

__all__ = ["badge", "summary"]


@click.command()
@click.argument("report", type=click.Path(path_type=Path))
@click.option("--label", default=LABEL, show_default=True, help="The words on the left.")
def badge(report: Path, label: str) -> None:
    """Print the badge of REPORT, as the endpoint badges of shields.io read it."""
    click.echo(json.dumps(badge_of(_read(report), label)))


@click.command()
@click.argument("reports", nargs=-1, required=True, type=click.Path(path_type=Path))
def summary(reports: tuple[Path, ...]) -> None:
    """Print REPORTS as Markdown, for $GITHUB_STEP_SUMMARY."""
    for read in [_read(report) for report in reports]:
        click.echo(summary_of(read))


def _read(path: Path) -> Report:
    try:
        return read_report(path)
    except UsageError as error:
        raise click.ClickException(str(error)) from None
