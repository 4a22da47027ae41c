"""A badge and the summary of a CI job, from a report."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp_conformance.cli import main
from pytest_mcp_conformance.reports.badge import badge_of
from pytest_mcp_conformance.reports.markdown import escaped
from pytest_mcp_conformance.reports.reading import Report, ReportedRule, ReportedWrapper, read_report
from pytest_mcp_conformance.reports.summary import summary_of


def report(*rules, complete=True, name="acme"):
    wrapper = ReportedWrapper(
        name, "1.0", {"kept": 1}, {f"CCH-{n}": ReportedRule(*rule) for n, rule in enumerate(rules, 1)}
    )
    return Report(1, {"python": "3.13", "mcp": ""}, (wrapper,), complete)


KEPT, GAP = ("kept", "MUST"), ("known-gap", "MUST")


@pytest.mark.parametrize(
    ("rules", "message", "color"),
    [
        ([KEPT, KEPT], "2 kept", "brightgreen"),
        ([KEPT, GAP], "1 kept, 1 known gaps", "yellowgreen"),
        ([KEPT, ("broken", "SHOULD")], "1 kept, 1 broken", "yellow"),
        ([KEPT, ("broken", "MUST")], "1 kept, 1 broken", "red"),
        ([KEPT, ("not-testable", "MUST")], "1 kept, 1 not testable", "red"),
        ([("not-claimed", "MUST")], "nothing judged", "red"),
    ],
)
def test_a_badge_is_as_good_as_the_worst_verdict(rules, message, color):
    badge = badge_of(report(*rules))
    assert (badge["message"], badge["color"]) == (message, color)
    assert (badge["schemaVersion"], badge["label"]) == (1, "MCP conformance")


def test_the_badge_of_an_interrupted_run_is_red():
    assert badge_of(report(KEPT, complete=False))["message"] == "1 kept, interrupted"
    assert badge_of(report(KEPT, complete=False))["color"] == "red"


def test_a_summary_counts_and_shows_what_is_broken_and_folds_the_gaps_away():
    text = summary_of(report(KEPT, ("broken", "MUST", True, "served *old*"), GAP))
    assert "python 3.13\n" in text
    assert "| acme 1.0 | 1 | 0 | 0 | 0 | 0 |" in text
    assert "### Broken: acme 1.0" in text
    assert "| CCH-2 | MUST, inherited from the SDK |" in text
    assert "served &#42;old&#42;" in text
    assert text.index("<details><summary>Known gaps: acme 1.0 (1)") < text.index("| CCH-3 | MUST |")


@given(st.text())
def test_what_comes_from_a_wrapper_is_no_markup(text):
    line = escaped(text)
    assert "\n" not in line
    assert line.isprintable()
    assert not set(line.replace("&#", "").replace("&lt;", "").replace("&gt;", "").replace("&amp;", "")) & set(
        "<>`*_[]|~$@\\"
    )


@pytest.mark.parametrize("command", ["badge", "summary"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        ("what", "is no report"),
        ("[" * 100_000, "is no report"),
        (
            '{"format": 2, "environment": {}, "wrappers": [], "complete": true}',
            "a report of format 2, and this kit reads format 1",
        ),
    ],
)
def test_what_is_no_report_is_one_clear_error(tmp_path, command, content, told):
    path = tmp_path / "r.json"
    if content is not None:
        path.write_text(content)
    result = CliRunner().invoke(main, [command, str(path)])
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert "r.json" in result.output
    assert told in " ".join(result.output.split())


def test_the_commands_read_what_a_run_has_written(pytester):
    pytester.runpytest_subprocess(
        "--mcp-conformance", "--mcp-wrapper=reference", "--mcp-rule=CALL-3", "--mcp-report=r.json"
    )
    path = pytester.path / "r.json"
    assert read_report(path).wrappers[0].name == "reference"
    assert json.loads(CliRunner().invoke(main, ["badge", str(path)]).output)["message"] == "1 kept"
    assert "| reference " in CliRunner().invoke(main, ["summary", str(path), str(path)]).output
