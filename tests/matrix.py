"""Which wrong wrapper breaks which rule: every wrong wrapper played against the whole catalogue."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from pytest_mcp_conformance.adapters._reference import WhiteBox
from pytest_mcp_conformance.contract import Played, Verdict
from pytest_mcp_conformance.scenarios import CATALOGUE, Scenario
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells
from tests.unlogged import unlogged
from tests.wrong import WRONG, Wrong

__all__ = ["PACKAGED", "ROOT", "broken_by", "judging", "packaged", "sample"]

ROOT = Path(__file__).parents[1]
WHITE_BOX = frozenset(WhiteBox().verbs())
PACKAGED = ROOT / "pytest_mcp_conformance" / "contract" / "wrong_wrappers.json"


def _may_tell(wrong: Wrong, scenario: Scenario) -> bool:
    """False where a scenario cannot see what is wrong: the client and the parts beside it are apart."""
    looks_inside = [
        any(WHITE_BOX.intersection(need.split(" or ")) for need in rule.needs) for rule in scenario.rules
    ]
    apart = not any(looks_inside) if wrong.inside else all(looks_inside)
    return not apart or wrong.rule in scenario.rules


@unlogged()
def broken_by(wrong: Wrong, scenarios: Iterable[Scenario] = CATALOGUE) -> tuple[str, ...]:
    """The ids of the rules that a wrong wrapper breaks, in any of these scenarios, sorted."""
    told = tuple(scenario for scenario in scenarios if scenario.rules and _may_tell(wrong, scenario))
    played: list[Played] = [
        play(scenario, wrong.adapter, era=era, variant=variant, compare=False)
        for scenario, era, variant in cells(wrong.adapter, told)
    ]
    return tuple(sorted({j.rule for each in played for j in each.judgements if j.verdict is Verdict.BROKEN}))


def judging(wrong: Wrong) -> list[Scenario]:
    """What the page plays against a wrong wrapper.

    Whoever hands out a wrong part meets all that look inside. Of the scenarios that watch a client there are
    many, some of them over sockets and children: a wrong client meets those of its rule, and a sample.
    """
    return list(CATALOGUE) if wrong.inside else sample(wrong)


def sample(wrong: Wrong, one_in: int = 16) -> list[Scenario]:
    """The scenarios of the wrapper's own rule, and one in so many of the others: the same ones every time."""
    return [
        scenario
        for scenario in CATALOGUE
        if wrong.rule in scenario.rules or crc32(f"{wrong.name} {scenario.name}".encode()) % one_in == 0
    ]


def packaged() -> str:
    """The names of the wrong wrappers by rule, as the package carries them."""
    names: dict[str, list[str]] = {}
    for wrong in WRONG:
        names.setdefault(wrong.rule.id, []).append(wrong.name)
    return json.dumps(names, indent=1) + "\n"
