"""What came out: of one rule in one scenario, of one scenario, of one rule over a whole run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any

__all__ = ["Judgement", "Played", "Probe", "Verdict", "worst"]


class Verdict(str, Enum):
    """A verdict. A rule judged by several scenarios gets the first that applies, in this order."""

    BROKEN = "broken"
    UNKNOWN = "unknown"
    NOT_TESTABLE = "not-testable"
    KNOWN_GAP = "known-gap"
    KEPT = "kept"
    NOT_CLAIMED = "not-claimed"

    def __str__(self) -> str:
        return self.value


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict over several scenarios: the first that applies, in the order of `Verdict`.

    Raises:
        ValueError: There is no verdict.
    """
    order = list(Verdict)
    return min(verdicts, key=order.index)


@dataclass(frozen=True)
class Judgement:
    """One rule in one scenario.

    Attributes:
        rule: The rule's id.
        verdict: What came out.
        detail: The failing assertion with its values, or the reason.
        history: The events that show it, one a line.
        sdk: What the bare SDK does in the same scenario, in words; empty where it was not asked.
        inherited: True when the bare SDK breaks the rule in the same scenario, at the same place, too.
        hard: Fails the item whatever the rule's level: something was left behind.
        drawing: The events that prove it, or the last ones, as lanes: lines of text.
        proof: The numbers of these events in the history of the play.
        place: Where in the scenario it was found broken: file and line.
    """

    rule: str
    verdict: Verdict
    detail: str = ""
    history: tuple[str, ...] = ()
    sdk: str = ""
    inherited: bool = False
    hard: bool = False
    drawing: tuple[str, ...] = ()
    proof: tuple[int, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class Probe:
    """What the wire said of a claim.

    Attributes:
        claim: The claim's name.
        says: Whether the adapter makes it.
        wire: Whether the wrapper showed it.
        detail: What was seen.
    """

    claim: str
    says: bool
    wire: bool
    detail: str = ""

    @property
    def agrees(self) -> bool:
        """True when the adapter said what the wire showed."""
        return self.says == self.wire


@dataclass(frozen=True)
class Played:
    """One scenario, played once against one wrapper. Plain data: it crosses processes.

    Attributes:
        scenario: Its name.
        wrapper: The adapter's name.
        version: The wrapper's version.
        way: `memory`, `http`, `stdio`, `loopback` or `sse`.
        era: `handshake` or `modern`.
        variant: Which of the scenario's variants, or empty.
        judgements: One for each rule of the scenario.
        probes: What the wire said of the adapter's claims.
        trouble: What went wrong beside the rules: the wrapper died, a tear-down raised. Each fails the item.
        borne: Trouble that a known gap accepts; it fails nothing.
        clock: By which clock it was played: `virtual`, or `real, bounded by 5 s` where something outside the
            scenario's loop, as a thread, a child or a socket, had to be waited for. Empty where nothing was
            played.
        adapter_error: The adapter is no adapter; the message says what is wrong, where, and what to write.
    """

    scenario: str
    wrapper: str
    version: str = ""
    way: str = "memory"
    era: str = "handshake"
    variant: str = ""
    judgements: tuple[Judgement, ...] = ()
    probes: tuple[Probe, ...] = ()
    trouble: tuple[str, ...] = ()
    borne: tuple[str, ...] = ()
    clock: str = ""
    adapter_error: str = ""

    @property
    def cell(self) -> str:
        """The part of the node id in brackets: `acme-memory-handshake`, with the variant at the end."""
        return "-".join(filter(None, (self.wrapper, self.way, self.era, self.variant)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON and xdist can carry."""
        data: dict[str, Any] = asdict(self)
        for judgement in data["judgements"]:
            judgement["verdict"] = judgement["verdict"].value
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Played:
        """The inverse of `to_dict`."""
        judgements = tuple(
            replace(
                Judgement(**{**each, "verdict": Verdict(each["verdict"])}),
                history=tuple(each["history"]),
                drawing=tuple(each["drawing"]),
                proof=tuple(each["proof"]),
            )
            for each in data["judgements"]
        )
        probes = tuple(Probe(**each) for each in data["probes"])
        texts = {name: tuple(data[name]) for name in ("trouble", "borne")}
        return cls(**{**data, **texts, "judgements": judgements, "probes": probes})
