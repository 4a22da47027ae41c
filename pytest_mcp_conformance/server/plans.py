"""What a script has in store: what to do at the next few steps instead of what they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.server.faults import Fault

if TYPE_CHECKING:
    from pytest_mcp_conformance.server.connection import Connection

__all__ = ["Act", "Plans"]

Act = Callable[["Connection", Event], None]
Takes = Callable[[Event], bool]


@dataclass
class _Plan:
    step: str
    what: Act | Fault
    left: float
    takes: Takes


class Plans:
    """Acts and faults, each for a step and for a number of times; the oldest that fits comes first."""

    def __init__(self) -> None:
        self._plans: list[_Plan] = []

    def add(self, step: str, what: Act | Fault, times: float, takes: Takes) -> None:
        """Have one more in store, for a method or a step that is none.

        Raises:
            UsageError: `times` is less than one.
        """
        if times < 1:
            raise UsageError(f"times={times!r}: a step is played once or more; leave it out instead")
        self._plans.append(_Plan(step, what, times, takes))

    def meet(self, request: Event) -> Act | Fault | None:
        """What there is for a request, one time less of it."""
        return self._take(lambda plan: plan.step == request.method and plan.takes(request))

    def at(self, step: str) -> Fault | None:
        """What there is for a step that is no request, one time less of it."""
        found = self._take(lambda plan: plan.step == step)
        return found if isinstance(found, Fault) else None

    def clear(self) -> None:
        """Have nothing in store any more."""
        self._plans.clear()

    def _take(self, fits: Callable[[_Plan], bool]) -> Act | Fault | None:
        plan = next((each for each in self._plans if fits(each)), None)
        if plan is None:
            return None
        plan.left -= 1
        if plan.left <= 0:
            self._plans.remove(plan)
        return plan.what
