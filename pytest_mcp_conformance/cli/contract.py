"""`rules` and `kills`: the contract for reading, and what the wrong wrappers prove."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pytest_mcp_conformance.contract import AREAS, Rule, UsageError, select_rules
from pytest_mcp_conformance.reports.text import source_of

__all__ = ["described", "kills", "rules"]


@click.command()
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
def rules(patterns: tuple[str, ...], as_json: bool) -> None:
    """Print the rules: all of them, or those that a PATTERN fits, as in CCH, DEF-13 or 'POOL-*'."""
    chosen = _chosen(patterns)
    if as_json:
        click.echo(json.dumps({"rules": [described(rule) for rule in chosen]}, indent=2))
        return
    console = Console(soft_wrap=False)
    for area, title in AREAS.items():
        of_area = [rule for rule in chosen if rule.area == area]
        if of_area:
            console.print(_table(f"{area}  {title}", of_area))


@click.command()
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
def kills(patterns: tuple[str, ...]) -> None:
    """Print, rule by rule, the wrong wrappers that its scenarios catch."""
    if not _wrong_wrappers():
        raise click.ClickException(
            "this installation has no record of wrong wrappers; install the kit from a release"
        )
    table = Table(title="Wrong wrappers caught", title_justify="left")
    for heading in ("rule", "scenarios", "caught", "wrong wrappers"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "rule")
    for rule in _chosen(patterns):
        caught = _wrong_wrappers().get(rule.id, [])
        if caught or not rule.untested:
            table.add_row(
                rule.id, str(len(_scenarios().get(rule.id, []))), str(len(caught)), ", ".join(caught)
            )
    Console().print(table)


def described(rule: Rule) -> dict[str, Any]:
    """A rule as `rules --json` prints it."""
    return {
        "id": rule.id,
        "level": rule.level.value,
        "source": rule.source.text,
        "text": rule.text,
        "needs": sorted(rule.needs),
        "core": rule.core,
        "untested": rule.untested,
        "scenarios": _scenarios().get(rule.id, []),
        "wrong_wrappers": _wrong_wrappers().get(rule.id, []),
    }


def _chosen(patterns: tuple[str, ...]) -> list[Rule]:
    try:
        return select_rules(patterns)
    except UsageError as error:
        raise click.UsageError(str(error).replace("--mcp-rule ", "")) from None


def _table(title: str, chosen: list[Rule]) -> Table:
    table = Table(title=title, title_justify="left", show_lines=True)
    table.add_column("rule", no_wrap=True)
    table.add_column("level", no_wrap=True)
    table.add_column("text", ratio=3)
    table.add_column("source, needs, scenarios", ratio=2)
    for rule in chosen:
        level = f"{rule.level}{' (kit)' if rule.ours else ''}"
        told = [source_of(rule)]
        if rule.needs:
            told.append(f"needs {', '.join(sorted(rule.needs))}")
        told.append(
            f"not tested: {rule.untested}" if rule.untested else ", ".join(_scenarios().get(rule.id, []))
        )
        name = Text(rule.id, style="bold" if rule.core else "")
        table.add_row(name, Text(level), Text(rule.text), Text("\n".join(filter(None, told))))
    return table


@lru_cache(maxsize=1)
def _scenarios() -> dict[str, list[str]]:
    """The names of the scenarios that judge each rule."""
    from pytest_mcp_conformance.scenarios import CATALOGUE

    found: dict[str, list[str]] = {}
    for scenario in CATALOGUE:
        for rule in scenario.rules:
            found.setdefault(rule.id, []).append(scenario.name)
    return found


@lru_cache(maxsize=1)
def _wrong_wrappers() -> dict[str, list[str]]:
    """The names of the wrong wrappers that each rule catches, as the kill matrix recorded them."""
    recorded = files("pytest_mcp_conformance.contract") / "wrong_wrappers.json"
    return dict(json.loads(recorded.read_text(encoding="utf-8"))) if recorded.is_file() else {}
