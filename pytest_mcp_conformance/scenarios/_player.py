"""Playing one scenario against one wrapper: a fresh loop, a fresh server, and a verdict in any case."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import anyio

from pytest_mcp_conformance import clock as virtual
from pytest_mcp_conformance.adapters import bare_sdks, is_bare_sdk
from pytest_mcp_conformance.contract import (
    EXCUSES,
    Adapter,
    AdapterError,
    Judgement,
    NotSpoken,
    Played,
    Probe,
    Rule,
    Verdict,
    way_into,
)
from pytest_mcp_conformance.contract._adapter import place_of
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.contract.connections import CLOSE_ENDS_EVERYTHING_IT_OPENED
from pytest_mcp_conformance.history import Recorder, telling
from pytest_mcp_conformance.scenarios import claims as probes
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import Judge, NotClaimed, VerbFailed, current_judge
from pytest_mcp_conformance.scenarios._meeting import FIRST_MEETING, refusal
from pytest_mcp_conformance.scenarios._needs import missing_claims
from pytest_mcp_conformance.scenarios._scenario import Scenario
from pytest_mcp_conformance.scenarios._verbs import end_verbs, under_way
from pytest_mcp_conformance.server import NotReached, ScriptedServer
from pytest_mcp_conformance.server.ways.ways import Ways

__all__ = ["play"]

LONGEST = 20_000.0
"""Seconds of virtual time for a whole scenario: a heartbeat may hide a part that waits for ever."""

GRACE = 5.0
"""Real seconds in which a thread, a child or a socket of the wrapper's may keep its silence."""

SHORT_GRACE = 0.2
"""The same, for a wrapper that has let the whole of it pass once: a catalogue of such waits takes minutes."""

_grace: dict[Adapter, float] = {}


def play(
    scenario: Scenario,
    adapter: Adapter,
    *,
    era: str,
    way: str | None = None,
    variant: str = "",
    compare: bool = True,
) -> Played:
    """Play one scenario once, in a loop and against a server of its own.

    Args:
        scenario: What is played.
        adapter: Whom it is played against.
        era: `handshake` or `modern`.
        way: The way in: `memory`, `http`, `stdio` or `loopback`; by default the first that both know.
        variant: One of the scenario's variants.
        compare: Where a rule is broken, play the scenario against the bare SDK as well.

    Returns:
        A verdict for each rule of the scenario, whatever the wrapper did.
    """
    way = way_into(adapter, scenario.ways) if way is None else way
    played = Played(scenario.name, adapter.name, adapter.version, way, era, variant)
    try:
        legal, reason = refusal(adapter, era, way, _meet)
        if reason:
            return replace(played, judgements=_all(scenario.rules, legal, reason))
        if scenario.claim and adapter.claims.makes(scenario.claim) and scenario.claim not in EXCUSES:
            return played  # a promise is held to its rules
        if scenario.claim:
            return replace(played, probes=(_probe(scenario.claim, adapter, era, way),))
        unclaimed = _unclaimed(scenario.rules, adapter, era, way)
        if len(unclaimed) == len(scenario.rules):
            return replace(played, judgements=tuple(_not_claimed(*each) for each in unclaimed.items()))
        run = _run(scenario, adapter, era, way, variant, unclaimed)
    except AdapterError as wrong:
        return replace(played, adapter_error=_named(adapter, str(wrong)))
    judgements = run.judgements
    if compare and any(each.verdict is Verdict.BROKEN for each in judgements):
        judgements = _beside_the_sdk(judgements, scenario, adapter, era, way, variant)
    return replace(played, judgements=judgements, trouble=tuple(run.trouble))


def _named(adapter: Adapter, wrong: str) -> str:
    if wrong.startswith("adapter "):
        return wrong
    return f"adapter {adapter.name!r} at {place_of(adapter.play)}: {wrong}"


@dataclass
class _Run:
    """What one run of a scenario gave."""

    judgements: tuple[Judgement, ...] = ()
    trouble: list[str] = field(default_factory=list)
    failed: str = ""
    returned: Any = None


def _run(
    scenario: Scenario, adapter: Adapter, era: str, way: str, variant: str, unclaimed: dict[str, str]
) -> _Run:
    run = _Run()
    history = Recorder()
    judge = Judge(scenario.rules, history)
    left: list[str] = []
    loops: list[Any] = []
    for rule in scenario.rules:
        if rule.id in unclaimed:
            judge.not_claimed(rule, unclaimed[rule.id])

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loops.append(loop)
        history.keep_time(loop.time)
        current_judge.set(judge)
        under_way.set(set())
        server = ScriptedServer(era, history=history, way=way)
        ways = Ways(way)

        async def look_around() -> None:
            await end_verbs()
            await virtual.settle()
            left.extend([*_open(history, ways.idle()), *ways.left()])

        async with AsyncExitStack() as stack:
            stack.push_async_callback(ways.aclose)
            stack.push_async_callback(look_around)
            shared = (
                (await stack.enter_async_context(adapter.shared()),) if adapter.shared is not None else ()
            )
            connect = Connect(adapter, judge, scenario.rules, virtual.Clock(loop), shared, ways)
            stack.push_async_callback(connect.close_all)
            with anyio.move_on_after(LONGEST) as limit:
                run.returned = await scenario.play(server, connect, *([variant] if variant else []))
            if limit.cancelled_caught:
                raise NotReached(f"the scenario did not end within {LONGEST:g} s of virtual time")
        _gather_trouble(run, connect, history)

    try:
        virtual.run(main, grace=_grace.get(adapter, GRACE), name=scenario.name, leftovers=left)
    except NotClaimed as missing:
        for rule in scenario.rules:
            judge.not_claimed(rule, str(missing))
    except (NotReached, VerbFailed, NotSpoken, virtual.Stuck, virtual.NeverQuiet) as stopped:
        run.failed = str(stopped)
    except AdapterError:
        raise
    except (SystemExit, Exception) as raised:  # of a verb, or of a part that the wrapper handed out
        run.failed = f"the wrapper raised {describe(raised)}"
    if any(loop.waited_in_vain for loop in loops):
        _grace[adapter] = SHORT_GRACE
    if run.failed:
        judge.not_testable(run.failed)
    run.judgements = _with_what_was_left(judge.judgements(), left, history)
    return run


