"""The text of a failed item: what is broken, what shows it, what to look at, and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_mcp_conformance.contract import RULES, Judgement, Played, Probe, Verdict
from pytest_mcp_conformance.plugin.judging import Judged
from pytest_mcp_conformance.plugin.options import Options
from pytest_mcp_conformance.reports.terminal import disagreement
from pytest_mcp_conformance.reports.text import clean, one_line, source_of

__all__ = ["failure_text"]

_INDENT = " " * 5
_WARNED = "broken, a warning without --mcp-strict"
_CLAIM_REMEDY = {
    True: "the wrapper shows it: say so in the adapter, Claims({claim}=...), and its rules are judged",
    False: "the wrapper does not show it: take {claim} out of Claims(...), or repair the wrapper",
}


def failure_text(judged: Judged, nodeid: str, options: Options, *, virtual: bool = True) -> str:
    """The whole text, one block for each thing that is wrong; where rules are broken, their names come first.

    Args:
        judged: The item's judgements.
        nodeid: Its node id.
        options: The run's options; those that are needed to see the failure again are repeated.
        virtual: False for an item of a file of the user's own.
    """
    played = judged.played
    if played.adapter_error:
        return clean(played.adapter_error)
    again = _again(nodeid, played, options, virtual=virtual)
    blocks = [_of_probe(probe, played, again) for probe in judged.disagreeing]
    blocks += [_of_rule(judgement, played, again) for judgement in judged.failing]
    blocks += [_of_rule(judgement, played, again, _WARNED) for judgement in judged.warned]
    blocks += [_of_trouble(trouble, played, again) for trouble in played.trouble]
    return "\n\n".join([*_all_broken(judged), *blocks])


def _all_broken(judged: Judged) -> Iterator[str]:
    """A line that names the broken rules where there are several: a headline shows the first line alone."""
    failing = (each for each in judged.failing if each.verdict is Verdict.BROKEN)
    names = dict.fromkeys(each.rule for each in (*failing, *judged.warned))
    if len(names) > 1:
        yield f"broken: {', '.join(names)}"


def _of_rule(judgement: Judgement, played: Played, again: str, verdict: str = "") -> str:
    rule = RULES[judgement.rule]
    lines = [rule.heading(played.era), *_scenario(played)]
    if verdict or judgement.verdict is not Verdict.BROKEN:
        lines += _row("verdict", verdict or judgement.verdict.value)
    lines += _seen(judgement.detail)
    lines += _row("history", " | ".join(one_line(event) for event in judgement.history))
    lines += _row("drawn", *(clean(line).rstrip() for line in judgement.drawing))
    lines += _row("check", *rule.if_broken)
    lines += _row("why", rule.why)
    lines += _row("source", source_of(rule))
    lines += _row("sdk", one_line(judgement.sdk))
    lines += _row("again", again)
    return "\n".join(lines)


def _of_probe(probe: Probe, played: Played, again: str) -> str:
    lines = [disagreement(probe), *_scenario(played)]
    lines += _row("check", _CLAIM_REMEDY[probe.wire].format(claim=probe.claim))
    lines += _row("again", again)
    return "\n".join(lines)


def _of_trouble(trouble: str, played: Played, again: str) -> str:
    lines = ["beside the rules something went wrong", *_scenario(played)]
    lines += _row("found", *clean(trouble).splitlines())
    lines += _row("again", again)
    return "\n".join(lines)


def _scenario(played: Played) -> Iterator[str]:
    variant = f" ({played.variant})" if played.variant else ""
    yield from _row("scenario", f"{played.scenario}{variant}")
    yield from _row("clock", one_line(played.clock))


def _seen(detail: str) -> Iterator[str]:
    """What was found in words, and from the line that asserts on, the assertion with its values."""
    lines = clean(detail).splitlines()
    asserts = next((at for at, line in enumerate(lines) if line.startswith("assert ")), len(lines))
    yield from _row("found", *lines[:asserts])
    yield from (_INDENT + line for line in lines[asserts:])


def _row(label: str, *lines: str) -> Iterator[str]:
    """`label` and its text; a text of several lines stands under itself. No text, no row."""
    for line in lines:
        if line:
            yield f"{_INDENT}{label:<10}{line}"
            label = ""


def _again(nodeid: str, played: Played, options: Options, *, virtual: bool) -> str:
    parts = ["pytest", f'"{one_line(nodeid)}"']
    if virtual:
        parts.append("--mcp-conformance")
    if options.wrappers:
        parts.append(f"--mcp-wrapper={one_line(played.wrapper)}")
    if options.strict:
        parts.append("--mcp-strict")
    return " ".join(parts)
