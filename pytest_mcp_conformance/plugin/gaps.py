"""Known gaps: the strict baseline of broken rules that do not fail a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from pytest_mcp_conformance.contract import ERAS, RULES, UsageError
from pytest_mcp_conformance.plugin.project import read_toml
from pytest_mcp_conformance.reports.text import closest, one_line

__all__ = ["Gap", "Gaps", "read_gaps"]

_KEYS = ["rule", "trouble", "wrapper", "reason", "confirmed", "link", "sdk", "era", "strict"]
_EXAMPLE = '[[gap]] with rule = "CCH-13", wrapper = "acme" and reason = "why it is accepted"'


@dataclass(frozen=True)
class Gap:
    """One entry.

    Attributes:
        number: Its place in the file, from 1.
        rule: The rule's id; empty where it is about trouble.
        wrapper: The adapter's name; `*` and `?` stand for any letters.
        reason: Why it is accepted.
        confirmed: How it was confirmed without the kit.
        link: Where it is discussed.
        sdk: The releases of the SDK in which it stands, `mcp>=2,<3`; empty for all.
        era: The era in which it stands; empty for both.
        trouble: What goes wrong beside the rules; `*` stands for any text. Empty where it is about a rule.
        strict: False where the fault is a race of the wrapper's own, which not every run shows: then a run
            that does not show it says nothing of the entry.
    """

    number: int
    wrapper: str
    reason: str
    rule: str = ""
    confirmed: str = ""
    link: str = ""
    sdk: str = ""
    era: str = ""
    trouble: str = ""
    strict: bool = True

    @property
    def what(self) -> str:
        """The rule or the trouble."""
        return self.rule or f"trouble {self.trouble!r}"

    def bears(self, trouble: str, wrapper: str, era: str) -> bool:
        """True when this gap accepts that something went wrong beside the rules."""
        if not self.trouble or not self.is_about(wrapper) or self.era not in ("", era):
            return False
        pattern = ".*".join(map(re.escape, self.trouble.split("*")))
        return re.fullmatch(pattern, one_line(trouble)) is not None

    def covers(self, rule: str, wrapper: str, era: str) -> bool:
        """True when a broken `rule` of `wrapper` in `era` is this gap."""
        return self.rule == rule and self.is_about(wrapper) and self.era in ("", era)

    def is_about(self, wrapper: str) -> bool:
        """True when the entry names `wrapper`."""
        return fnmatchcase(wrapper, self.wrapper)

    @property
    def in_force(self) -> bool:
        """True when the installed SDK is one of those that the entry names."""
        if not self.sdk:
            return True
        wanted = Requirement(self.sdk)
        try:
            return wanted.specifier.contains(version(wanted.name), prereleases=True)
        except PackageNotFoundError:
            return False


@dataclass(frozen=True)
class Gaps:
    """The entries of one file that are in force for the installed SDK."""

    path: Path | None = None
    entries: tuple[Gap, ...] = ()

    def find(self, rule: str, wrapper: str, era: str) -> Gap | None:
        """The first entry that covers a broken rule."""
        return next((gap for gap in self.entries if gap.covers(rule, wrapper, era)), None)

    def bearing(self, trouble: str, wrapper: str, era: str) -> Gap | None:
        """The first entry that accepts what went wrong beside the rules."""
        return next((gap for gap in self.entries if gap.bears(trouble, wrapper, era)), None)


def read_gaps(path: Path, place: str) -> Gaps:
    """Read a baseline.

    Args:
        path: The file.
        place: Who named it, for the message.

    Raises:
        UsageError: The file or an entry of it is not as it should be; the message names the entry.
    """
    content = read_toml(path, place)
    for key in content:
        if key != "gap":
            raise UsageError(f"{path}: unknown key {key!r}; write {_EXAMPLE}")
    entries = content.get("gap", [])
    if not isinstance(entries, list):
        raise UsageError(f"{path}: 'gap' is one table; write two brackets: {_EXAMPLE}")
    gaps = [_read(entry, number, f"{path}, entry {number}") for number, entry in enumerate(entries, start=1)]
    return Gaps(path, tuple(gap for gap in gaps if gap.in_force))


def _read(entry: Any, number: int, where: str) -> Gap:
    if not isinstance(entry, dict):
        raise UsageError(f"{where}: not a table; write {_EXAMPLE}")
    for key, value in entry.items():
        if key not in _KEYS:
            raise UsageError(
                f"{where}: unknown key {key!r}: {closest(key, _KEYS)}; known are {', '.join(_KEYS)}"
            )
        if key == "strict":
            if not isinstance(value, bool):
                raise UsageError(f"{where}: strict = {value!r}; write false, without quotes, or leave it out")
        elif not isinstance(value, str):
            raise UsageError(f"{where}: {key} = {value!r} is not a text; put it in quotes")
    trouble = entry.get("trouble", "").strip()
    for key in ("wrapper", "reason") if trouble else ("rule", "wrapper", "reason"):
        if not entry.get(key, "").strip():
            raise UsageError(f"{where}: no {key}; write {_EXAMPLE}")
    rule, wrapper = entry.get("rule", "").strip(), entry["wrapper"]
    era, sdk = entry.get("era", ""), entry.get("sdk", "")
    if entry.get("strict") is False and not entry.get("confirmed", "").strip():
        raise UsageError(
            f"{where}: strict = false without confirmed; say how it was confirmed that the wrapper races"
        )
    if trouble and rule:
        raise UsageError(f"{where}: about a rule and about trouble; write two entries")
    if trouble and not trouble.strip("* "):
        raise UsageError(f"{where}: trouble = {trouble!r} accepts whatever goes wrong; write how it begins")
    if not trouble and rule not in RULES:
        raise UsageError(f"{where}: unknown rule {rule!r}: {_near_rule(rule)}")
    if not re.fullmatch(r"[^\s\[\]:/]+", wrapper):
        raise UsageError(
            f"{where}: wrapper = {wrapper!r} cannot be a name; write one, with * and ? for any letters"
        )
    if era and era not in ERAS:
        raise UsageError(f"{where}: unknown era {era!r}: {closest(era, list(ERAS))}")
    if sdk:
        _specifier_must_read(sdk, where)
    texts = {key: value.strip() for key, value in entry.items() if key != "strict"}
    return Gap(number, strict=entry.get("strict", True), **texts)


def _near_rule(rule: str) -> str:
    near = closest(rule.upper(), list(RULES))
    return near if near.startswith("did") else "'mcp-conformance rules' prints them all"


def _specifier_must_read(sdk: str, where: str) -> None:
    try:
        wanted = Requirement(sdk)
    except InvalidRequirement:
        wanted = None
    if wanted is None or wanted.url or wanted.marker or wanted.extras:
        raise UsageError(f'{where}: sdk = {sdk!r} is no range of releases; write one as in sdk = "mcp>=2,<3"')
