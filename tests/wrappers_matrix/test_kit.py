"""What a result depends on: the kit, the adapter of its wrapper, and no other."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.matrix.kit import kit_of

FILES = {
    "contract/rules.py": "",
    "contract/wrong_wrappers.json": "{}",
    "matrix/page.py": "",
    "adapters/__init__.py": "",
    "adapters/_shared.py": "",
    "adapters/_calls.py": "from pytest_mcp_conformance.adapters import _shared as ours",
    "adapters/mcp_session.py": "",
    "adapters/acme_tools.py": "from pytest_mcp_conformance.adapters._calls import name_of",
    "adapters/other.py": "import json",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "pytest_mcp_conformance" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "of"),
    [
        ("contract/rules.py", {"acme-tools", "other"}),
        ("contract/wrong_wrappers.json", set()),
        ("matrix/page.py", set()),
        ("adapters/__init__.py", {"acme-tools", "other"}),
        ("adapters/_shared.py", {"acme-tools"}),
        ("adapters/_calls.py", {"acme-tools"}),
        ("adapters/mcp_session.py", {"acme-tools", "other"}),
        ("adapters/acme_tools.py", {"acme-tools"}),
        ("adapters/other.py", {"other"}),
    ],
)
def test_a_change_asks_for_new_results_where_it_has_a_part_in_them(folder, changed, of):
    before = kit_of(str(folder))
    (folder / "pytest_mcp_conformance" / changed).write_text("# another\n")
    after = kit_of(str(folder))
    names = ("acme-tools", "other")
    assert {name for name in names if before.state_for(name) != after.state_for(name)} == of
