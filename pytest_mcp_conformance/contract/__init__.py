"""The contract: what a client wrapper owes its users, as data, and the words in which an adapter speaks.

One area, one module; one rule, one constant. `RULES` holds them all by id. Nothing here imports the rest of
the kit, so that a rule can be read, printed and counted without a server, a wrapper or pytest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Final

from . import (
    caching,
    calls,
    checks,
    connections,
    definitions,
    generations,
    keys,
    leases,
    ledger,
    marker,
    notices,
    pagination,
    pool,
    sharing,
    tenants,
    tools,
)
from ._adapter import Adapter, adapter
from ._claims import CLAIMS, ERAS, EXCUSES, WAYS, Claims
from ._dial import Clock, Dial
from ._errors import AdapterError, ConformanceError, NotSpoken, UsageError
from ._outcome import MISSING, Outcome, outcome_of
from ._rule import (
    BOTH,
    HANDSHAKE,
    KIT,
    MODERN,
    MUST,
    SHOULD,
    Level,
    Rule,
    Source,
    issue,
    python,
    sdk,
    seed,
    spec,
)
from ._tool import Tool, tool_of, tools_of
from ._verdict import Judgement, Played, Probe, Verdict, worst
from ._ways import GIVES, eras_over, way_into, ways_of
from ._wrapper import VERBS, Wrapper

__all__ = [
    "AREAS",
    "BOTH",
    "CLAIMS",
    "CLIENT_AREAS",
    "ERAS",
    "EXCUSES",
    "GIVES",
    "HANDSHAKE",
    "KIT",
    "MISSING",
    "MODERN",
    "MUST",
    "RULES",
    "SHOULD",
    "VERBS",
    "WAYS",
    "Adapter",
    "AdapterError",
    "Claims",
    "Clock",
    "ConformanceError",
    "Dial",
    "Judgement",
    "Level",
    "NotSpoken",
    "Outcome",
    "Played",
    "Probe",
    "Rule",
    "Source",
    "Tool",
    "UsageError",
    "Verdict",
    "Wrapper",
    "adapter",
    "collect_rules",
    "eras_over",
    "issue",
    "outcome_of",
    "python",
    "sdk",
    "seed",
    "select_rules",
    "spec",
    "tool_of",
    "tools_of",
    "way_into",
    "ways_of",
    "worst",
]

_NEEDS: Final = frozenset({*CLAIMS, *VERBS, "http", "stdio"})

_DECLARED: Final[dict[str, tuple[str, ModuleType]]] = {
    "CCH": ("Response caching", caching),
    "PAG": ("Pagination", pagination),
    "NTC": ("Notices and subscriptions", notices),
    "CHK": ("Output checks", checks),
    "CALL": ("Calls", calls),
    "CONN": ("Life of a connection", connections),
    "TEN": ("Tenants", tenants),
    "TOOL": ("Definitions handed out", tools),
    "LST": ("Listing generations", generations),
    "DEF": ("Definition lists", definitions),
    "SHR": ("Shared definitions", sharing),
    "MRK": ("Call marker", marker),
    "LDG": ("Request ledger", ledger),
    "POOL": ("Connection pool", pool),
    "KEY": ("Pool keys", keys),
    "OPN": ("Listings on a lease", leases),
}


def collect_rules(modules: Mapping[str, ModuleType]) -> dict[str, Rule]:
    """Gather the rules that area modules declare.

    Args:
        modules: Area letters to the module that declares the area's rules.

    Returns:
        The rules by id, in the order of the areas and of the numbers within each.

    Raises:
        ValueError: An id used twice, a rule declared in another area's module, or a need that is neither a
            claim nor a verb nor a way in; the message names the constants.
    """
    rules: dict[str, Rule] = {}
    places: dict[str, str] = {}
    for area, module in modules.items():
        declared = [(name, each) for name, each in vars(module).items() if isinstance(each, Rule)]
        for name, rule in sorted(declared, key=lambda pair: pair[1].number):
            place = f"{module.__name__}.{name}"
            if rule.id in rules:
                raise ValueError(
                    f"{rule.id} is declared twice, by {places[rule.id]} and by {place}: "
                    "numbers are never reused, give the newer rule the next free one"
                )
            if rule.area != area:
                raise ValueError(
                    f"{rule.id} is declared by {place}, where {area} lives: move it to its own area"
                )
            wanted = {word for need in rule.needs for word in need.split(" or ")}
            if unknown := sorted(wanted - _NEEDS):
                raise ValueError(
                    f"{rule.id}, declared by {place}, needs {', '.join(map(repr, unknown))}: "
                    "name claims, verbs, 'http' or 'stdio'"
                )
            rules[rule.id] = rule
            places[rule.id] = place
    return rules


AREAS: Final[dict[str, str]] = {letters: title for letters, (title, _) in _DECLARED.items()}
"""Each area's letters and its title, in the order of the catalogue."""

CLIENT_AREAS: Final = frozenset({"CCH", "PAG", "NTC", "CHK", "CALL", "CONN", "TEN", "TOOL"})
"""The areas that judge a client through its own verbs; the others look inside a part that it hands out."""

RULES: Final[dict[str, Rule]] = collect_rules({letters: module for letters, (_, module) in _DECLARED.items()})
"""Every rule by its id, in the order of the catalogue."""


def select_rules(patterns: Iterable[str]) -> list[Rule]:
    """The rules that the option `--mcp-rule` asks for.

    Args:
        patterns: Areas (`CCH`), ids (`CCH-13`) and globs over either (`CCH-1*`), in upper or lower case.
            Without any pattern all rules are selected.

    Returns:
        Each rule that any pattern fits, once, in the order of the catalogue.

    Raises:
        UsageError: A pattern that fits no rule.
    """
    asked = list(patterns)
    if not asked:
        return list(RULES.values())
    chosen: set[str] = set()
    for pattern in asked:
        wanted = pattern.strip().upper()
        fitting = {each.id for each in RULES.values() if _fits(each, wanted)}
        if not fitting:
            raise UsageError(_unknown(pattern))
        chosen |= fitting
    return [each for each in RULES.values() if each.id in chosen]


def _fits(rule: Rule, wanted: str) -> bool:
    return fnmatchcase(rule.id, wanted) or fnmatchcase(rule.area, wanted)


def _unknown(pattern: str) -> str:
    areas = ", ".join(AREAS)
    close = get_close_matches(pattern.strip().upper().rstrip("*?-"), [*AREAS, *RULES], n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"--mcp-rule {pattern!r} fits no rule; the areas are {areas}{hint}"
