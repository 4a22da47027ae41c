"""The table of replays, `docs/reference/replays.toml`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import msgspec

from pytest_mcp_conformance.matrix.table import Row

__all__ = ["TABLE", "Apart", "Play", "Replay", "Table", "plays_of", "read_table"]

TABLE = Path(__file__).parents[2] / "docs" / "reference" / "replays.toml"


class _Pair(msgspec.Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    report: str
    fault: str
    package: str
    affected: str
    fixed: str


class Replay(_Pair, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """A report that is replayed.

    Attributes:
        report: Where it is public.
        fault: What was wrong, in our words.
        package: The package.
        affected: The last release that has the fault, or one that has it.
        fixed: The first release that has not, or one that has not.
        adapter: By which adapter it is judged.
        rule: The rule that tells them apart.
        pins: What is installed beside both.
        affected_pins: What is installed beside the affected one alone.
        fixed_pins: What is installed beside the fixed one alone.
        way: The way in; empty for the first that fits.
        scenario: The one scenario of the rule that is about this fault, where another one is about a fault
            that both releases have; empty for all.
        variant: The one variant of that scenario, in the same way.
    """

    adapter: str
    rule: str
    pins: tuple[str, ...] = ()
    affected_pins: tuple[str, ...] = ()
    fixed_pins: tuple[str, ...] = ()
    way: str = ""
    scenario: str = ""
    variant: str = ""

    def row(self, side: str) -> Row:
        """What is installed for one side, `affected` or `fixed`."""
        pins = (*self.pins, *(self.affected_pins if side == "affected" else self.fixed_pins))
        return Row(self.adapter, self.package, getattr(self, side), pins)

    def play(self, side: str) -> Play:
        """What is played for one side; its rules are those of all reports that it is played for."""
        return Play(self.row(side), self.way, self.scenario, self.variant)


class Apart(_Pair, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """A report that is not told apart, and why."""

    why: str


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole table."""

    replay: tuple[Replay, ...]
    apart: tuple[Apart, ...] = ()


class Play(msgspec.Struct, frozen=True):
    """One release, judged by the rules of all its reports over one way in, or by one scenario or variant."""

    row: Row
    way: str = ""
    scenario: str = ""
    variant: str = ""
    rules: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells it from the others."""
        return "-".join(filter(None, (self.row.key, self.way, self.scenario, self.variant)))

    @property
    def words(self) -> list[str]:
        """What chooses it, for pytest."""
        words = [f"--mcp-rule={rule}" for rule in self.rules]
        words += [f"--mcp-transport={self.way}"] if self.way else []
        chosen = " and ".join(filter(None, (self.scenario, self.variant)))
        return words + (["-k", chosen] if chosen else [])


def read_table() -> Table:
    """The table.

    Raises:
        msgspec.MsgspecError: It is not as it should be.
    """
    return msgspec.toml.decode(TABLE.read_bytes(), type=Table)


def plays_of(replays: tuple[Replay, ...]) -> list[Play]:
    """What has to be played for them, each release once, and once for each scenario that is named."""
    rules: dict[Play, list[str]] = defaultdict(list)
    for each in replays:
        for side in ("affected", "fixed"):
            rules[each.play(side)].append(each.rule)
    return [msgspec.structs.replace(play, rules=tuple(sorted(set(found)))) for play, found in rules.items()]
