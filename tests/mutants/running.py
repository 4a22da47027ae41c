"""Every mutant in a process of its own, a few at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from tests.mutants.judging import what_kills
from tests.mutants.making import Mutant

__all__ = ["judged"]

WORKERS = os.cpu_count() or 1


def judged(mutants: Iterable[Mutant], areas: tuple[str, ...]) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with what kills it, empty where nothing does, as they come to their ends.

    Args:
        mutants: The mutants.
        areas: The scenario files that are played first.
    """
    fork = get_context("fork")  # the SDK is imported once, the reference in each child
    running: dict[Any, tuple[Mutant, Connection, Any]] = {}
    left = iter(mutants)
    while True:
        while len(running) < WORKERS and (mutant := next(left, None)) is not None:
            hear, tell = fork.Pipe(duplex=False)
            child = fork.Process(target=_judge, args=(mutant, areas, tell))
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


def _judge(mutant: Mutant, areas: tuple[str, ...], tell: Connection) -> None:
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # a mutant's last words
    tell.send(what_kills(mutant.file, mutant.code, areas))
