"""The same verdict every time: the catalogue over and over, compared.

`tox -e steady -- 50 reference --over http` plays 50 times what can be played over HTTP; without `--over`
each scenario is played over the first way in that it and the adapter know.
"""

from __future__ import annotations

import argparse
import logging
import sys

from rich.console import Console
from rich.progress import track

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.contract import WAYS, eras_over
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells


def verdicts(name: str, way: str | None) -> dict[str, str]:
    """What one run of the catalogue says of one bundled adapter, by scenario, cell and rule."""
    subject = bundled()[name]
    said = {}
    for scenario, era, variant in cells(subject):
        if way is not None and (way not in scenario.ways or era not in eras_over(way)):
            continue
        played = play(scenario, subject, era=era, way=way, variant=variant, compare=False)
        for judgement in played.judgements:
            key = f"{scenario.name}[{played.cell}] {judgement.rule}"
            said[key] = f"{judgement.verdict}: {judgement.detail}"
        for line in played.trouble:
            said[f"{scenario.name}[{played.cell}] trouble"] = line
    return said


def main() -> None:
    """Run the catalogue N times against the adapters named, and say whether anything changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.steady", description=__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=20)
    parser.add_argument("adapters", nargs="*", default=list(bundled()), metavar="adapter")
    parser.add_argument("--over", choices=WAYS, help="the way in")
    asked = parser.parse_args()
    console = Console()
    logging.disable(logging.CRITICAL)  # the SDK logs what it lets through; the verdict says it already
    changed = 0
    for name in asked.adapters:
        first = verdicts(name, asked.over)
        for _ in track(range(asked.runs - 1), description=name, console=console):
            now = verdicts(name, asked.over)
            for key in sorted(first.keys() | now.keys()):
                if first.get(key) != now.get(key):
                    changed += 1
                    console.print(f"{key}\n  was {first.get(key)}\n  is  {now.get(key)}", markup=False)
        console.print(f"{name}: {asked.runs} runs of {len(first)} verdicts, {changed or 'none'} changed")
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
