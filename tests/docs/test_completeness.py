"""The reference pages name everything that they are about, and nothing that is not there."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from pytest_mcp_conformance import plugin
from pytest_mcp_conformance.adapters import BUNDLED
from pytest_mcp_conformance.contract import CLAIMS, EXCUSES, RULES, VERBS, Verdict
from pytest_mcp_conformance.scenarios.claims import BY_CLAIM
from pytest_mcp_conformance.server import STEPS
from tests.docs.examples import DOCS
from tests.docs.faults import rows as fault_rows

REFERENCE = DOCS / "reference"


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """The rows of the tables under a heading, by the name in their first cell."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    section = re.split(rf"^#+ {re.escape(heading)}$", text, flags=re.MULTILINE)[1]
    section = re.split(r"^#+ ", section, flags=re.MULTILINE)[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if line[:1] == "|"
    ]
    return {row[0].strip("`"): row[1:] for row in cells if row[0].startswith("`")}


def verbs() -> dict[str, list[str]]:
    return rows("claims.md", "Verbs") | rows("claims.md", "White-box verbs")


def rules_in(text: str) -> list[str]:
    return re.findall(r"[A-Z]{2,4}-\d+", text)


def needing(name: str) -> list[str]:
    return [rule.id for rule in RULES.values() if any(name in need.split(" or ") for need in rule.needs)]


def test_every_option_has_a_row():
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "--help"], capture_output=True, encoding="utf-8", check=True
    )
    named = [re.match(r"--[\w-]+", name)[0] for name in rows("options.md", "Command line")]
    assert named == re.findall(r"^  (--mcp-[\w-]+)", told.stdout, re.MULTILINE)


def test_every_fixture_has_a_heading():
    headings = re.findall(
        r"^## `(\w+)`$", (REFERENCE / "fixtures.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    given = [name for name, value in vars(plugin).items() if isinstance(value, type(plugin.mcp_server))]
    assert [name for name in headings if name != "mcp_adapter"] == given


def test_every_claim_has_a_row_of_its_kind():
    promises, excuses = rows("claims.md", "Promises"), rows("claims.md", "Excuses")
    assert list(promises) == [name for name in CLAIMS if name not in EXCUSES]
    assert set(excuses) == EXCUSES


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_says_what_it_unlocks_and_whether_it_is_tried(claim):
    *_, unlocks, probe = {**rows("claims.md", "Promises"), **rows("claims.md", "Excuses")}[claim]
    assert probe == ("yes" if claim in BY_CLAIM else "no")
    if claim not in EXCUSES:
        assert rules_in(unlocks) == needing(claim)


def test_every_verb_has_a_row():
    assert list(verbs()) == list(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_names_the_rules_or_the_areas_that_need_it(verb):
    told = re.findall(r"[A-Z]{3,4}(?:-\d+)?", verbs()[verb][-1])
    assert [rule for rule in needing(verb) if not {rule, RULES[rule].area} & {*told}] == []


def test_every_verdict_has_a_row():
    assert set(rows("verdicts.md", "The verdict on a rule")) == {verdict.value for verdict in Verdict}


def test_the_page_of_adapters_names_every_bundled_one():
    text = (DOCS / "how-to" / "write-an-adapter.md").read_text(encoding="utf-8")
    assert [name for name in BUNDLED if f"| `{name}` |" not in text] == []


def test_the_page_of_the_scripted_server_names_every_fault_and_step():
    text = (DOCS / "how-to" / "use-the-scripted-server.md").read_text(encoding="utf-8")
    section = text.partition("## Have it suffer a fault")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("| `")] == fault_rows()
    assert [step for step in STEPS if f"`{step}`" not in section] == []


def test_every_rule_that_a_page_names_is_there():
    named = {
        rule
        for page in DOCS.rglob("*.md")
        if "rules" not in page.parts
        for rule in re.findall(
            r"\b(?:CCH|PAG|NTC|CHK|CALL|CONN|TEN|TOOL)-\d+\b", page.read_text(encoding="utf-8")
        )
    }
    assert sorted(named - RULES.keys()) == []
