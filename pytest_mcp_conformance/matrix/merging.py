"""From what one run left to the wrapper's entry in the matrix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_mcp_conformance.contract import ERAS, RULES
from pytest_mcp_conformance.matrix.drawing import shown
from pytest_mcp_conformance.matrix.known import Known, known_gap
from pytest_mcp_conformance.matrix.steady import steady, steady_line
from pytest_mcp_conformance.matrix.table import Row

__all__ = ["AS_KNOWN", "blank", "merged"]

AS_KNOWN = "judged"
"""The state of a wrapper that was judged to its end, and that is as its known gaps say."""

_FAILING = ("broken", "not-testable", "unknown")
_DRAWN = ("broken", "known-gap")
_NAMED = 4


def merged(row: Row, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The entry of a wrapper.

    Args:
        row: Its row in the table.
        raw: What `work.job.do` gave.
    """
    versions = raw.get("versions", {})
    entry = {**blank(row), "sdk": versions.get("mcp", ""), "python": raw.get("python", "")}
    entry |= {"state": raw["state"], "why": steady_line(raw["why"], 400)}
    wrapper = _reported(raw, row.adapter)
    if wrapper is None:
        if raw["state"] == "played":
            entry |= {"state": "crashed", "why": "its run gave a report without this wrapper in it"}
        return entry
    known = known_gap(row.gaps, versions)
    histories = raw.get("histories", {})
    entry |= {
        "counts": wrapper["counts"],
        "claims": _steady(wrapper["claims"]),
        "probes": [
            {**probe, "detail": steady_line(probe["detail"])}
            for probe in wrapper["probes"]
            if probe["says"] != probe["wire"]
        ],
        "trouble": _trouble(wrapper.get("trouble", [])),
        "borne": _trouble(wrapper.get("borne", [])),
        "printed": _printed(raw.get("printed", [])),
        "rules": {
            name: _rule(name, rule, row.adapter, known, histories) for name, rule in wrapper["rules"].items()
        },
    }
    if raw["state"] == "played":
        why = "; ".join(_amiss(entry, raw))
        entry |= {"state": "differs" if why else AS_KNOWN, "why": why}
    return entry


def blank(row: Row, why: str = "") -> dict[str, Any]:
    """The entry of a wrapper of which nothing is known."""
    return {
        "adapter": row.adapter,
        "package": row.package,
        "version": row.version,
        "pins": list(row.pins),
        "sdk": "",
        "python": "",
        "state": "not-run",
        "why": why,
        "counts": {},
        "claims": {},
        "probes": [],
        "trouble": [],
        "borne": [],
        "printed": [],
        "rules": {},
    }


def _reported(raw: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    report = raw.get("report") or {"wrappers": []}
    return next((each for each in report["wrappers"] if each["name"] == name), None)


def _rule(
    name: str, rule: Mapping[str, Any], wrapper: str, known: Known, histories: Mapping[str, str]
) -> dict[str, Any]:
    told: dict[str, Any] = {"verdict": rule["verdict"], "level": rule["level"]}
    if rule["verdict"] == "kept":
        return told
    told["detail"] = steady(rule["detail"])
    if rule["verdict"] in _DRAWN:
        item = next(iter(rule["items"]), "")
        virtual = rule["clock"] == "virtual"
        told |= {"inherited": rule["inherited"], "clock": rule["clock"], "items": len(rule["items"])}
        told["item"] = item.removeprefix("mcp-conformance::")
        told |= known.find(name, wrapper, _eras(rule["items"])) if rule["verdict"] == "known-gap" else {}
        if item in histories:
            told["drawn"] = shown(histories[item], frozenset(rule["proof"]), virtual=virtual)
    return told


def _eras(items: Iterable[str]) -> set[str]:
    return {era for era in ERAS for item in items if re.search(rf"-{era}(?=[-\]])", item)}


def _steady(value: Any) -> Any:
    """Claims as they are, the texts in them without what differs from run to run."""
    if isinstance(value, Mapping):
        return {str(key): _steady(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_steady(each) for each in value]
    return steady(value) if isinstance(value, str) else value


def _trouble(told: Iterable[Mapping[str, str]]) -> list[dict[str, Any]]:
    """What went wrong beside the rules, and in how many items."""
    found: dict[str, list[str]] = {}
    for each in told:
        found.setdefault(steady_line(each["detail"]), []).append(each["item"])
    return [
        {"detail": detail, "items": len(items), "item": items[0].removeprefix("mcp-conformance::")}
        for detail, items in found.items()
    ]


def _printed(texts: list[str]) -> list[dict[str, Any]]:
    """That it prints to stdout, in how many items, and what line first."""
    if not texts:
        return []
    first = steady_line(next((line for line in texts[0].splitlines() if line.strip()), ""), 120)
    return [{"detail": first, "items": len(texts)}]


def _amiss(entry: Mapping[str, Any], raw: Mapping[str, Any]) -> list[str]:
    """What is not as the known gaps say, each in a few words."""
    rules: Mapping[str, Mapping[str, Any]] = entry["rules"]
    said = []
    for verdict in _FAILING:
        names = [name for name in RULES if name in rules and rules[name]["verdict"] == verdict]
        if names:
            label = "broken, and no known gap" if verdict == "broken" else verdict.replace("-", " ")
            said.append(f"{label}: {_some(names)}")
    if entry["probes"]:
        said.append(f"the wire contradicts claims: {_some([each['claim'] for each in entry['probes']])}")
    said += [f"{steady_line(each['detail'], 100)} (items: {each['items']})" for each in entry["trouble"]]
    said += [f"known gap closed: {steady_line(each)}" for each in raw.get("closed", [])]
    if not raw["report"]["complete"]:
        said.append("the run did not come to its end")
    if not said and raw.get("code") != 0:
        said.append(f"pytest ended with code {raw.get('code')}")
    return said


def _some(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
