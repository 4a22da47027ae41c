"""The judge of one mutant: the catalogue, played against the reference until something fails."""

from __future__ import annotations

import logging
import resource
import signal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from pytest_mcp_conformance.contract import Played, Verdict
from pytest_mcp_conformance.scenarios import CATALOGUE
from pytest_mcp_conformance.scenarios._player import play
from tests.cells import cells

__all__ = ["PACKAGE", "REFERENCE", "what_kills"]

PACKAGE = "mcp_conformance_reference"
REFERENCE = Path(__file__).parents[2] / "reference" / PACKAGE
CPU_LIMIT = 5.0
"""Seconds that one scenario may keep the processor busy; in virtual time they take milliseconds."""

REAL_LIMIT = 300
"""Real seconds in which one scenario ends, on a machine that has other things to do as well."""

MEMORY_LIMIT = 2 << 30
"""Bytes: a loop that never ends may gather for ever."""


class InItsPlace(MetaPathFinder, SourceFileLoader):
    """Gives one module of the reference another text.

    Args:
        module: The module's whole name.
        path: Its file.
        code: The other text.
    """

    def __init__(self, module: str, path: Path, code: str) -> None:
        super().__init__(module, str(path))
        self._code = code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Its own module, and no other."""
        return spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        """The other text, compiled."""
        return compile(self._code, self.path, "exec")


def what_kills(file: str, code: str, areas: tuple[str, ...]) -> str:
    """Play the catalogue with another text of one file; to be called once in a process of its own.

    Args:
        file: The file of the reference that has another text.
        code: The text.
        areas: The scenario files that are about it, which are played first.

    Returns:
        The rule that the first failure is about, or what else went wrong; empty where nothing fails.
    """
    assert PACKAGE not in sys.modules, "the reference was imported before it could be changed"
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    sys.meta_path.insert(0, InItsPlace(f"{PACKAGE}.{Path(file).stem}", REFERENCE / file, code))
    try:
        from pytest_mcp_conformance.adapters.reference import adapter_ as reference
    except Exception as error:
        return f"the import: {type(error).__name__}"
    nearest = sorted(CATALOGUE, key=lambda each: each.play.__module__.rpartition(".")[2] not in areas)
    for scenario, era, variant in cells(reference, tuple(nearest)):
        signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT)  # ends the process, and so does the next line
        signal.alarm(REAL_LIMIT)
        failure = _failure(play(scenario, reference, era=era, variant=variant, compare=False))
        if failure:
            return f"{failure} in {scenario.name}"
    return ""


def _failure(played: Played) -> str:
    """What fails an item of the plugin, or breaks a rule at any level."""
    for judgement in played.judgements:
        if judgement.verdict not in (Verdict.KEPT, Verdict.NOT_CLAIMED):
            return judgement.rule
    for probe in played.probes:
        if not probe.agrees:
            return f"the probe of {probe.claim}"
    return played.adapter_error or "; ".join(played.trouble)
