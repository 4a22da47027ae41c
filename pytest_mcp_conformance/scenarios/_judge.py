"""How a scenario states what it saw: `check` a rule, `leave_out` a rule, or find that nothing can be said."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from pytest_mcp_conformance.contract import ConformanceError, Judgement, Rule, Verdict
from pytest_mcp_conformance.history import Recorder, telling
from pytest_mcp_conformance.server import NotReached

__all__ = ["Judge", "NotClaimed", "VerbFailed", "check", "current_judge", "leave_out", "reached"]


class NotClaimed(ConformanceError):
    """The adapter lacks a verb or claim that the scenario needs; the message is its name."""


class VerbFailed(ConformanceError):
    """A verb raised, or did not end, where the scenario needs its result."""


class Judge:
    """Gathers the verdicts of one scenario.

    Args:
        rules: The rules that the scenario judges.
        history: The scenario's history, quoted where a rule is broken.
    """

    def __init__(self, rules: tuple[Rule, ...], history: Recorder) -> None:
        self._rules = rules
        self._history = history
        self._said: dict[str, Judgement] = {}

    def broken(self, rule: Rule, detail: str, place: str = "") -> None:
        """State that `rule` is broken; the first detail stands."""
        if self._verdict(rule) is not Verdict.BROKEN:
            told = telling(self._history)
            self._said[rule.id] = Judgement(rule.id, Verdict.BROKEN, detail, told, place=place)

    def kept(self, rule: Rule) -> None:
        """State that `rule` was seen kept, unless it was seen broken."""
        if self._verdict(rule) in (None, Verdict.NOT_CLAIMED):
            self._said[rule.id] = Judgement(rule.id, Verdict.KEPT)

    def leaves_out(self, rule: Rule) -> bool:
        """True where nothing is promised, and nothing else was said of `rule`."""
        return self._verdict(rule) is Verdict.NOT_CLAIMED

    def not_claimed(self, rule: Rule, reason: str) -> None:
        """State that nothing is promised, unless something was seen."""
        if self._verdict(rule) is None:
            self._said[rule.id] = Judgement(rule.id, Verdict.NOT_CLAIMED, reason)

    def not_testable(self, reason: str) -> None:
        """State that the scenario could not be played to its end: what is not broken is not testable."""
        for rule in self._rules:
            if self.is_open(rule):
                detail = f"not testable: {reason}"
                self._said[rule.id] = Judgement(rule.id, Verdict.NOT_TESTABLE, detail, telling(self._history))

    def is_open(self, rule: Rule) -> bool:
        """True while nothing was said of `rule`, or only that it was seen kept."""
        return self._verdict(rule) in (None, Verdict.KEPT)

    def any_open(self) -> bool:
        """True while some rule may still be judged."""
        return any(self.is_open(rule) for rule in self._rules)

    def judgements(self) -> tuple[Judgement, ...]:
        """One judgement for each rule; a rule of which nothing was said is not testable."""
        for rule in self._rules:
            if rule.id not in self._said:
                reason = "not testable: the scenario ended without a word on this rule"
                self._said[rule.id] = Judgement(rule.id, Verdict.NOT_TESTABLE, reason, telling(self._history))
        return tuple(self._said[rule.id] for rule in self._rules)

    def _verdict(self, rule: Rule) -> Verdict | None:
        said = self._said.get(rule.id)
        return None if said is None else said.verdict


current_judge: ContextVar[Judge] = ContextVar("current_judge")


@contextmanager
def check(rule: Rule) -> Iterator[None]:
    """State a verdict on `rule`: the block's assertions hold, or the rule is broken.

    A verb that fails inside the block, or a wait in vain, breaks the rule as well. After a broken rule the
    scenario goes on.
    """
    judge = current_judge.get()
    judged = judge.is_open(rule)
    try:
        yield
    except AssertionError as failed:
        if judged:
            judge.broken(rule, _first_part(str(failed)), _place_of(failed))
    except (VerbFailed, NotReached) as failed:
        if judged:
            judge.broken(rule, str(failed), _place_of(failed))
    except NotClaimed as missing:
        judge.not_claimed(rule, str(missing))
    else:
        if judged:
            judge.kept(rule)


def leave_out(rule: Rule, reason: str) -> None:
    """Say that the wrapper avoids, in a legal way, what `rule` is about: it is not judged here."""
    current_judge.get().not_claimed(rule, reason)


def reached(condition: object, what: str) -> None:
    """Say that the scenario reached the point that it must reach.

    Raises:
        NotReached: It did not; the rules not judged yet are not testable.
    """
    if not condition:
        raise NotReached(f"not exercised: {what}")


def _place_of(failed: BaseException) -> str:
    """The line of the checked block in which it failed."""
    frames = traceback.extract_tb(failed.__traceback__)
    checked = [each for each in frames if each.filename != __file__]
    return f"{Path(checked[0].filename).name}:{checked[0].lineno}" if checked else ""


def _first_part(text: str) -> str:
    """An assertion's own lines, without pytest's longer explanation."""
    lines = text.strip().splitlines()
    end = next((i for i, line in enumerate(lines) if i and not line.strip()), len(lines))
    return "\n".join(line for line in lines[:end] if line.strip()) or "assertion failed"
