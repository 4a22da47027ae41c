"""Whoever does not ask for the kit does not pay for it."""

from __future__ import annotations

import sys

import pytest

SHOW = """
import sys

def pytest_unconfigure(config):
    print("loaded:", *sorted(name for name in sys.modules if name.partition(".")[0] in {names}))
"""
WATCHED = {
    "mcp",
    "mcp_types",
    "anyio",
    "pydantic",
    "click",
    "rich",
    "msgspec",
    "syrupy",
    "pytest_mcp_conformance",
    "mcp_conformance_reference",
}


@pytest.mark.parametrize("content", ["", "def test_own(): pass"])
def test_without_the_flag_only_the_entry_is_loaded(pytester, monkeypatch, content):
    # The plugins of other libraries load what they like.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(SHOW.replace("{names}", repr(WATCHED)))
    pytester.makepyfile(content)
    result = pytester.runpytest_subprocess("-p", "pytest_mcp_conformance.plugin")
    result.stdout.fnmatch_lines(["loaded: pytest_mcp_conformance pytest_mcp_conformance.plugin"])


def test_the_package_loads_its_names_when_they_are_touched(pytester):
    script = (
        "import sys, pytest_mcp_conformance as kit; before = set(sys.modules); "
        "assert 'pytest_mcp_conformance.contract' not in before; kit.Claims; "
        "assert 'pytest_mcp_conformance.contract' in sys.modules; assert 'mcp' not in sys.modules; "
        "assert 'adapter' in dir(kit)"
    )
    assert pytester.run(sys.executable, "-c", script).ret == 0


def test_every_public_name_can_be_had():
    import pytest_mcp_conformance as kit

    for name in kit.__all__:
        assert getattr(kit, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = kit.nothing
