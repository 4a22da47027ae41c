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
    """

    adapter: str
    rule: str
    pins: tuple[str, ...] = ()
    affected_pins: tuple[str, ...] = ()
    fixed_pins: tuple[str, ...] = ()
    way: str = ""

    def row(self, side: str) -> Row:
        """What is installed for one side, `affected` or `fixed`."""
        pins = (*self.pins, *(self.affected_pins if side == "affected" else self.fixed_pins))
        return Row(self.adapter, self.package, getattr(self, side), pins)


class Apart(_Pair, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """A report that is not told apart, and why."""

    why: str


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole table."""

    replay: tuple[Replay, ...]
    apart: tuple[Apart, ...] = ()


class Play(msgspec.Struct, frozen=True):
    """One release, judged by the rules of all its reports over one way in."""

    row: Row
    way: str
    rules: tuple[str, ...]

    @property
    def key(self) -> str:
        """What tells it from the others."""
        return f"{self.row.key}{f'-{self.way}' if self.way else ''}"


def read_table() -> Table:
    """The table.

    Raises:
        msgspec.MsgspecError: It is not as it should be.
    """
    return msgspec.toml.decode(TABLE.read_bytes(), type=Table)


def plays_of(replays: tuple[Replay, ...]) -> list[Play]:
    """What has to be played for them, each release once."""
    rules: dict[tuple[Row, str], list[str]] = defaultdict(list)
    for each in replays:
        for side in ("affected", "fixed"):
            rules[each.row(side), each.way].append(each.rule)
    return [Play(row, way, tuple(sorted(set(found)))) for (row, way), found in rules.items()]
