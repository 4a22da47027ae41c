"""The end of a run: report files, the baseline, closed gaps, and the summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_mcp_conformance.plugin import stopped
from pytest_mcp_conformance.plugin.adopting import baseline
from pytest_mcp_conformance.plugin.closing import closed_gaps
from pytest_mcp_conformance.plugin.options import CONTRACT, Options
from pytest_mcp_conformance.plugin.results import Results
from pytest_mcp_conformance.reports.json import document, dumped, write_atomically
from pytest_mcp_conformance.reports.terminal import Excuse, Line, lines_of
from pytest_mcp_conformance.reports.text import one_line
from pytest_mcp_conformance.reports.verdicts import WrapperVerdicts

__all__ = ["Ending"]

_RED = {"red": True}


class Ending:
    """Writes and says what a run found, once, in the process that talks to the user."""

    def __init__(self, config: pytest.Config, options: Options, results: Results) -> None:
        self._config = config
        self._options = options
        self._results = results
        self._lines: list[Line] = []
        self._unwritten: list[str] = []

    def blame(self, unwritten: str) -> None:
        """Note a file of an item's that could not be written."""
        self._unwritten.append(unwritten)

    def finish(self, session: pytest.Session) -> None:
        """Write the files and give the run its exit code."""
        if self._config.getoption("collectonly"):
            return
        complete = self._is_complete(session)
        if self._unwritten:
            self._lines += [Line(one_line(each), _RED) for each in self._unwritten]
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        # A baseline that is being written leaves closed gaps out by itself.
        if self._options.adopt is None and not stopped(self._config):
            self._look_for_closed_gaps(session)
        for path in self._options.reports:
            text = dumped(document(self._results.verdicts(), contract=CONTRACT, complete=complete))
            self._write(session, path, text, "report")
        if self._options.adopt is not None:
            self._adopt(session, self._options.adopt, complete=complete)

    def summarise(self, reporter: pytest.TerminalReporter) -> None:
        """Print the section, unless there is nothing to say."""
        wrappers = self._results.verdicts()
        lines = [*lines_of(wrappers, self._excuses(wrappers), strict=self._options.strict), *self._lines]
        if lines:
            reporter.ensure_newline()
            reporter.section("MCP conformance")
        for line in lines:
            reporter.write_line(line.text, **line.markup)

    def _look_for_closed_gaps(self, session: pytest.Session) -> None:
        closed = closed_gaps(self._options.gaps, self._results.entries, self._options)
        self._lines += [Line(f"known gap closed: {line}", _RED) for line in closed]
        if closed and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _is_complete(self, session: pytest.Session) -> bool:
        whole = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        return session.exitstatus in whole and not (
            session.shouldstop or session.shouldfail or stopped(self._config)
        )

    def _adopt(self, session: pytest.Session, path: Path, *, complete: bool) -> None:
        if not complete:
            self._lines.append(Line(f"known gaps not written to {path}: the run was interrupted", _RED))
            return
        text, number = baseline(self._results.verdicts(), self._options)
        self._write(session, path, text, f"known gaps ({number})")

    def _write(self, session: pytest.Session, path: Path, text: str, what: str) -> None:
        try:
            write_atomically(path, text)
        except OSError as error:
            self._lines.append(Line(f"{what} not written to {path}: {error.strerror or error}", _RED))
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        else:
            self._lines.append(Line(f"{what} written to {path}"))

    def _excuses(self, wrappers: tuple[WrapperVerdicts, ...]) -> dict[tuple[str, str], Excuse]:
        found = {}
        for wrapper in wrappers:
            for verdict in wrapper.rules.values():
                for era in sorted(verdict.eras):
                    gap = self._options.gaps.find(verdict.rule.id, wrapper.name, era)
                    if gap is not None:
                        found[wrapper.name, verdict.rule.id] = Excuse(gap.reason, gap.link)
        return found
