"""Change the reference in one place after the other, and see whether the catalogue notices.

`python -m tests.mutants` judges every file and writes the page of the figures; `python -m tests.mutants
pool.py keys.py` judges these two. It fails where the catalogue notices less than nine in ten, and where
`looked_at.toml` does not say what is the case.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress

from tests.mutants.judging import REFERENCE
from tests.mutants.kept import Kept
from tests.mutants.looked_at import LookedAt
from tests.mutants.making import Mutant, mutants_of
from tests.mutants.running import judged

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

ENOUGH = 0.9


@dataclass(frozen=True)
class Tally:
    """What came of the mutants of one file.

    Attributes:
        file: The file's name.
        mutants: How many there are.
        equivalent: How many of them change nothing that a contract could see.
        killed: How many the catalogue noticed.
        unruled: The survivors that change what no rule speaks of, each line with its reason.
        trouble: What has to be done, a line each.
    """

    file: str
    mutants: int
    equivalent: int
    killed: int
    unruled: tuple[tuple[Mutant, str], ...]
    trouble: tuple[str, ...]

    @property
    def survivors(self) -> int:
        """How many change behaviour, and were not noticed."""
        return self.mutants - self.equivalent - self.killed

    @property
    def share(self) -> float:
        """How many of those that change behaviour are killed, between 0 and 1."""
        return self.killed / (self.mutants - self.equivalent)


def tally(file: str, kept: Kept, console: Console) -> Tally:
    """Judge the mutants of one file, in sight of whoever waits."""
    text = (REFERENCE / file).read_text(encoding="utf-8")
    for _, killer in judged([Mutant(file, 0, "", "", "", text)], AREAS[file]):
        if killer:
            sys.exit(f"{file}: nothing is changed yet, and something fails: {killer}")
    mutants = list(mutants_of(file, text))
    survivors = []
    with Progress(console=console, auto_refresh=False, transient=True) as progress:
        for mutant, killer in progress.track(
            kept.judged(mutants, AREAS[file]), len(mutants), description=file
        ):
            progress.refresh()
            if not killer:
                survivors.append(mutant)
    survivors.sort(key=lambda mutant: mutant.line)
    equivalent, unruled = LookedAt("equivalent", file), LookedAt("unruled", file)
    changing = [mutant for mutant in survivors if not equivalent.reason(mutant)]
    looked_at = [(mutant, reason) for mutant in changing if (reason := unruled.reason(mutant))]
    known = {mutant for mutant, _ in looked_at}
    return Tally(
        file,
        len(mutants),
        len(survivors) - len(changing),
        len(mutants) - len(survivors),
        tuple(looked_at),
        (
            *(f"{file}:{each.line}: survives: {each}" for each in changing if each not in known),
            *(f"{file}: looked_at.toml has what is no survivor: {line}" for line in equivalent.unseen()),
            *(f"{file}: looked_at.toml has what is no survivor: {line}" for line in unruled.unseen()),
        ),
    )


def main() -> None:
    """Judge the files named, or all."""
    console, kept = Console(highlight=False, soft_wrap=True, markup=False), Kept()
    tallies, trouble = [], []
    for file in sys.argv[1:] or AREAS:
        found = tally(file, kept, console)
        tallies.append(found)
        trouble += found.trouble
        console.print(
            f"{file}: {found.mutants} mutants, {found.equivalent} equivalent, {found.killed} killed, "
            f"{found.survivors} survive: {found.share:.1%}"
        )
        if found.share < ENOUGH:
            trouble.append(f"{file}: {found.share:.1%} of what changes behaviour, and {ENOUGH:.0%} is owed")
    if not sys.argv[1:]:
        from tests.pages import mutants_page  # which imports the reference

        path, page = mutants_page(tallies)
        path.write_text(page, encoding="utf-8")
    for line in trouble:
        console.print(line)
    sys.exit(1 if trouble else 0)


if __name__ == "__main__":
    main()
