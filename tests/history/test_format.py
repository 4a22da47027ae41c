"""What stands in the file is what the page and the schema say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import get_args

import jsonschema
import msgspec
import pytest

from pytest_mcp_conformance.history import KINDS, Entry, Footer, Header, History, Listed, schema
from pytest_mcp_conformance.history.entry import Kind
from tests.history.plays import lists_and_calls, recorded
from tests.pages import REFERENCE, schema_of_histories

PAGE = (REFERENCE / "history.md").read_text(encoding="utf-8")
LINES = jsonschema.Draft202012Validator(schema())


def test_every_kind_is_one_that_a_line_may_have():
    assert get_args(Kind) == tuple(KINDS)


def test_the_page_has_a_row_for_every_kind_and_says_what_it_means():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    assert {kind: rows.get(kind) for kind in KINDS} == KINDS


@pytest.mark.parametrize("line", [Header, Entry, Listed, Footer])
def test_the_page_has_a_row_for_every_field(line):
    section = PAGE.split(f"\n### {line.__name__}\n")[1].split("\n#")[0]
    named = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert named == [field.name for field in msgspec.structs.fields(line)]


def test_every_field_is_described_in_the_schema():
    parts = schema()["$defs"]
    undescribed = [
        (part, field)
        for part, about in parts.items()
        for field, told in about["properties"].items()
        if not told.get("description")
    ]
    assert undescribed == []


def test_the_schema_beside_the_page_is_that_of_the_code():
    path, text = schema_of_histories()
    assert path.read_text(encoding="utf-8") == text, "run python -m tests.generate"


def test_every_line_of_a_play_fits_the_schema(tmp_path):
    path = tmp_path / "one.history.jsonl"
    recorded(path, lists_and_calls)
    lines = path.read_text(encoding="ascii").splitlines()
    assert len(lines) > 15
    for line in lines:
        LINES.validate(json.loads(line))


@pytest.mark.parametrize(
    "line",
    [
        {"n": 1, "at": 0.0, "kind": "overheard"},
        {"n": 0, "at": 0.0, "kind": "asked"},
        {"n": 1, "at": 0.0, "kind": "asked", "message": {}},
        {"n": 1, "at": 0.0, "kind": "asked", "arguments": "in clear"},
        {"history": 1},
        {"events": -1},
    ],
)
def test_the_schema_takes_nothing_else(line):
    assert not LINES.is_valid(line)


def test_reading_needs_neither_pytest_nor_the_sdk(tmp_path):
    path = tmp_path / "one.history.jsonl"
    read = recorded(path, lists_and_calls)
    script = (
        "import sys; from pytest_mcp_conformance import History; "
        f"print(sum(1 for _ in History.load({str(path)!r})), "
        "sorted({'pytest', 'mcp', 'anyio'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True)
    assert told.stdout.strip() == f"{sum(1 for _ in read)} []"


def test_the_kit_hands_out_the_reader():
    import pytest_mcp_conformance as kit

    assert kit.History is History
