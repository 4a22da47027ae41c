"""The generated pages: what each says is derived from the contract, the catalogue and the wrong wrappers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pytest_mcp_conformance.contract import AREAS, RULES, Rule
from pytest_mcp_conformance.history import schema
from pytest_mcp_conformance.scenarios import CATALOGUE, Scenario
from tests.matrix import ROOT
from tests.wrong import WRONG

__all__ = [
    "REFERENCE",
    "coverage_page",
    "kill_matrix",
    "mutants_page",
    "rule_pages",
    "schema_of_histories",
    "written_kills",
]

REFERENCE = ROOT / "docs" / "reference"

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def rule_pages() -> dict[Path, str]:
    """The pages of the rules, by path: one an area, and their index."""
    pages = {}
    for letters, title in AREAS.items():
        rules = [rule for rule in RULES.values() if rule.area == letters]
        text = _templates.get_template("area.md").render(
            letters=letters, title=title, rules=rules, scenarios=_scenarios, wrong=_wrong
        )
        pages[REFERENCE / "rules" / f"{letters.lower()}.md"] = text
    areas = [
        (letters, title, [r for r in RULES.values() if r.area == letters]) for letters, title in AREAS.items()
    ]
    index = _templates.get_template("rules.md").render(areas=areas, rules=list(RULES.values()))
    pages[REFERENCE / "rules" / "index.md"] = index
    return pages


def kill_matrix(kills: Mapping[str, tuple[str, ...]]) -> str:
    """The page on which wrong wrapper breaks which rule."""
    rows = [(wrong, [rule for rule in kills[wrong.name] if rule != wrong.rule.id]) for wrong in WRONG]
    judged = [rule for rule in RULES.values() if not rule.untested]
    areas = [
        (
            letters,
            title,
            [rule for rule in RULES.values() if rule.area == letters],
            sum(wrong.rule.area == letters for wrong in WRONG),
        )
        for letters, title in AREAS.items()
    ]
    page = _templates.get_template("kill-matrix.md")
    return page.render(rows=rows, judged=judged, kills=kills, areas=areas)


def coverage_page(columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Scenario, Sequence[str]]]) -> str:
    """The page on the ways in: the columns are ways and eras, a row has a cell for each."""
    return _templates.get_template("coverage.md").render(columns=columns, rows=rows)


def mutants_page(tallies: Sequence[Any]) -> tuple[Path, str]:
    """The page on the mutants of the reference, and its path."""
    return REFERENCE / "mutants.md", _templates.get_template("mutants.md").render(tallies=tallies)


def schema_of_histories() -> tuple[Path, str]:
    """The JSON Schema of a history's lines, and its path."""
    return REFERENCE / "history.schema.json", json.dumps(schema(), indent=2) + "\n"


def written_kills(page: str) -> dict[str, tuple[str, ...]]:
    """What the page on wrong wrappers says: the rules that each breaks, by its name, sorted."""
    rows = [
        [cell.strip() for cell in row.split("|")[1:-1]] for row in page.splitlines() if row.startswith("| `")
    ]
    return {
        name.strip("`"): tuple(sorted(each for each in (own, *others.split(", ")) if each and each != "NO"))
        for name, _, own, others in rows
    }


def _scenarios(rule: Rule) -> list[Scenario]:
    return [scenario for scenario in CATALOGUE if rule in scenario.rules]


def _wrong(rule: Rule) -> list[str]:
    return [wrong.name for wrong in WRONG if wrong.rule is rule]
