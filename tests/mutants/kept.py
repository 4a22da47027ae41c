"""What was judged already, so that a run that was cut short goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest_mcp_conformance
from tests.mutants.judging import REFERENCE
from tests.mutants.making import Mutant
from tests.mutants.running import judged

__all__ = ["Kept"]

PLACE = Path(__file__).parents[2] / ".mutants"


class Kept:
    """The outcomes of one state of the code, a line each, in a file that git does not see."""

    def __init__(self) -> None:
        state = sha256()
        for folder in (Path(pytest_mcp_conformance.__file__).parent, REFERENCE, Path(__file__).parent):
            for path in sorted(folder.rglob("*.py")):
                state.update(path.read_bytes())
        PLACE.mkdir(exist_ok=True)
        self._path = PLACE / f"{state.hexdigest()[:16]}.jsonl"
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else ()
        self._known: dict[str, str] = dict(json.loads(line) for line in lines)

    def judged(self, mutants: Iterable[Mutant], areas: tuple[str, ...]) -> Iterator[tuple[Mutant, str]]:
        """As `running.judged`; what is known is not judged again."""
        new = []
        for mutant in mutants:
            if (name := _name(mutant)) in self._known:
                yield mutant, self._known[name]
            else:
                new.append(mutant)
        with self._path.open("a", encoding="utf-8") as file:
            for mutant, killer in judged(new, areas):
                file.write(json.dumps([_name(mutant), killer]) + "\n")
                file.flush()
                yield mutant, killer


def _name(mutant: Mutant) -> str:
    return f"{mutant.file} {sha256(mutant.code.encode()).hexdigest()}"
