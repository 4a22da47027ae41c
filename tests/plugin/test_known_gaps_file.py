"""A baseline that is not as it should be is one error that names the file and the entry."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.plugin.gaps import read_gaps
from tests.plugin.helpers import error_of

GOOD = '[[gap]]\nrule = "CALL-1"\nwrapper = "acme"\nreason = "known"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[gap", ["is not TOML"]),
        (GOOD + 'trouble = "x"', ["entry 1", "two entries"]),
        (GOOD.replace('rule = "CALL-1"', 'trouble = "*"'), ["entry 1", "whatever goes wrong"]),
        (GOOD.replace('rule = "CALL-1"', 'trouble = ""'), ["entry 1", "no rule"]),
        ("[gap]\nrule = 'CALL-1'", ["two brackets"]),
        ("gap = [1]", ["entry 1", "not a table"]),
        ("version = 1", ["unknown key 'version'", "[[gap]]"]),
        (GOOD + GOOD.replace("CALL-1", "CALL-999"), ["entry 2", "unknown rule 'CALL-999'", "did you mean"]),
        (GOOD.replace("CALL-1", "call-1"), ["unknown rule 'call-1'", "did you mean 'CALL-1'?"]),
        (GOOD.replace("CALL-1", "X"), ["unknown rule 'X'", "mcp-conformance rules"]),
        (GOOD.replace('reason = "known"', ""), ["entry 1", "no reason"]),
        (GOOD.replace('"known"', '"  "'), ["no reason"]),
        (GOOD.replace('wrapper = "acme"', ""), ["no wrapper"]),
        (GOOD.replace('"acme"', '"a[b"'), ["wrapper = 'a[b'"]),
        (GOOD.replace('"acme"', "7"), ["wrapper = 7 is not a text"]),
        (GOOD + 'link_ = "x"', ["unknown key 'link_'", "did you mean 'link'?"]),
        (GOOD + 'era = "modren"', ["unknown era 'modren'", "did you mean 'modern'?"]),
        (GOOD + 'sdk = "mcp 2"', ["sdk = 'mcp 2'", "mcp>=2,<3"]),
        (GOOD + 'strict = "false"', ["strict = 'false'", "without quotes"]),
        (GOOD + "strict = false", ["entry 1", "strict = false without confirmed"]),
        (GOOD + "sdk = \"mcp>=2; python_version<'3'\"", ["sdk = ", "mcp>=2,<3"]),
    ],
)
def test_a_baseline_is_refused_with_the_remedy(adapter, run, pytester, text, words):
    adapter()
    pytester.path.joinpath("gaps.toml").write_text(text)
    said = error_of(run("--mcp-known-gaps=gaps.toml"))
    for word in ["gaps.toml", *words]:
        assert word in said


def test_an_empty_baseline_is_one(adapter, run, pytester):
    adapter()
    pytester.path.joinpath("gaps.toml").write_text("")
    run("--mcp-known-gaps=gaps.toml").assert_outcomes(passed=11)


def test_an_entry_may_say_how_it_was_confirmed(tmp_path):
    baseline = tmp_path / "gaps.toml"
    baseline.write_text(GOOD + 'confirmed = "source: acme.client.call"')
    [gap] = read_gaps(baseline, "here").entries
    assert gap.confirmed == "source: acme.client.call"
