"""`matrix`: real wrappers, each installed and judged by itself, and the pages about them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from pytest_mcp_conformance.cli.progress import Progress
from pytest_mcp_conformance.contract import UsageError

__all__ = ["matrix"]

_INTERRUPTED = 130
_PAGES = Path("docs") / "matrix"


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--table", type=click.Path(), metavar="FILE", help="The table of wrappers; that of the kit.")
@click.option("--output", type=click.Path(), metavar="DIR", help="Where the pages go.")
@click.option(
    "--environments",
    type=click.Path(),
    default=".mcp-matrix",
    show_default=True,
    metavar="DIR",
    help="Where environments and results are kept.",
)
@click.option("--kit", default="", metavar="REQUIREMENT", help="What is installed as the kit; this one.")
@click.option("--python", default=sys.executable, metavar="PATH", help="The interpreter; this one.")
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="Wrappers at once."
)
@click.option(
    "--workers", type=click.IntRange(0), default=0, metavar="N", help="Processes that play one wrapper."
)
@click.option("--on", "specs", multiple=True, metavar="SPEC", help="A gateway of execnet; may be repeated.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    default=1800.0,
    show_default=True,
    metavar="SECONDS",
    help="What a wrapper may take.",
)
@click.option("--fresh", is_flag=True, help="Make and play everything anew.")
def matrix(
    names: tuple[str, ...],
    table: str | None,
    output: str | None,
    environments: str,
    kit: str,
    python: str,
    jobs: int,
    workers: int,
    specs: tuple[str, ...],
    time_limit: float,
    fresh: bool,
) -> None:
    """Judge the wrappers of a table, each in an environment of its own, and write the pages about them.

    A NAME is an adapter, a package, or an adapter with its version, as in acme-1.0; globs are taken. Without
    one all are judged. The exit code is 0 where each is as its known gaps say, and 1 where one is not.
    """
    with _told(), _terminated_as_interrupted():
        from pytest_mcp_conformance.matrix.judging import Setting, entries_of, judge
        from pytest_mcp_conformance.matrix.kit import kit_of
        from pytest_mcp_conformance.matrix.places import gateways, here
        from pytest_mcp_conformance.matrix.table import PACKAGED, Row, chosen, read_table

        _can_draw_pages()
        rows = read_table(Path(table) if table is not None else PACKAGED)
        picked = chosen(rows, names)
        setting = Setting(Path(environments), kit_of(kit), python, time_limit, workers)
        place = Path(output) if output is not None else _PAGES if _PAGES.is_dir() else Path("mcp-matrix")
        before = _before(place)
        now: dict[str, Mapping[str, Any]] = {}
        with (
            _alone_in(setting.folder),
            gateways(specs) if specs else _given(here(jobs)) as places,
            Progress(Console(), [row.key for row in picked]) as progress,
        ):

            def done(row: Row, entry: Mapping[str, Any]) -> None:
                now[row.key] = entry
                progress.done(row.key, entry)

            finished = judge(picked, setting, places, fresh=fresh, tell=progress.tell, done=done)
        _write(place, entries_of(rows, setting, now, before))
    if not finished:
        click.echo("interrupted; what was judged is kept", err=True)
        sys.exit(_INTERRUPTED)
    sys.exit(0 if all(entry["state"] == "judged" for entry in now.values()) else 1)


@contextmanager
def _told() -> Iterator[None]:
    """Turn what is wrong with the options or a file into one line, with the exit code of a usage error."""
    try:
        yield
    except UsageError as error:
        raise click.UsageError(str(error)) from None


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Whoever is told to end takes along what it has started, as with Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder of environments: each would make and play what the other one does."""
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise UsageError(
            f"--environments {folder}: another run is at work there; wait for it, or name another folder"
        ) from None


@contextmanager
def _given(places: Any) -> Iterator[Any]:
    yield places


def _can_draw_pages() -> None:
    try:
        import jinja2
    except ImportError:
        raise UsageError("the pages need jinja2: pip install 'pytest-mcp-conformance[matrix]'") from None
    assert jinja2


def _before(place: Path) -> Any:
    from pytest_mcp_conformance.matrix.document import entry_of, loaded

    told = loaded(place / "matrix.json")
    return lambda adapter, version: entry_of(told, adapter, version)


def _write(place: Path, entries: list[Mapping[str, Any]]) -> None:
    from pytest_mcp_conformance.matrix.document import document
    from pytest_mcp_conformance.matrix.pages import write

    try:
        for path in write(place, document(entries)):
            click.echo(f"wrote {path}")
    except OSError as error:
        raise click.ClickException(f"{place} cannot be written: {error.strerror or error}") from None
