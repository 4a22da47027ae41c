"""One run of one scenario: a fresh loop, a fresh server, and what they showed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio

from pytest_mcp_conformance import clock as virtual
from pytest_mcp_conformance.contract import Adapter, AdapterError, Judgement, NotSpoken, Verdict
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.elsewhere import loopback_only
from pytest_mcp_conformance.history import Event, Recorder
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import Judge, NotClaimed, VerbFailed, current_judge
from pytest_mcp_conformance.scenarios._refusals import Refusals
from pytest_mcp_conformance.scenarios._scenario import Scenario
from pytest_mcp_conformance.scenarios._verbs import end_verbs, under_way
from pytest_mcp_conformance.server import NotReached, ScriptedServer
from pytest_mcp_conformance.server.ways.ways import Ways

__all__ = ["GRACE", "Run", "run_once", "run_scenario", "silent"]

LONGEST = 20_000.0
"""Seconds of virtual time for a whole scenario: a heartbeat may hide a part that waits for ever."""

GRACE = 5.0
"""Real seconds in which a thread, a child or a socket of the wrapper's may keep its silence."""

SHORT_GRACE = 0.2
"""The same, for a wrapper that has let the whole of it pass once: a catalogue of such waits takes minutes.

What such a wrapper keeps, it keeps; whatever else is found in such haste is played again with time to spare.
"""

TO_END = 2.0
"""Virtual seconds after a play for what is about to end, as a child that is seen out by a timer."""

silent: set[Adapter] = set()
"""Who has let a whole grace pass."""


@dataclass
class Run:
    """What one run of a scenario gave."""

    history: Recorder = field(default_factory=Recorder)
    judgements: tuple[Judgement, ...] = ()
    left: list[str] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    clock: str = ""
    failed: str = ""
    returned: Any = None
    waited_in_vain: bool = False

    @property
    def is_good(self) -> bool:
        """Whether nothing was found that anybody could be accused of."""
        bad = any(each.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED) for each in self.judgements)
        return not (bad or self.failed or self.trouble or self.left)


def run_scenario(
    scenario: Scenario,
    adapter: Adapter,
    era: str,
    way: str,
    variant: str,
    unclaimed: dict[str, str],
    listener: Callable[[Event], None] | None = None,
) -> Run:
    """Play one scenario once: in haste where the wrapper has let a whole grace pass, unless that accuses it.

    Args:
        scenario: What is played.
        adapter: Whom it is played against.
        era: `handshake` or `modern`.
        way: The way in.
        variant: One of the scenario's variants; empty where it has none.
        unclaimed: The rules that are not judged, each with what is missing.
        listener: Told of each event.

    Raises:
        AdapterError: The adapter is written wrongly.
    """
    once = partial(run_once, scenario, adapter, era, way, variant, unclaimed)
    if adapter in silent:
        run = once(SHORT_GRACE)
        if run.is_good:
            if listener is not None:
                for event in run.history:
                    listener(event)
            return run
    run = once(GRACE, listener)
    if run.waited_in_vain:
        silent.add(adapter)
    return run


def run_once(
    scenario: Scenario,
    adapter: Adapter,
    era: str,
    way: str,
    variant: str,
    unclaimed: dict[str, str],
    grace: float,
    listener: Callable[[Event], None] | None = None,
) -> Run:
    """The same, with this `grace`: real seconds."""
    run = Run()
    history, left = run.history, run.left
    if listener is not None:
        history.tell(listener)
    refusals = Refusals(history)
    judge = Judge(scenario.rules, history)
    loops: list[Any] = []
    for rule in scenario.rules:
        if rule.id in unclaimed:
            judge.not_claimed(rule, unclaimed[rule.id])

    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        loops.append(loop)
        history.keep_time(loop.time)
        refusals.live_here()
        current_judge.set(judge)
        under_way.set(set())
        server = ScriptedServer(era, history=history, way=way)
        ways = Ways(way, _host_of(scenario.name, variant, era))

        async def look_around() -> None:
            await end_verbs()
            await virtual.settle()
            if (_open(history, ways.idle()) or ways.left()) and not loop.waited_in_vain:
                await asyncio.sleep(TO_END)
                await virtual.settle()
            still = _open(history, ways.idle())
            for number in still:
                history.record("outlived", connection=number, text=f"connection {number} is still open")
            left.extend([*(f"connection {number} is still open" for number in still), *ways.left()])

        async with AsyncExitStack() as stack:
            stack.push_async_callback(ways.aclose)
            stack.push_async_callback(look_around)
            shared: tuple[Any, ...] = ()
            if adapter.shared is not None:
                manager = adapter.shared()
                shared = (await manager.__aenter__(),)
                # it ends as an adapter does, without `try`: what the scenario raises is not thrown into it
                stack.push_async_callback(manager.__aexit__, None, None, None)
            connect = Connect(adapter, judge, scenario.rules, virtual.Clock(loop), shared, ways)
            stack.push_async_callback(connect.close_all)
            with anyio.move_on_after(LONGEST) as limit:
                run.returned = await scenario.play(server, connect, *([variant] if variant else []))
            if limit.cancelled_caught:
                raise NotReached(f"the scenario did not end within {LONGEST:g} s of virtual time")
        _gather_trouble(run, connect, history)

    try:
        with loopback_only(refusals.add):
            virtual.run(main, grace=grace, name=scenario.name, leftovers=left, patience=TO_END)
    except NotClaimed as missing:
        for rule in scenario.rules:
            judge.not_claimed(rule, str(missing))
    except (NotReached, VerbFailed, NotSpoken, virtual.Stuck, virtual.NeverQuiet) as stopped:
        run.failed = str(stopped)
    except AdapterError:
        raise
    except (SystemExit, Exception) as raised:  # of a verb, or of a part that the wrapper handed out
        run.failed = f"the wrapper raised {describe(raised)}"
    run.waited_in_vain = any(loop.waited_in_vain for loop in loops)
    if run.failed:
        judge.not_testable(run.failed)
    run.judgements = judge.judgements()
    run.trouble += refusals.told(leaky=bool(left))
    run.clock = "virtual" if all(loop.alone for loop in loops) else f"real, bounded by {grace:g} s"
    return run


def _gather_trouble(run: Run, connect: Connect, history: Recorder) -> None:
    lost = any(
        (event.kind == "closed" and event.how != "client")
        or (event.kind == "failed" and not event.message)  # an HTTP error in an answer's place
        for event in history
    )
    for holder in connect.holders:
        run.trouble += holder.trouble
        if holder.death is not None and not lost:  # what a loss may do has rules of its own
            run.trouble.append(f"the wrapper died: {describe(holder.death)}")


def _open(history: Recorder, idle: set[int]) -> list[int]:
    live: set[int] = set()
    for event in history:
        if event.kind == "opened":
            live.add(event.connection)
        elif event.kind == "closed":
            live.discard(event.connection)
    return sorted(live - idle)


def _host_of(*play: str) -> str:
    """A part of a host name that tells one play from another: what is cached by address is not met again."""
    return ".".join(re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in play if word)
