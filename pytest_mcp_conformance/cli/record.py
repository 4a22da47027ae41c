"""`mcp-conformance record`: a recorder between any client and any server."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from time import strftime

import click

from pytest_mcp_conformance.contract import ConformanceError
from pytest_mcp_conformance.recording import Record, record_stdio

__all__ = ["record"]

_SUFFIX = ".history.jsonl"


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@click.option(
    "--to",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="FILE",
    help="Write the history there. In a folder, a name without a suffix, each run has a file of its own; "
    "by default in this one.",
)
@click.option("--url", help="Record what is said to the MCP server at this address, over HTTP.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Listen for the client on this port of 127.0.0.1, with --url; 0 for any that is free.",
)
def record(command: tuple[str, ...], to: Path, url: str | None, port: int | None) -> None:
    """Record a history between any client and any server.

    Have the client start `mcp-conformance record -- COMMAND` where it starts COMMAND now. Or run
    `mcp-conformance record --url URL --port N`, and have it connect to that port.
    """
    if bool(command) == (url is not None):
        raise click.UsageError("give the server's command after --, or its address as --url")
    if (url is None) != (port is None):
        raise click.UsageError("--url and --port belong together")
    if url is not None and port is not None:
        _record_http(url, port, to)
    else:
        _record_stdio(command, to)


def _record_stdio(command: tuple[str, ...], to: Path) -> None:
    recorded = _opened(to, f"stdio: {os.path.basename(command[0])}")
    try:
        code = record_stdio(command, recorded)
    except ConformanceError as error:
        recorded.close()
        raise click.ClickException(str(error)) from None
    _say_what_is_wrong(recorded)
    sys.stderr.flush()
    if code < 0 and sys.platform != "win32":
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 1)  # a thread still waits for the client


def _record_http(url: str, port: int, to: Path) -> None:
    from pytest_mcp_conformance.recording.http import HttpRecorder
    from pytest_mcp_conformance.recording.upstream import upstream_of

    try:
        upstream = upstream_of(url)
        recorded = _opened(to, f"http: {upstream.host}")
        HttpRecorder(upstream, recorded).serve(
            port, lambda own: click.echo(f"{own} is recorded to {recorded.path}; Ctrl-C ends it")
        )
    except ConformanceError as error:
        raise click.ClickException(str(error)) from None
    _say_what_is_wrong(recorded)


def _opened(to: Path, name: str) -> Record:
    path = to
    try:
        if to.is_dir() or not (to.suffix or to.exists()):
            to.mkdir(exist_ok=True)
            path = to / f"{strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{_SUFFIX}"
        return Record(path, name)
    except OSError as error:
        raise click.ClickException(
            f"{path}: {error.strerror or error}; name another file with --to"
        ) from None


def _say_what_is_wrong(recorded: Record) -> None:
    if recorded.trouble:
        click.echo(f"{recorded.path} is not whole: {recorded.trouble}", err=True)
