"""Which wrong wrapper breaks which rule: every wrong wrapper played against the whole catalogue."""

from __future__ import annotations

import json
import logging
from functools import lru_cache
from pathlib import Path

from pytest_mcp_conformance.adapters.reference import WhiteBox
from pytest_mcp_conformance.contract import Played, Verdict
from pytest_mcp_conformance.scenarios import Scenario
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells
from tests.wrong import WRONG, Wrong

__all__ = ["ROOT", "broken_by", "packaged"]

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


@lru_cache(maxsize=1024)
def broken_by(wrong: Wrong) -> tuple[str, ...]:
    """The ids of the rules that a wrong wrapper breaks, in any scenario, sorted."""
    logging.getLogger("mcp_conformance_reference").setLevel(logging.CRITICAL)
    played: list[Played] = [
        play(scenario, wrong.adapter, era=era, variant=variant, compare=False)
        for scenario, era, variant in cells(wrong.adapter)
        if scenario.rules and _may_tell(wrong, scenario)
    ]
    return tuple(sorted({j.rule for each in played for j in each.judgements if j.verdict is Verdict.BROKEN}))


def packaged() -> str:
    """The names of the wrong wrappers by rule, as the package carries them."""
    names: dict[str, list[str]] = {}
    for wrong in WRONG:
        names.setdefault(wrong.rule.id, []).append(wrong.name)
    return json.dumps(names, indent=1) + "\n"
