"""Writing a first baseline from the verdicts of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from pytest_mcp_conformance.contract import ERAS, Verdict
from pytest_mcp_conformance.plugin.gaps import Gap
from pytest_mcp_conformance.plugin.judging import adoption
from pytest_mcp_conformance.plugin.options import Options
from pytest_mcp_conformance.reports.text import one_line
from pytest_mcp_conformance.reports.verdicts import RuleVerdict, WrapperVerdicts

__all__ = ["baseline"]

_HEAD = """\
# Broken rules that do not fail a run, read with --mcp-known-gaps. Write in each reason why it is accepted.
# An entry whose rule is kept again fails the run until it is taken out.
"""


def baseline(wrappers: Sequence[WrapperVerdicts], options: Options) -> tuple[str, int]:
    """The text of a known-gaps file, and the number of its entries.

    Args:
        wrappers: The verdicts. What fails for another reason than a broken rule cannot be adopted.
        options: The run's options; entries that are in force already are taken over.
    """
    rules = [
        entry
        for wrapper in wrappers
        for verdict in wrapper.rules.values()
        for entry in _of_rule(wrapper.name, verdict, options)
    ]
    trouble = [_taken_over(gap, gap.wrapper) for gap in options.gaps.entries if _went_wrong(gap, wrappers)]
    return "\n".join([_HEAD, *rules, *trouble]), len(rules) + len(trouble)


def _of_rule(wrapper: str, verdict: RuleVerdict, options: Options) -> Iterator[str]:
    if verdict.verdict is Verdict.BROKEN and verdict.fails(strict=options.strict):
        one_era = len(verdict.eras) == 1 and verdict.kept_eras - verdict.eras
        era = next(iter(verdict.eras)) if one_era else ""
        yield _entry(rule=verdict.rule.id, wrapper=wrapper, reason=adoption(verdict.detail), era=era)
        return
    eras = sorted(verdict.eras if verdict.verdict is Verdict.KNOWN_GAP else verdict.kept_eras)
    found = (options.gaps.find(verdict.rule.id, wrapper, era) for era in eras)
    for gap in dict.fromkeys(each for each in found if each):
        if verdict.verdict is Verdict.KNOWN_GAP or not gap.strict:
            yield _taken_over(gap, wrapper)


def _went_wrong(gap: Gap, wrappers: Iterable[WrapperVerdicts]) -> bool:
    """Whether an entry about trouble still says what is: it was seen, or need not be."""
    about = [wrapper for wrapper in wrappers if gap.trouble and gap.is_about(wrapper.name)]
    seen = any(
        gap.bears(said, wrapper.name, era) for wrapper in about for _, said in wrapper.borne for era in ERAS
    )
    return seen or bool(about and not gap.strict)


def _taken_over(gap: Gap, wrapper: str) -> str:
    return _entry(
        rule=gap.rule,
        trouble=gap.trouble,
        wrapper=wrapper,
        reason=gap.reason,
        confirmed=gap.confirmed,
        link=gap.link,
        sdk=gap.sdk,
        era=gap.era,
        strict=gap.strict,
    )


def _entry(*, strict: bool = True, **keys: str) -> str:
    lines = [f"{key} = {_basic(text)}\n" for key, text in keys.items() if text]
    return "".join(["[[gap]]\n", *lines, *([] if strict else ["strict = false\n"])])


def _basic(text: str) -> str:
    """A TOML basic string: for text without controls JSON writes it the same way."""
    return json.dumps(one_line(text), ensure_ascii=False)
