"""What a scenario is, and how it states a verdict on a rule."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from pytest_mcp_conformance.contract import BOTH, CLIENT_AREAS, WAYS, Rule

__all__ = ["HTTP", "MEMORY", "NOT_HTTP", "SSE", "STDIO", "Scenario", "scenario"]

MEMORY = frozenset({"memory"})
HTTP = frozenset({"http", "loopback"})
STDIO = frozenset({"stdio"})
SSE = frozenset({"sse"})
NOT_HTTP = MEMORY | STDIO | SSE
"""Where the client is told at once that its connection is lost."""

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
        ways: The ways in over which it can be played.
    """

    name: str
    rules: tuple[Rule, ...]
    play: Play
    doc: str
    eras: frozenset[str]
    variants: tuple[str, ...] = ("",)
    claim: str = ""
    ways: frozenset[str] = frozenset(WAYS)


def scenario(
    *rules: Rule,
    variants: tuple[str, ...] = ("",),
    eras: frozenset[str] | None = None,
    ways: frozenset[str] | None = None,
) -> Callable[[Play], Scenario]:
    """Declare a scenario that judges `rules`.

    Args:
        rules: The rules, as imported from the contract.
        variants: Names; the scenario is played once for each and gets the name as `variant`.
        eras: Where it is played, if not in every era of its rules.
        ways: The ways in over which it can be played. By default all; a part that is looked into is handed
            streams over memory, whatever the wrapper's own way in.
    """

    def declare(play: Play) -> Scenario:
        spoken = frozenset().union(*(rule.eras for rule in rules)) if rules else BOTH
        doc = (play.__doc__ or "").strip()
        looks_inside = not any(rule.area in CLIENT_AREAS for rule in rules)
        open_to = ways if ways is not None else MEMORY if rules and looks_inside else frozenset(WAYS)
        return Scenario(play.__name__, rules, play, doc, eras or spoken, variants, ways=open_to)

    return declare
