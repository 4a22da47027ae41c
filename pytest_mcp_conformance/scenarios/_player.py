"""Playing one scenario against one wrapper: a fresh loop, a fresh server, and a verdict in any case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib.metadata import version

from pytest_mcp_conformance.adapters import bare_sdks, is_bare_sdk
from pytest_mcp_conformance.contract import (
    EXCUSES,
    Adapter,
    AdapterError,
    Judgement,
    Played,
    Probe,
    Rule,
    Verdict,
    way_into,
)
from pytest_mcp_conformance.contract._adapter import place_of
from pytest_mcp_conformance.contract._claims import IN_SECONDS
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.history.redacting import Secrets
from pytest_mcp_conformance.scenarios import claims as probes
from pytest_mcp_conformance.scenarios._drawing import drawn
from pytest_mcp_conformance.scenarios._leaks import watched, with_what_was_left
from pytest_mcp_conformance.scenarios._meeting import FIRST_MEETING, refusal
from pytest_mcp_conformance.scenarios._needs import missing_claims
from pytest_mcp_conformance.scenarios._run import GRACE, run_once, run_scenario, silent
from pytest_mcp_conformance.scenarios._scenario import Scenario

__all__ = ["play"]


def play(
    scenario: Scenario,
    adapter: Adapter,
    *,
    era: str,
    way: str | None = None,
    variant: str = "",
    compare: bool = True,
    listener: Callable[[Event], None] | None = None,
) -> Played:
    """Play one scenario once, in a loop and against a server of its own.

    Args:
        scenario: What is played.
        adapter: Whom it is played against.
        era: `handshake` or `modern`.
        way: The way in: `memory`, `http`, `stdio`, `loopback` or `sse`; by default the first that both know.
        variant: One of the scenario's variants.
        compare: Where a rule is broken, play the scenario against the bare SDK as well.
        listener: Told of each event as it happens, of this scenario and of no probe or comparison.

    Returns:
        A verdict for each rule of the scenario, whatever the wrapper did.
    """
    way = way_into(adapter, scenario.ways, era) if way is None else way
    played = Played(scenario.name, adapter.name, adapter.version, way, era, variant)
    try:
        legal, reason = refusal(adapter, era, way, _meet)
        if reason:
            return replace(played, judgements=_all(scenario.rules, legal, reason))
        if scenario.claim and adapter.claims.makes(scenario.claim) and scenario.claim not in EXCUSES:
            return played  # a promise is held to its rules
        if scenario.claim:
            return replace(played, probes=(_probe(scenario.claim, adapter, era, way),))
        unclaimed = _out_of_reach(scenario, way) or _unclaimed(scenario.rules, adapter, era, way)
        if len(unclaimed) == len(scenario.rules):
            return replace(played, judgements=tuple(_not_claimed(*each) for each in unclaimed.items()))
        once = partial(run_scenario, scenario, adapter, era, way, variant, unclaimed)
        run, left = watched(adapter, partial(once, listener), once)
    except AdapterError as wrong:
        return replace(played, adapter_error=Secrets().out_of(_named(adapter, str(wrong))))
    judgements = with_what_was_left(run.judgements, [*run.left, *left], run.history)
    judgements = drawn(judgements, run.history, adapter, era)
    if compare and any(each.verdict is Verdict.BROKEN for each in judgements):
        judgements = _beside_the_sdk(judgements, scenario, adapter, era, way, variant)
    untold = Secrets(run.history).out_of
    return replace(
        played,
        judgements=tuple(_without(untold, each) for each in judgements),
        trouble=tuple(untold(line) for line in run.trouble),
        clock=run.clock,
    )


def _without(untold: Callable[[str], str], judgement: Judgement) -> Judgement:
    return replace(
        judgement,
        detail=untold(judgement.detail),
        history=tuple(map(untold, judgement.history)),
        drawing=tuple(map(untold, judgement.drawing)),
    )


def _named(adapter: Adapter, wrong: str) -> str:
    if wrong.startswith("adapter "):
        return wrong
    return f"adapter {adapter.name!r} at {place_of(adapter.play)}: {wrong}"


def _meet(adapter: Adapter, era: str, way: str) -> str:
    """What went wrong at the first meeting; empty when nothing did. Met once a process."""
    return _met(adapter, era, way)


@lru_cache(maxsize=256)
def _met(adapter: Adapter, era: str, way: str) -> str:
    return run_scenario(FIRST_MEETING, adapter, era, way, "", {}).failed


@lru_cache(maxsize=4096)
def _probe(claim: str, adapter: Adapter, era: str, way: str) -> Probe:
    says = adapter.claims.makes(claim)
    run = run_scenario(probes.BY_CLAIM[claim], adapter, era, way, "", {})
    if adapter in silent and run.returned is not None and run.returned[0] != says:
        run = run_once(probes.BY_CLAIM[claim], adapter, era, way, "", {}, GRACE)
    wire, detail = (
        run.returned if run.returned is not None else (says, f"the probe said nothing: {run.failed}")
    )
    return Probe(claim, says, wire, Secrets(run.history).out_of(detail))


def _out_of_reach(scenario: Scenario, way: str) -> dict[str, str]:
    """The rules of a scenario that is closed to the one way in that there is; none where it is open to it.

    What looks inside is handed streams over memory, whatever the wrapper's own way in.
    """
    if way in scenario.ways or "memory" in scenario.ways:
        return {}
    return dict.fromkeys((rule.id for rule in scenario.rules), " or ".join(sorted(scenario.ways)))


def _unclaimed(rules: tuple[Rule, ...], adapter: Adapter, era: str, way: str) -> dict[str, str]:
    """The rules whose needs the adapter does not promise, each with what is missing.

    A promise that it does not make and that the wire shows all the same counts as made, but for those that
    are a number of seconds: which one, nobody has said.
    """
    found: dict[str, str] = {}
    for rule in rules:
        shown: frozenset[str] = frozenset()
        missing = missing_claims(rule, adapter.claims, way)
        if missing:
            names = {name for need in missing.split(", ") for name in need.split(" or ")}
            judged = (names & probes.BY_CLAIM.keys()) - IN_SECONDS
            shown = frozenset(name for name in judged if _probe(name, adapter, era, way).wire)
            missing = missing_claims(rule, adapter.claims, way, shown)
        if missing:
            found[rule.id] = missing
    return found


def _beside_the_sdk(
    judgements: tuple[Judgement, ...], scenario: Scenario, adapter: Adapter, era: str, way: str, variant: str
) -> tuple[Judgement, ...]:
    """Say of each broken rule what the bare SDK does there: without a limit where the wrapper has none."""
    if is_bare_sdk(adapter):
        return tuple(
            replace(each, sdk="this is the SDK itself") if each.verdict is Verdict.BROKEN else each
            for each in judgements
        )
    said: dict[str, dict[str, Judgement]] = {}
    for bare in bare_sdks(limited=adapter.claims.makes("own_timeout")):
        alone = play(scenario, bare, era=era, way=way, variant=variant, compare=False)
        for each in alone.judgements:
            said.setdefault(each.rule, {})[bare.name] = each
    return tuple(_compared(each, said.get(each.rule, {})) for each in judgements)


def _compared(judgement: Judgement, alone: Mapping[str, Judgement]) -> Judgement:
    if judgement.verdict is not Verdict.BROKEN:
        return judgement
    return replace(judgement, sdk=_told(judgement, alone), inherited=_same(judgement, alone))


def _same(judgement: Judgement, alone: Mapping[str, Judgement]) -> bool:
    """Whether a bare SDK breaks the rule at the same place of the scenario."""
    return any(each.verdict is Verdict.BROKEN and each.place == judgement.place for each in alone.values())


def _told(judgement: Judgement, alone: Mapping[str, Judgement]) -> str:
    """What the bare SDKs do, by their names where they differ."""
    words = {name: _SAID[each.verdict] for name, each in alone.items() if each.verdict in _SAID}
    if not words:
        return f"mcp {version('mcp')} alone makes no promise here"
    if any(each.verdict is Verdict.BROKEN for each in alone.values()) and not _same(judgement, alone):
        words = {name: said.replace("too", "at another point") for name, said in words.items()}
    if len(set(words.values())) == 1:
        return f"mcp {version('mcp')} alone {next(iter(words.values()))}"
    return f"mcp {version('mcp')} alone: " + ", ".join(f"{name} {said}" for name, said in words.items())


_SAID = {
    Verdict.KEPT: "keeps this rule",
    Verdict.BROKEN: "breaks this rule too",
}


def _all(rules: tuple[Rule, ...], legal: bool, reason: str) -> tuple[Judgement, ...]:
    if legal:
        return tuple(_not_claimed(rule.id, reason) for rule in rules)
    return tuple(Judgement(rule.id, Verdict.NOT_TESTABLE, f"not testable: {reason}") for rule in rules)


def _not_claimed(rule: str, reason: str) -> Judgement:
    return Judgement(rule, Verdict.NOT_CLAIMED, reason)
