"""What the page shows of each wrapper, sorted by area and by what is to be looked at first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_mcp_conformance.matrix.counting import by_area
from pytest_mcp_conformance.matrix.drawing import picture

__all__ = ["AreaView", "RowView", "RuleView", "rows_of"]

_TOLD = ("broken", "known-gap", "not-testable", "unknown")


@dataclass(frozen=True)
class RuleView:
    """A rule of which there is something to tell.

    Attributes:
        name: The rule's id.
        told: What the entry says of it.
        picture: The events that show it, as markup; empty where there is none.
    """

    name: str
    told: Mapping[str, Any]
    picture: Any


@dataclass(frozen=True)
class AreaView:
    """The rules of one area.

    Attributes:
        name: The area's letters.
        counts: How many have each verdict.
        told: Those of which there is something to tell.
        kept: The ids of those that are kept.
        missing: The ids of those that are not claimed, by what is missing.
    """

    name: str
    counts: Counter[str]
    told: list[RuleView]
    kept: list[str]
    missing: dict[str, list[str]]


@dataclass(frozen=True)
class RowView:
    """A wrapper.

    Attributes:
        anchor: The id of its section.
        entry: Its entry.
        areas: Its areas, by letters: those in which something was judged.
        silent: How many rules are in the other ones.
    """

    anchor: str
    entry: Mapping[str, Any]
    areas: dict[str, AreaView]
    silent: int


def rows_of(data: Mapping[str, Any], markup: Callable[[str], Any]) -> list[RowView]:
    """The wrappers of a document.

    Args:
        data: The document.
        markup: Marks a text as one that needs no escaping.
    """
    return [_row(entry, number, data, markup) for number, entry in enumerate(data["wrappers"], 1)]


def _row(
    entry: Mapping[str, Any], number: int, data: Mapping[str, Any], markup: Callable[[str], Any]
) -> RowView:
    name = re.sub(r"[^\w.-]", "-", f"{entry['adapter']}-{entry['version']}", flags=re.ASCII)
    who = entry["adapter"], entry["version"]
    twin = sum((each["adapter"], each["version"]) == who for each in data["wrappers"])
    counts = by_area(entry)
    shown = {
        area: _area(area, found, entry, markup)
        for area, found in counts.items()
        if data["areas"].get(area, {}).get("client") or set(found) != {"not-claimed"}
    }
    silent = sum(sum(found.values()) for area, found in counts.items() if area not in shown)
    return RowView(f"w-{name}" if twin == 1 else f"w-{name}-{number}", entry, shown, silent)


def _area(
    area: str, counts: Counter[str], entry: Mapping[str, Any], markup: Callable[[str], Any]
) -> AreaView:
    told: list[RuleView] = []
    kept: list[str] = []
    missing: dict[str, list[str]] = {}
    for name, rule in entry["rules"].items():
        if not name.startswith(f"{area}-"):
            continue
        if rule["verdict"] in _TOLD:
            told.append(RuleView(name, rule, markup(_picture(name, rule))))
        elif rule["verdict"] == "kept":
            kept.append(name)
        else:
            missing.setdefault(rule.get("detail", ""), []).append(name)
    told.sort(key=lambda each: _TOLD.index(each.told["verdict"]))
    return AreaView(area, counts, told, kept, missing)


def _picture(name: str, rule: Mapping[str, Any]) -> str:
    return picture(
        rule.get("drawn", ()),
        title=f"{name}  {rule.get('item', '')}",
        told=" ".join(str(rule.get("detail", "")).split()),
        virtual=rule.get("clock") == "virtual",
    )
