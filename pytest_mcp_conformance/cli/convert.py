"""`mcp-conformance convert`: a history from what was traced."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_mcp_conformance.contract import UsageError

__all__ = ["convert"]


@click.command()
@click.argument("spans", type=click.Path(path_type=Path))
@click.option("--to", type=click.Path(path_type=Path), required=True, help="Write the history there.")
def convert(spans: Path, to: Path) -> None:
    """Make a history of SPANS, a file of OpenTelemetry spans as JSON."""
    from pytest_mcp_conformance.recording.otel import converted

    try:
        count = converted(spans, to)
    except UsageError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{to}: {error.strerror or error}; name another file with --to") from None
    click.echo(f"{count} entries written to {to}")
