"""The events that show a broken rule, drawn: those that prove it if the checker knows, else the last ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pytest_mcp_conformance.contract import Adapter, Judgement, Verdict
from pytest_mcp_conformance.contract._outcome import describe
from pytest_mcp_conformance.history import Condenser, Digests, Entry, Header, Recorder, check, explain
from pytest_mcp_conformance.history.entry import FORMAT
from pytest_mcp_conformance.history.lanes import head, lanes
from pytest_mcp_conformance.history.lines import tells

__all__ = ["drawn"]

MOST = 8
"""How many events are drawn where none of them is known to prove the fault."""

_Drawing = tuple[tuple[str, ...], tuple[int, ...]]


def drawn(
    judgements: Iterable[Judgement], history: Recorder, adapter: Adapter, era: str
) -> tuple[Judgement, ...]:
    """The same judgements, with a drawing beside each broken rule.

    Args:
        judgements: What a scenario said.
        history: What happened in it.
        adapter: Who was played: what it claims is what the checker holds it to.
        era: `handshake` or `modern`.
    """
    judgements = tuple(judgements)
    if all(each.verdict is not Verdict.BROKEN for each in judgements):
        return judgements
    try:
        return _drawn(judgements, history, adapter, era)
    except Exception as fault:  # a verdict is worth more than its picture
        said = (f"not drawn, by a fault of the kit: {describe(fault)}",)
        return tuple(
            replace(each, drawing=said) if each.verdict is Verdict.BROKEN else each for each in judgements
        )


def _drawn(
    judgements: tuple[Judgement, ...], history: Recorder, adapter: Adapter, era: str
) -> tuple[Judgement, ...]:
    digests = Digests()
    condenser = Condenser(digests)
    entries = [condenser.entry(event) for event in history]
    header = Header(FORMAT, digests.name, era=era, claims=adapter.claims.stated())  # type: ignore[arg-type]
    proofs: dict[str, _Drawing] = {}
    for finding in check(entries, header):
        if finding.kind == "fault" and finding.rule not in proofs:
            proofs[finding.rule] = tuple(explain(finding, entries).text.splitlines()), finding.proof
    telling = {event.n for event in history if tells(event)}
    told = [entry for entry in entries if entry.n in telling]
    return tuple(
        _with(each, proofs.get(each.rule) or _last(each, told)) if each.verdict is Verdict.BROKEN else each
        for each in judgements
    )


def _with(judgement: Judgement, drawing: _Drawing) -> Judgement:
    lines, numbers = drawing
    return replace(judgement, drawing=lines, proof=numbers)


def _last(judgement: Judgement, told: list[Entry]) -> _Drawing:
    """Those before the verdict fell: its own history ends there."""
    end = re.match(r"#(\d+) ", judgement.history[-1]) if judgement.history else None
    last = [entry for entry in told if end is None or entry.n <= int(end[1])][-MOST:]
    return ((head(), *lanes(last, gaps=True)) if last else ()), tuple(entry.n for entry in last)
