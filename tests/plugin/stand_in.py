"""A pytest plugin that puts a small catalogue in the place of the real one.

The tests of this folder are about the plugin: what it does with verdicts, not how they are reached. An
adapter says in its version what is to come out: `@adapter("acme", version="CCH-13=broken NTC-1=unknown")`;
what it does not name is kept. Beside rules it knows `trouble`, `silent`, `exit`, `interrupt`, `error`,
`real@ERA` and `claim:NAME=yes|no`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest

from pytest_mcp_conformance.contract import (
    BOTH,
    HANDSHAKE,
    MODERN,
    RULES,
    Adapter,
    Judgement,
    Played,
    Probe,
    Verdict,
)
from pytest_mcp_conformance.history.event import Event

REALLY = "real, bounded by 5 s"
REAL = "pytest_mcp_conformance.scenarios"
if REAL not in sys.modules:
    # A process of its own needs nothing of the real catalogue, which imports the SDK.
    package, player = ModuleType(REAL), ModuleType(f"{REAL}._player")
    package.__path__ = find_spec(REAL).submodule_search_locations
    sys.modules |= {REAL: package, player.__name__: player}
    package._player, package.CATALOGUE, player.play = player, (), None

scenarios, _player = import_module(REAL), import_module(f"{REAL}._player")
Scenario = import_module(f"{REAL}._scenario").Scenario


async def nothing(server: object, connect: object) -> None:
    """Scenarios of this catalogue are not really played."""


def stand_in(
    name: str, *rules: str, eras: frozenset[str] = BOTH, variants: tuple[str, ...] = ("",), claim: str = ""
) -> Any:
    return Scenario(
        name, tuple(RULES[rule] for rule in rules), nothing, f"About {name}.", eras, variants, claim
    )


CATALOGUE = (
    stand_in("probe_caches_listings", claim="caches_listings"),
    stand_in("overtaken_listing", "CCH-13"),
    stand_in("two_listings", "CCH-13", "CCH-15", eras=HANDSHAKE),
    stand_in("list_changed", "NTC-1", variants=("while_idle", "while_listing")),
    stand_in("one_request_a_call", "CALL-1", eras=MODERN),
    stand_in("weak_promise", "TOOL-2", eras=HANDSHAKE),
)
"""CCH-13 is judged by three items of a wrapper that speaks both eras, NTC-1 by four, the others by one."""


def play(
    scenario: Any,
    adapter: Adapter,
    *,
    era: str,
    way: str = "memory",
    variant: str = "",
    listener: Any = None,
) -> Played:
    said = dict(word.partition("=")[::2] for word in adapter.version.split())
    if listener is not None and "silent" not in said:
        listener(Event(1, 0.0, "opened", connection=1))
    played = Played(scenario.name, adapter.name, "1.0", way, era, variant, clock=_clock(adapter, era))
    if "exit" in said and said["exit"] in ("", scenario.name):
        os._exit(3)
    if "interrupt" in said and said["interrupt"] == scenario.name:
        raise KeyboardInterrupt
    if "error" in said:
        return replace(played, adapter_error=f"adapter {adapter.name!r}: yields twice; write one 'yield'")
    if "trouble" in said:
        played = replace(played, trouble=("task 'poller' is still running",))
    if scenario.claim:
        says = adapter.claims.makes(scenario.claim)
        wire = {"yes": True, "no": False}.get(said.get(f"claim:{scenario.claim}", ""), says)
        return replace(played, probes=(Probe(scenario.claim, says, wire, "two listings, one frame"),))
    verdicts = {rule.id: _verdict(said, rule.id, era) for rule in scenario.rules}
    return replace(played, judgements=tuple(_judgement(rule, verdict) for rule, verdict in verdicts.items()))


def _clock(adapter: Adapter, era: str) -> str:
    """Virtual, but for the modern era of an adapter that says so."""
    return REALLY if f"real@{era}" in adapter.version.split() else "virtual"


def _verdict(said: dict[str, str], rule: str, era: str) -> Verdict:
    return Verdict(said.get(f"{rule}@{era}", said.get(rule, "kept")))


def _judgement(rule: str, verdict: Verdict) -> Judgement:
    if verdict is Verdict.BROKEN:
        history = ("#3 asked tools/list", "#5 list_changed", "#7 served ['old']\x1b[31m")
        return Judgement(
            rule, verdict, "assert ['old'] == ['new']", history, "mcp 2.3.0 alone keeps this rule"
        )
    if verdict is Verdict.NOT_CLAIMED:
        return Judgement(rule, verdict, "refresh or invalidate")
    return Judgement(rule, verdict, "" if verdict is Verdict.KEPT else "nothing reached the wire")


KEPT = pytest.StashKey[tuple[Any, Any]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[KEPT] = (scenarios.CATALOGUE, _player.play)
    scenarios.CATALOGUE, _player.play = CATALOGUE, play


def pytest_unconfigure(config: pytest.Config) -> None:
    # A run that was refused before this plugin was configured has nothing to put back.
    scenarios.CATALOGUE, _player.play = config.stash.get(KEPT, (scenarios.CATALOGUE, _player.play))
