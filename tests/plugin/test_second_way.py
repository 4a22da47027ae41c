"""A visible test in a file of the user's own, and the server for tests of other things."""

from __future__ import annotations

import json

import pytest

from tests.plugin.helpers import declared, error_of, hook
from tests.plugin.test_sources import FIXTURE

TEST = "def test_mcp(mcp_scenario):\n    mcp_scenario.play()\n"
ALL = 11


def test_a_test_of_the_users_plays_the_whole_catalogue(adapter, run, pytester):
    adapter("CALL-1=broken CCH-15=not-claimed")
    pytester.makepyfile(test_own=TEST)
    result = run(flag=False)
    result.assert_outcomes(failed=1, passed=ALL - 1)
    result.stdout.fnmatch_lines(
        [
            "CALL-1 MUST*",
            '     again     pytest "test_own.py::test_mcp?one_request_a_call-acme-memory-modern?"',
            "acme 1.0: 3 kept, 1 broken, 1 not claimed",
        ]
    )


def test_options_keywords_and_markers_apply(adapter, run, pytester):
    adapter()
    pytester.makepyfile(test_own=TEST + "def test_other(): pass\n")
    run("--mcp-rule=CALL-1", flag=False).assert_outcomes(passed=2)
    run("--mcp-era=modern", "-m", "mcp_conformance", flag=False).assert_outcomes(passed=5, deselected=1)
    run("-k", "CCH-13", flag=False).assert_outcomes(passed=3, deselected=ALL - 3 + 1)


def test_a_scenario_says_what_it_is(adapter, run, pytester):
    adapter()
    pytester.makepyfile(
        "def test_mcp(mcp_scenario):\n"
        "    assert (mcp_scenario.name, mcp_scenario.wrapper) == ('one_request_a_call', 'acme')\n"
        "    assert mcp_scenario.era == 'modern'\n"
        "    assert mcp_scenario.variant == '' and mcp_scenario.rules == ('CALL-1',)\n"
        "    assert repr(mcp_scenario) == '<one_request_a_call [acme-memory-modern]>'\n"
    )
    run("--mcp-rule=CALL-1", flag=False).assert_outcomes(passed=1)


def test_the_catalogue_and_the_test_can_stand_in_one_run(adapter, run, pytester):
    adapter("CALL-1=broken")
    pytester.makepyfile(test_own=TEST)
    run("--mcp-report=out.json").assert_outcomes(failed=2, passed=2 * ALL - 2)
    rule = json.loads((pytester.path / "out.json").read_text())["wrappers"][0]["rules"]["CALL-1"]
    assert rule["items"] == [
        "test_own.py::test_mcp[one_request_a_call-acme-memory-modern]",
        "mcp-conformance::one_request_a_call[acme-memory-modern]",
    ]


def test_the_fixture_of_a_conftest_above_gives_the_adapter(run, pytester):
    folder = pytester.mkdir("checks")
    folder.joinpath("conftest.py").write_text(declared() + FIXTURE.format(arguments="tmp_path"))
    folder.joinpath("test_own.py").write_text(TEST)
    elsewhere = pytester.mkdir("elsewhere")
    elsewhere.joinpath("conftest.py").write_text(declared(name="other") + hook("other"))
    result = run(flag=False)
    result.assert_outcomes(passed=ALL)
    assert "acme 1.0: 5 kept" in result.outlines


def test_a_fixture_with_parameters_is_refused(run, pytester):
    pytester.makeconftest(
        declared() + "import pytest\n@pytest.fixture(params=[1, 2])\ndef mcp_adapter(request): return acme\n"
    )
    pytester.makepyfile(test_own=TEST)
    assert "is parametrized" in error_of(run(flag=False))


@pytest.mark.parametrize("arguments", [(), ("-n", "1")])
def test_no_adapter_is_a_usage_error(run, pytester, arguments):
    pytester.makepyfile(test_own=TEST)
    assert "there is no adapter" in error_of(run(*arguments, flag=False))


def test_an_option_that_cannot_be_met_is_a_usage_error(adapter, run, pytester):
    adapter()
    pytester.makepyfile(test_own=TEST)
    assert "--mcp-era=modren" in error_of(run("--mcp-era=modren", flag=False))


def test_workers_report_to_a_process_that_was_not_asked(adapter, run, pytester):
    adapter("CALL-1=broken")
    pytester.makepyfile(test_own=TEST)
    result = run("-n", "1", flag=False)
    result.assert_outcomes(failed=1, passed=ALL - 1)
    result.stdout.fnmatch_lines(["acme 1.0: 4 kept, 1 broken"])


def test_a_process_that_dies_is_a_verdict_here_too(adapter, run, pytester):
    adapter("exit=one_request_a_call")
    pytester.makepyfile(test_own=TEST)
    result = run("-n", "1", "--mcp-conformance", "test_own.py", "-k", "test_mcp", flag=False)
    result.assert_outcomes(failed=1, passed=ALL - 1)
    result.stdout.fnmatch_lines(["     found     the process died while playing one_request_a_call"])


def test_a_server_can_be_had_for_any_test(run, pytester):
    pytester.makepyfile(
        """
        import pytest
        from pytest_mcp_conformance.server import ScriptedServer

        def test_default(mcp_server):
            assert isinstance(mcp_server, ScriptedServer)
            assert mcp_server.era == "handshake"

        @pytest.mark.mcp_era("modern")
        def test_chosen(mcp_server):
            assert mcp_server.era == "modern"

        @pytest.mark.mcp_era("modren")
        def test_misspelt(mcp_server):
            pass
        """
    )
    result = run(flag=False)
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*@pytest.mark.mcp_era('modren'): write one of 'handshake', 'modern'*"])
    assert " MCP conformance " not in result.stdout.str()
