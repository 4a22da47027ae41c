"""The options of one run, read and checked once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_mcp_conformance.contract import ERAS, RULES, WAYS, UsageError, select_rules
from pytest_mcp_conformance.plugin.gaps import Gaps, read_gaps
from pytest_mcp_conformance.plugin.project import known_gaps_of_project
from pytest_mcp_conformance.reports.text import closest

__all__ = ["CONTRACT", "Options", "read_options"]

CONTRACT = "1.0"
"""The version of the rules that this kit holds."""

REPORTS = (".json",)


@dataclass(frozen=True)
class Options:
    """What the command line and the project's files ask for.

    Attributes:
        wrappers: Names and globs of `--mcp-wrapper`.
        selected: The ids of the rules that are judged.
        narrowed: True when `--mcp-rule` was given.
        eras: The eras that are played.
        way: The way in that is wanted; `None` has the first that scenario and wrapper share.
        strict: A broken SHOULD fails.
        gaps: The baseline.
        adopt: Where a first baseline is to be written.
        reports: The report files to be written.
        histories: The folder for the histories of items.
    """

    wrappers: tuple[str, ...]
    selected: frozenset[str]
    narrowed: bool
    eras: tuple[str, ...]
    way: str | None
    strict: bool
    gaps: Gaps
    adopt: Path | None
    reports: tuple[Path, ...]
    histories: Path | None = None


def read_options(config: pytest.Config) -> Options:
    """Read the options of `config`.

    Raises:
        UsageError: An option cannot be met; the message names it and what to write instead.
    """
    _assertions_must_be_alive(config)
    for reserved in ("--mcp-explore", "--mcp-replay"):
        if config.getoption(reserved) is not None:
            raise UsageError(
                f"{reserved} is a reserved name: this version plays the fixed scenarios only; leave it out"
            )
    contract = config.getoption("--mcp-contract") or CONTRACT
    if contract != CONTRACT:
        raise UsageError(
            f"--mcp-contract={contract}: this kit holds version {CONTRACT} of the rules; write {CONTRACT}"
        )
    patterns = tuple(config.getoption("--mcp-rule"))
    era = _one_of("--mcp-era", config.getoption("--mcp-era"), ERAS)
    return Options(
        wrappers=tuple(config.getoption("--mcp-wrapper")),
        selected=frozenset(rule.id for rule in select_rules(patterns)) if patterns else frozenset(RULES),
        narrowed=bool(patterns),
        eras=(era,) if era else ERAS,
        way=_one_of("--mcp-transport", config.getoption("--mcp-transport"), WAYS),
        strict=config.getoption("--mcp-strict"),
        gaps=_gaps(config),
        adopt=_adopt(config),
        reports=tuple(_report(config, name) for name in config.getoption("--mcp-report")),
        histories=_histories(config),
    )


def _assertions_must_be_alive(config: pytest.Config) -> None:
    if sys.flags.optimize:
        raise UsageError("--mcp-conformance under 'python -O': scenarios judge by assert; run without -O")
    if config.getoption("assertmode", "rewrite") == "plain":
        raise UsageError(
            "--mcp-conformance with --assert=plain: a verdict needs the asserted values; leave that out"
        )


def _one_of(option: str, value: str | None, known: tuple[str, ...]) -> str | None:
    if value is not None and value not in known:
        raise UsageError(f"{option}={value}: {closest(value, list(known))}; known are {', '.join(known)}")
    return value


def _gaps(config: pytest.Config) -> Gaps:
    given = config.getoption("--mcp-known-gaps")
    if given is not None:
        return read_gaps(_here(config, given), "--mcp-known-gaps")
    in_project = known_gaps_of_project(config.rootpath / "pyproject.toml")
    return read_gaps(in_project, "[tool.mcp-conformance] in pyproject.toml") if in_project else Gaps()


def _adopt(config: pytest.Config) -> Path | None:
    given = config.getoption("--mcp-write-known-gaps")
    if given is None:
        return None
    path = _in_a_folder("--mcp-write-known-gaps", _here(config, given))
    if path.exists():
        raise UsageError(
            f"--mcp-write-known-gaps={given}: the file exists and is not overwritten; "
            "remove it first, or use it with --mcp-known-gaps"
        )
    return path


def _report(config: pytest.Config, name: str) -> Path:
    path = _in_a_folder("--mcp-report", _here(config, name))
    if path.suffix == ".html":
        raise UsageError(
            f"--mcp-report={name}: there is no HTML report in this version; write a name that ends in .json"
        )
    if path.suffix not in REPORTS:
        raise UsageError(f"--mcp-report={name}: the suffix chooses the form; write a name that ends in .json")
    if path.is_dir():
        raise UsageError(f"--mcp-report={name}: that is a folder; name a file")
    return path


def _histories(config: pytest.Config) -> Path | None:
    given = config.getoption("--mcp-history")
    if given is None:
        return None
    path = _here(config, given)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"--mcp-history={given}: no folder can be made there, {error.strerror or error}; name another"
        ) from None
    return path


def _in_a_folder(option: str, path: Path) -> Path:
    if not path.parent.is_dir():
        raise UsageError(f"{option}={path}: there is no folder {path.parent}; make it first")
    return path


def _here(config: pytest.Config, name: str) -> Path:
    return config.invocation_params.dir / name
