"""The table of wrappers: what it takes, and what it says of the rest."""

from __future__ import annotations

import re

import pytest

from pytest_mcp_conformance.adapters import BUNDLED
from pytest_mcp_conformance.contract import UsageError
from pytest_mcp_conformance.matrix.table import PACKAGED, Row, chosen, read_table
from pytest_mcp_conformance.plugin.project import read_toml
from tests.wrappers_matrix.places import ROOT

ACME = '[[wrapper]]\nadapter = "acme"\npackage = "acme-mcp"\nversion = "1.0"\n'


def test_a_row_says_what_is_installed_and_where_its_known_gaps_are(tmp_path):
    (tmp_path / "known_gaps").mkdir()
    gaps = tmp_path / "known_gaps" / "acme-1.0.toml"
    gaps.touch()
    table = tmp_path / "wrappers.toml"
    table.write_text(ACME + 'pins = ["mcp==2.3.0"]\nfrom = "acme.testing:adapter_"\n')
    (row,) = read_table(table)
    assert row == Row("acme", "acme-mcp", "1.0", ("mcp==2.3.0",), "acme.testing:adapter_", gaps)
    assert (row.key, row.requirements) == ("acme-1.0", ("acme-mcp==1.0", "mcp==2.3.0"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there is no wrapper in it"),
        ("wrapper = 1", "there is no wrapper in it"),
        ("[[", "is not TOML"),
        ("[other]", "unknown key 'other'"),
        ("wrapper = [1]", "wrapper 1: not a table"),
        (ACME + "pin = []", "wrapper 1: unknown key 'pin': did you mean 'pins'?"),
        (ACME.replace('"1.0"', "1.0"), "wrapper 1: no version"),
        (ACME.replace('"1.0"', '"one"'), "version = 'one' is no version"),
        (ACME.replace('"acme"', '"../acme"'), "adapter = '../acme' cannot be a name"),
        (ACME.replace('"acme-mcp"', '"--index-url=x"'), "is no name of a package"),
        (ACME + 'pins = "mcp"', "is no list of requirements"),
        (ACME + 'pins = ["--pre"]', "pin '--pre' is no requirement"),
        (ACME + 'from = "acme"', "is no place of an adapter"),
        (ACME + 'from = "acme:a\\nmcp_adapters = x"', "is no place of an adapter"),
        (ACME + ACME, "wrappers 1 and 2 are both acme-1.0"),
    ],
)
def test_what_is_no_table_is_told_of_with_its_place(text, told, tmp_path):
    table = tmp_path / "wrappers.toml"
    table.write_text(text)
    with pytest.raises(UsageError, match=re.escape(told)):
        read_table(table)


def test_a_table_that_is_not_there_is_told_of(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        read_table(tmp_path / "none.toml")


def test_rows_are_chosen_by_adapter_package_version_and_glob():
    rows = (Row("one", "p-one", "1"), Row("one", "p-one", "2"), Row("two", "p-two", "1"))
    assert chosen(rows, ()) == rows
    assert chosen(rows, ("one",)) == rows[:2]
    assert chosen(rows, ("one-2", "p-two")) == rows[1:]
    assert chosen(rows, ("*-1",)) == (rows[0], rows[2])
    with pytest.raises(UsageError, match="'ones' fits no wrapper of the table: did you mean 'one'"):
        chosen(rows, ("ones",))


def test_the_packaged_table_is_of_bundled_adapters_and_every_file_of_gaps_has_its_row():
    rows = read_table()
    assert [row.adapter for row in rows if row.adapter not in BUNDLED and not row.module] == []
    files = {path.stem for path in (PACKAGED.parent / "known_gaps").glob("*.toml")}
    assert files - {row.key for row in rows} == set()


def test_the_known_gaps_of_the_sdk_are_those_that_this_repository_has():
    """They stand in two places, and say the same in both."""
    ours = {(gap["rule"], gap["reason"]) for gap in read_toml(ROOT / "tests" / "known_gaps.toml", "")["gap"]}
    for row in read_table():
        if row.package == "mcp" and row.gaps is not None:
            packaged = {(gap["rule"], gap["reason"]) for gap in read_toml(row.gaps, "")["gap"]}
            assert packaged - ours == set(), row.key
