"""The same verdict every time: the catalogue over and over, compared (`tox -e steady -- 200 reference`)."""

from __future__ import annotations

import logging
import sys

from rich.console import Console
from rich.progress import track

from pytest_mcp_conformance.adapters import bundled
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells


def verdicts(name: str) -> dict[str, str]:
    """What one run of the catalogue says of one bundled adapter, by scenario, cell and rule."""
    subject = bundled()[name]
    said = {}
    for scenario, era, variant in cells(subject):
        played = play(scenario, subject, era=era, variant=variant, compare=False)
        for judgement in played.judgements:
            key = f"{scenario.name}[{played.cell}] {judgement.rule}"
            said[key] = f"{judgement.verdict}: {judgement.detail}"
        for line in played.trouble:
            said[f"{scenario.name}[{played.cell}] trouble"] = line
    return said


def main() -> None:
    """Run the catalogue N times against the adapters named, and say whether anything changed."""
    console = Console()
    logging.disable(logging.CRITICAL)  # the SDK logs what it lets through; the verdict says it already
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    changed = 0
    for name in sys.argv[2:] or list(bundled()):
        first = verdicts(name)
        for _ in track(range(runs - 1), description=name, console=console):
            now = verdicts(name)
            for key in sorted(first.keys() | now.keys()):
                if first.get(key) != now.get(key):
                    changed += 1
                    console.print(f"{key}\n  was {first.get(key)}\n  is  {now.get(key)}", markup=False)
        console.print(f"{name}: {runs} runs of {len(first)} verdicts, {changed or 'none'} changed")
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
