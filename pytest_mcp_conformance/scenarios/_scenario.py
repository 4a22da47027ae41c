"""What a scenario is, and how it states a verdict on a rule."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from pytest_mcp_conformance.contract import BOTH, Rule

__all__ = ["Scenario", "scenario"]

Play = Callable[..., Coroutine[Any, Any, Any]]


@dataclass(frozen=True)
class Scenario:
    """One scripted conversation.

    Attributes:
        name: The function's name.
        rules: The rules it judges.
        play: `async def (server, connect)`, and `variant` where there are variants.
        doc: What happens, for the reader of a failure.
        eras: The eras in which it is played.
        variants: The names of its variants; one empty name where there are none.
        claim: The claim that it probes, where it is a probe.
    """

    name: str
    rules: tuple[Rule, ...]
    play: Play
    doc: str
    eras: frozenset[str]
    variants: tuple[str, ...] = ("",)
    claim: str = ""


def scenario(
    *rules: Rule, variants: tuple[str, ...] = ("",), eras: frozenset[str] | None = None
) -> Callable[[Play], Scenario]:
    """Declare a scenario that judges `rules`.

    Args:
        rules: The rules, as imported from the contract.
        variants: Names; the scenario is played once for each and gets the name as `variant`.
        eras: Where it is played, if not in every era of its rules.
    """

    def declare(play: Play) -> Scenario:
        spoken = frozenset().union(*(rule.eras for rule in rules)) if rules else BOTH
        return Scenario(play.__name__, rules, play, (play.__doc__ or "").strip(), eras or spoken, variants)

    return declare
