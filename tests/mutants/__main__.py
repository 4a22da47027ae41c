"""Change the reference in one place after the other, and see whether the catalogue notices.

`python -m tests.mutants` judges every file, `python -m tests.mutants pool.py keys.py` these two. It fails
where the catalogue notices less than nine in ten, and where `looked_at.toml` does not say what is the case.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from rich.console import Console
from rich.progress import Progress

from tests.mutants.judging import REFERENCE, what_kills
from tests.mutants.looked_at import LookedAt
from tests.mutants.making import Mutant, mutants_of

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
"""The files that are changed, and the scenarios that are about each, which are played first."""

WORKERS = 2
ENOUGH = 0.9


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


def judge_file(file: str, console: Console) -> Iterator[str]:
    """Judge the mutants of one file and print what came out; gives what is wrong with it."""
    text = (REFERENCE / file).read_text(encoding="utf-8")
    for _, killer in judged([Mutant(file, 0, "", "", "", text)]):
        if killer:
            sys.exit(f"{file}: nothing is changed yet, and something fails: {killer}")
    mutants = list(mutants_of(file, text))
    survivors = []
    with Progress(console=console, auto_refresh=False, transient=True) as progress:
        for mutant, killer in progress.track(judged(mutants), len(mutants), description=file):
            progress.refresh()
            if not killer:
                survivors.append(mutant)
    equivalent, unruled = LookedAt("equivalent", file), LookedAt("unruled", file)
    changing = [mutant for mutant in survivors if not equivalent.has(mutant)]
    new = sorted((mutant for mutant in changing if not unruled.has(mutant)), key=lambda mutant: mutant.line)
    same, killed = len(survivors) - len(changing), len(mutants) - len(survivors)
    share = killed / (killed + len(changing))
    console.print(
        f"{file}: {len(mutants)} mutants, {same} equivalent, {killed} killed, {len(changing)} survive: "
        f"{share:.1%}"
    )
    if share < ENOUGH:
        yield f"{file}: the catalogue kills {share:.1%} of what changes behaviour, and {ENOUGH:.0%} is owed"
    for each in new:
        yield f"{file}:{each.line}: survives in {each.where or 'the module'}: {each.was}  ->  {each.becomes}"
    for line in equivalent.unseen() + unruled.unseen():
        yield f"{file}: looked_at.toml has what is no survivor: {line}"


def main() -> None:
    """Judge the files named, or all."""
    console = Console(highlight=False)
    trouble = [line for file in sys.argv[1:] or AREAS for line in judge_file(file, console)]
    for line in trouble:
        console.print(line, markup=False, soft_wrap=True)
    sys.exit(1 if trouble else 0)


if __name__ == "__main__":
    main()
