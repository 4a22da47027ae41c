"""Play the replays, and write what came of them: `python -m tests.replays [WORD...]`, or `tox -e replays`.

A word picks the reports whose address, package or rule has it; without one all are played. What is known of
the others stays.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from pytest_mcp_conformance.matrix.judging import Setting
from pytest_mcp_conformance.matrix.kit import kit_of
from pytest_mcp_conformance.matrix.places import here
from pytest_mcp_conformance.matrix.running import run_all
from pytest_mcp_conformance.matrix.steady import steady_line
from tests.replays.results import PAGE, RESULTS, Result, page, read_results, separates, written
from tests.replays.table import TABLE, Play, Replay, plays_of, read_table

_LETTERS = 160


def main() -> None:
    """Play, and end with code 1 where a pair was not told apart."""
    parser = argparse.ArgumentParser(prog="python -m tests.replays", description=__doc__.partition(":")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="address, package or rule; all without one")
    parser.add_argument("--jobs", type=int, default=2, help="releases at once")
    parser.add_argument("--environments", type=Path, default=Path(".mcp-replays"), help="where they are kept")
    parser.add_argument("--time-limit", type=float, default=900.0, help="seconds that a release may take")
    told = parser.parse_args()
    console, table, results = Console(), read_table(), read_results()
    picked = tuple(each for each in table.replay if _fits(each, told.words))
    if not picked:
        parser.error(f"no report of {TABLE.name} has {' or '.join(told.words)}")
    setting = Setting(told.environments, kit_of(str(TABLE.parents[2])), sys.executable, told.time_limit)
    plays = {play.key: play for play in plays_of(picked)}
    said: dict[str, Mapping[str, Any]] = {}

    def keep(key: str, raw: Mapping[str, Any]) -> None:
        said[key] = raw
        console.print(f"{key}: {raw['state']} {raw['why']}  ({len(said)} of {len(plays)})", highlight=False)

    jobs = [_job(play, setting) for play in plays.values()]
    run_all(jobs, here(told.jobs), tell=lambda key, what: None, keep=keep)
    good = True
    for each in picked:
        keys = {side: each.play(side).key for side in ("affected", "fixed")}
        if not all(key in said for key in keys.values()):
            continue  # it was interrupted
        result = {side: _result(each, said[key]) for side, key in keys.items()}
        results[each.report] = result
        good = good and separates(result)
        verdicts = " -> ".join(got.verdict for got in result.values())
        line = f"{each.package} {each.affected} -> {each.fixed}, {each.rule}: {verdicts}"
        console.print(line, highlight=False)
    known = {each.report for each in table.replay}
    results = {report: result for report, result in results.items() if report in known}
    RESULTS.write_text(written(results), encoding="utf-8")
    PAGE.write_text(page(table, results), encoding="utf-8")
    sys.exit(0 if good and len(said) == len(plays) else 1)


def _fits(replay: Replay, words: list[str]) -> bool:
    about = (replay.report, replay.package, replay.rule)
    return not words or any(word in text for word in words for text in about)


def _job(play: Play, setting: Setting) -> dict[str, Any]:
    about = {"key": play.key, "folder": str(setting.folder / play.key), "more": play.words, "gaps": None}
    return {**setting.job(play.row), **about}


def _result(replay: Replay, raw: Mapping[str, Any]) -> Result:
    report = raw.get("report") or {"wrappers": []}
    wrapper = next((each for each in report["wrappers"] if each["name"] == replay.adapter), None)
    if wrapper is None or replay.rule not in wrapper["rules"]:
        return Result("not judged", steady_line(raw["why"], _LETTERS))
    rule = wrapper["rules"][replay.rule]
    detail = "" if rule["verdict"] == "kept" else steady_line(rule["detail"], _LETTERS)
    return Result(rule["verdict"], detail)


if __name__ == "__main__":
    main()
