"""Change the reference in one place after the other, and see whether the catalogue notices.

`python -m tests.mutants` judges every file, `python -m tests.mutants pool.py keys.py` these two. It fails where
the catalogue notices less than nine in ten, and where a mutant that was looked at is no longer what it was.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from tests.mutants.judging import REFERENCE, what_kills
from tests.mutants.making import Mutant, mutants_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

AREAS = {
    "generations.py": ("generations",),
    "definitions.py": ("definitions",),
    "definitionlist.py": ("definitions", "sharing"),
    "incarnation.py": ("definitions", "sharing"),
    "conversation.py": ("definitions", "sharing"),
    "serving.py": ("sharing", "definitions"),
    "sharing.py": ("sharing",),
    "marker.py": ("marker",),
    "ledger.py": ("ledger",),
    "watcher.py": ("marker", "ledger"),
    "pool.py": ("pool",),
    "pooled.py": ("pool",),
    "leases.py": ("leases", "pool"),
    "keys.py": ("keys",),
}
"""The files that are changed, and the scenarios that are about each."""

WORKERS = 2
ENOUGH = 0.9
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


def equivalent() -> dict[tuple[str, str, str, str], str]:
    """The mutants that were looked at and that change nothing which a contract could see, with the reasons."""
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(each["file"], each["where"], each["was"], each["becomes"]): each["reason"] for each in entries}


def judged(mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with what kills it, empty where nothing does, as they come to their ends."""
    fork = get_context("fork")  # the SDK is imported once, the reference in each child
    running: dict[Any, tuple[Mutant, Connection, Any]] = {}
    left = iter(mutants)
    while True:
        while len(running) < WORKERS and (mutant := next(left, None)) is not None:
            hear, tell = fork.Pipe(duplex=False)
            child = fork.Process(target=_judge, args=(mutant, tell))
            child.start()
            tell.close()
            running[child.sentinel] = mutant, hear, child
        if not running:
            return
        for sentinel in wait(list(running)):
            mutant, hear, child = running.pop(sentinel)
            child.join()
            try:
                yield mutant, hear.recv()
            except EOFError:
                yield mutant, f"the process ended with {child.exitcode}"
            hear.close()


def _judge(mutant: Mutant, tell: Connection) -> None:
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # a mutant's last words
    tell.send(what_kills(mutant.file, mutant.code, AREAS[mutant.file]))


def main() -> None:
    """Judge the files named, or all, and say what came out."""
    console = Console(highlight=False)
    known = equivalent()
    trouble = []
    for file in sys.argv[1:] or AREAS:
        text = (REFERENCE / file).read_text(encoding="utf-8")
        for _, killer in judged([Mutant(file, 0, "", "", "", text)]):
            if killer:
                sys.exit(f"{file}: nothing is changed yet, and something fails: {killer}")
        mutants = list(mutants_of(file, text))
        killed, survivors, listed = 0, [], set()
        with Progress(console=console, auto_refresh=False, transient=True) as progress:
            task = progress.add_task(file, total=len(mutants))
            for mutant, killer in judged(mutants):
                killed += bool(killer)
                if not killer:
                    (listed.add(mutant.key) if mutant.key in known else survivors.append(mutant))
                progress.advance(task)
                progress.refresh()
        changing = len(mutants) - len(listed)
        share = killed / changing
        console.print(
            f"{file}: {len(mutants)} mutants, {killed} killed, {len(survivors)} survive, "
            f"{len(listed)} equivalent: {share:.1%}"
        )
        for mutant in sorted(survivors, key=lambda each: each.line):
            console.print(
                f"  {mutant.line} {mutant.where}: {mutant.was}  ->  {mutant.becomes}",
                markup=False,
                soft_wrap=True,
            )
        if share < ENOUGH:
            trouble.append(f"{file}: the catalogue kills {share:.1%}, and {ENOUGH:.0%} is owed")
        trouble += [
            f"{file}: listed as equivalent, and no survivor any more: {key[1]}: {key[2]}  ->  {key[3]}"
            for key in known
            if key[0] == file and key not in listed
        ]
    for line in trouble:
        console.print(line, markup=False, soft_wrap=True)
    sys.exit(1 if trouble else 0)


if __name__ == "__main__":
    main()
