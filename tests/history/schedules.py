"""Random schedules: a wrapper and a script are driven through whatever may happen, in an order of luck.

The luck is that of a seed, and a schedule of one seed is the same every time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any
from unittest.mock import patch

from pytest_mcp_conformance.contract import RULES, Adapter
from pytest_mcp_conformance.history import Entry, Event, Finding, check
from pytest_mcp_conformance.scenarios import _verbs
from pytest_mcp_conformance.scenarios._run import GRACE, run_once
from pytest_mcp_conformance.scenarios._scenario import Scenario
from pytest_mcp_conformance.server import ScriptedServer
from tests.history.doing import Users
from tests.history.judged import condensed, header_of
from tests.history.truth import of_the_wire
from tests.history.turns import TURNS
from tests.history.users import User
from tests.unlogged import unlogged

__all__ = ["Shown", "play_schedule"]

STEPS = (8, 26)


@dataclass(frozen=True)
class Shown:
    """One schedule.

    Attributes:
        findings: What the checker says.
        showed: Which faults showed, as the schedule itself knows.
        entries: The history.
        trouble: What kept the schedule from its end.
    """

    findings: tuple[Finding, ...]
    showed: Counter[str]
    entries: tuple[Entry, ...]
    trouble: str


@unlogged()
def play_schedule(seed: int, adapter: Adapter, era: str) -> Shown:
    """Play the schedule of one seed, and check its history."""
    events: list[Event] = []
    schedule = Schedule(Random(f"{seed} {era}"))
    scenario = Scenario("schedule", (RULES["CALL-1"],), schedule.play, "", frozenset({era}))
    with patch.object(_verbs, "_in_a_thread", _at_once):
        run = run_once(scenario, adapter, era, "memory", "", {}, GRACE, events.append)
    entries = condensed(events)
    showed = schedule.showed + of_the_wire(events, schedule.handed)
    if any("still open" in each for each in run.left):
        showed["left"] += 1
    trouble = "" if "ended without a word" in run.judgements[0].detail else run.judgements[0].detail
    return Shown(tuple(check(entries, header_of(adapter, era))), showed, entries, trouble)


async def _at_once(verb: Callable[..., Any], *arguments: Any) -> Any:
    """A plain verb of these wrappers waits for nothing, and starting a thread takes longer than it does."""
    return verb(*arguments)


class Schedule(Users):
    """One schedule."""

    async def play(self, server: ScriptedServer, connect: Any) -> None:
        """Play it."""
        self.server = server
        luck = self.luck
        principals: list[str | None] = luck.choice([[None], [None], [None], ["ann", "ben"]])
        for principal in principals:
            self.change(principal)
        for principal in principals:
            self._users.append(User(await connect.attempt(server, principal), principal))
        with self._stack:
            if luck.random() < 0.6:
                await luck.choice(TURNS)(self, luck.choice(self._users))
            for _ in range(luck.randint(*STEPS)):
                if luck.random() < 0.3:
                    await server.settle()
                await self._act(luck.choice(self._users))
            for gate in self._gates:
                gate.open()
                gate.release_all()
            for user in self._users:
                for pending in user.under_way:
                    await pending.ended()
                await self.list(user)
                await server.settle()
                await self.list(user)
        await server.settle()
        for user in self._users:
            await user.holder.close()
            self.showed += user.truth.showed

    async def _act(self, user: User) -> None:
        acts: list[tuple[int, Any]] = [
            (9, self.list),
            (4, self.start_listing),
            (5, self.call),
            (3, self.start_call),
            (2, self.twins),
            (8, self.change_and_say),
            (3, self.change_quietly),
            (3, self.hold),
            (5, self.release),
            (3, self.pass_time),
            (3, self.settle),
            (3, self.invalidate),
            (2, self.refresh),
            (2, self.reconnect),
            (2, self.chatter),
            (1, self.give_up),
            *((2, partial(turn, self)) for turn in TURNS),
        ]
        if not self._gentle:
            acts += [(2, self.fail_a_listing), (2, self.fail_a_call), (2, self.drop)]
        weights = [weight for weight, _ in acts]
        await self.luck.choices([act for _, act in acts], weights)[0](user)