def _gather_trouble(run: _Run, connect: Connect, history: Recorder) -> None:
    dropped = any(event.kind == "closed" and "dropped" in event.text for event in history)
    for holder in connect.holders:
        run.trouble += holder.trouble
        if holder.death is not None and not dropped:
            run.trouble.append(f"the wrapper died: {describe(holder.death)}")


def _open(history: Recorder, idle: set[int]) -> list[str]:
    live: set[int] = set()
    for event in history:
        if event.kind == "opened":
            live.add(event.connection)
        elif event.kind == "closed":
            live.discard(event.connection)
    return [f"connection {number} is still open" for number in sorted(live - idle)]


def _with_what_was_left(
    judgements: tuple[Judgement, ...], left: Iterable[str], history: Recorder
) -> tuple[Judgement, ...]:
    """Whatever the scenario is about, what is left after close breaks the rule on closing."""
    rest = "; ".join(left)
    if not rest:
        return judgements
    leak = Judgement(
        CLOSE_ENDS_EVERYTHING_IT_OPENED.id,
        Verdict.BROKEN,
        f"left after close: {rest}",
        telling(history),
        hard=True,
    )
    return (*(each for each in judgements if each.rule != leak.rule), leak)


def _meet(adapter: Adapter, era: str, way: str) -> str:
    """What went wrong at the first meeting; empty when nothing did. Met once a process."""
    return _met(adapter, era, way)


@lru_cache(maxsize=256)
def _met(adapter: Adapter, era: str, way: str) -> str:
    return _run(FIRST_MEETING, adapter, era, way, "", {}).failed


@lru_cache(maxsize=4096)
def _probe(claim: str, adapter: Adapter, era: str, way: str) -> Probe:
    says = adapter.claims.makes(claim)
    run = _run(probes.BY_CLAIM[claim], adapter, era, way, "", {})
    wire, detail = (
        run.returned if run.returned is not None else (says, f"the probe said nothing: {run.failed}")
    )
    return Probe(claim, says, wire, detail)


def _unclaimed(rules: tuple[Rule, ...], adapter: Adapter, era: str, way: str) -> dict[str, str]:
    """The rules whose needs the adapter does not promise, each with what is missing.

    A promise that it does not make and that the wire shows all the same counts as made.
    """
    found: dict[str, str] = {}
    for rule in rules:
        shown: frozenset[str] = frozenset()
        missing = missing_claims(rule, adapter.claims, way)
        if missing:
            names = {name for need in missing.split(", ") for name in need.split(" or ")}
            shown = frozenset(n for n in names & probes.BY_CLAIM.keys() if _probe(n, adapter, era, way).wire)
            missing = missing_claims(rule, adapter.claims, way, shown)
        if missing:
            found[rule.id] = missing
    return found


def _beside_the_sdk(
    judgements: tuple[Judgement, ...], scenario: Scenario, adapter: Adapter, era: str, way: str, variant: str
) -> tuple[Judgement, ...]:
    """Say of each broken rule what the bare SDK does in the same scenario."""
    if is_bare_sdk(adapter):
        return tuple(
            replace(each, sdk="this is the SDK itself") if each.verdict is Verdict.BROKEN else each
            for each in judgements
        )
    there: dict[str, Verdict] = {}
    for bare in bare_sdks():
        alone = play(scenario, bare, era=era, way=way, variant=variant, compare=False)
        for each in alone.judgements:
            if there.get(each.rule) is not Verdict.BROKEN and each.verdict in _SAID:
                there[each.rule] = each.verdict
    return tuple(
        each
        if each.verdict is not Verdict.BROKEN
        else replace(
            each,
            sdk=f"mcp {bare.version} alone {_SAID.get(there.get(each.rule), 'makes no promise here')}",
            inherited=there.get(each.rule) is Verdict.BROKEN,
        )
        for each in judgements
    )


_SAID: dict[Verdict | None, str] = {
    Verdict.KEPT: "keeps this rule",
    Verdict.BROKEN: "breaks this rule too",
}


def _all(rules: tuple[Rule, ...], legal: bool, reason: str) -> tuple[Judgement, ...]:
    if legal:
        return tuple(_not_claimed(rule.id, reason) for rule in rules)
    return tuple(Judgement(rule.id, Verdict.NOT_TESTABLE, f"not testable: {reason}") for rule in rules)


def _not_claimed(rule: str, reason: str) -> Judgement:
    return Judgement(rule, Verdict.NOT_CLAIMED, reason)
