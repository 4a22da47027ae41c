"""Where adapters come from, and what is said when they do not."""

from __future__ import annotations

import pytest

from pytest_mcp_conformance.adapters import bundled
from tests.plugin.helpers import declared, error_of, hook

FIXTURE = """
import pytest

@pytest.fixture
def mcp_adapter({arguments}):
    return acme
"""


def names_of(result: pytest.RunResult) -> set[str]:
    """The wrappers that `--collect-only -q` shows."""
    return {line.split("[")[1].split("-memory")[0] for line in result.outlines if "::" in line}


def collected(run, *arguments: str) -> set[str]:
    return names_of(run("--collect-only", "-q", *arguments))


@pytest.mark.parametrize("folder", ["tests", "checks"])
def test_a_hook_in_a_nested_conftest_is_heard(run, pytester, folder):
    pytester.mkdir(folder).joinpath("conftest.py").write_text(declared() + hook("acme"))
    assert collected(run) == {"acme"}
    assert collected(run, folder) == {"acme"}


def test_a_hook_may_take_no_argument(run, pytester):
    pytester.makeconftest(declared() + hook("acme").replace("(config)", "()"))
    assert collected(run) == {"acme"}


def test_several_hooks_add_up(run, pytester):
    pytester.makeconftest(declared() + hook("acme"))
    pytester.mkdir("tests").joinpath("conftest.py").write_text(declared(name="other") + hook("other"))
    assert collected(run) == {"acme", "other"}


def test_a_fixture_in_the_root_conftest_gives_an_adapter(run, pytester):
    pytester.makeconftest(declared() + FIXTURE.format(arguments=""))
    assert collected(run) == {"acme"}
    run().assert_outcomes(passed=11)


def test_a_fixture_in_a_nested_conftest_gives_an_adapter(run, pytester):
    folder = pytester.mkdir("checks")
    folder.joinpath("conftest.py").write_text(declared() + FIXTURE.format(arguments=""))
    run().assert_outcomes(passed=11)
    folder.joinpath("test_own.py").write_text("def test_own(): pass")
    run("mcp-conformance").assert_outcomes(passed=11)


def test_a_fixture_may_rest_on_other_fixtures(run, pytester):
    pytester.makeconftest(declared() + FIXTURE.format(arguments="tmp_path, monkeypatch"))
    run().assert_outcomes(passed=11)


@pytest.mark.parametrize("scope", ["module", "package", "session"])
def test_a_fixture_may_have_a_wider_scope(run, pytester, scope):
    source = declared() + FIXTURE.format(arguments="")
    pytester.makeconftest(source.replace("@pytest.fixture", f"@pytest.fixture(scope={scope!r})"))
    run().assert_outcomes(passed=11)


def test_a_fixture_with_parameters_gives_an_adapter_for_each(run, pytester):
    pytester.makeconftest(
        declared(name="first")
        + declared(name="second")
        + """
import pytest

@pytest.fixture(params=[first, second], ids=lambda each: each.name)
def mcp_adapter(request):
    return request.param
"""
    )
    result = run()
    result.assert_outcomes(passed=22)
    result.stdout.fnmatch_lines(["first 1.0: 5 kept", "second 1.0: 5 kept"])


def test_an_adapter_that_is_called_mcp_adapter_is_no_fixture(run, pytester):
    pytester.makeconftest(declared(variable="mcp_adapter") + hook("mcp_adapter"))
    assert collected(run) == {"acme"}


@pytest.mark.parametrize("names", ["reference acme_testing:acme", "\n  reference\n  acme_testing:acme"])
def test_the_ini_file_names_adapters(run, pytester, names):
    pytester.makepyfile(acme_testing=declared())
    pytester.makeini(f"[pytest]\npythonpath = .\nmcp_adapters = {names}")
    assert collected(run) == {"reference", "acme"}


def test_a_bundled_adapter_needs_no_file_at_all(run):
    assert collected(run, "--mcp-wrapper=reference") == {"reference"}


def test_a_wrapper_is_picked_by_name_among_all(run, pytester):
    pytester.makeconftest(declared() + declared(name="other") + hook("acme", "other"))
    assert collected(run) == {"acme", "other"}
    assert collected(run, "--mcp-wrapper=other") == {"other"}
    assert collected(run, "--mcp-wrapper=ac*", "--mcp-wrapper=reference") == {"acme", "reference"}
    assert collected(run, "--mcp-wrapper=*") == {"acme", "other", *bundled()}


def test_an_adapter_that_is_named_twice_is_played_once(run, pytester):
    pytester.makeconftest(declared() + hook("acme", "acme"))
    pytester.makeini("[pytest]\nmcp_adapters = reference reference")
    assert collected(run, "--mcp-wrapper=acme", "--mcp-wrapper=a*") == {"acme"}
    run("--mcp-wrapper=acme").assert_outcomes(passed=11)


def test_no_adapter_is_an_error_that_names_the_bundled_ones(run):
    said = error_of(run())
    assert "there is no adapter" in said
    assert "pytest_mcp_adapters" in said
    for name in bundled():
        assert name in said


def test_an_unknown_wrapper_is_an_error_with_a_close_match(run, pytester):
    pytester.makeconftest(declared() + hook("acme"))
    said = error_of(run("--mcp-wrapper=acne"))
    assert "--mcp-wrapper=acne" in said
    assert "did you mean 'acme'?" in said


def test_a_bundled_adapter_whose_package_is_missing_is_told_as_that(run, monkeypatch):
    from pytest_mcp_conformance.plugin import sources

    monkeypatch.setattr(sources, "BUNDLED", {"reference": "mcp", "elsewhere": "elsewhere>=7"})
    assert "needs elsewhere>=7, which is not installed here" in error_of(run("--mcp-wrapper=elsewhere"))


def test_a_bundled_adapter_that_cannot_be_imported_is_told_in_one_line_and_stops_no_other(run, monkeypatch):
    from pytest_mcp_conformance import adapters

    monkeypatch.setitem(adapters.BUNDLED, "without-a-module", "mcp")
    adapters.bundled.cache_clear()
    try:
        said = error_of(run("--mcp-wrapper=without-*"))
        assert (
            "--mcp-wrapper=without-*: importing mcp for the bundled adapter without-a-module raised" in said
        )
        assert error_of(run("--mcp-wrapper=reference", "--mcp-rule=NONE-1")) != said
    finally:
        adapters.bundled.cache_clear()


def test_adapters_of_which_nothing_can_be_played_here_are_no_green_run(run, pytester, monkeypatch):
    there = {"respx": None, "uvicorn": "there"}
    monkeypatch.setattr("pytest_mcp_conformance.server.ways.ways.find_spec", there.get)
    by_url = declared().replace("('memory',)", "('http', 'loopback')")
    pytester.makeconftest(by_url + hook("acme"))
    assert error_of(run()) == (
        "--mcp-conformance: nothing of acme can be played here: "
        "http needs respx: pip install 'pytest-mcp-conformance[http]'"
    )
    pytester.makeconftest(by_url + declared(name="other") + hook("acme", "other"))
    assert run().ret == pytest.ExitCode.OK


def test_two_adapters_of_one_name_are_an_error_that_names_both_places(run, pytester):
    pytester.makeconftest(declared() + hook("acme"))
    pytester.mkdir("tests").joinpath("conftest.py").write_text(declared() + hook("acme"))
    said = error_of(run())
    assert "'acme'" in said
    assert "in conftest.py" in said
    assert "tests/conftest.py" in said


@pytest.mark.parametrize(
    ("returned", "word"),
    [("acme", "alone"), ("None", "there is no adapter"), ("[1]", "1 in its list"), ("'acme'", "'acme'")],
)
def test_a_hook_that_returns_no_list_of_adapters_is_an_error(run, pytester, returned, word):
    pytester.makeconftest(declared() + f"def pytest_mcp_adapters(config): return {returned}\n")
    assert word in error_of(run())


def test_a_hook_that_raises_is_an_error_that_names_the_line(run, pytester):
    pytester.makeconftest("def pytest_mcp_adapters(config):\n    raise ValueError('no token')\n")
    said = error_of(run())
    assert "ValueError: no token" in said
    assert "conftest.py:2" in said


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("return 3", "gave 3"),
        ("raise OSError('no server')", "no server"),
        ("pytest.skip('not today')", "not today"),
    ],
)
def test_a_fixture_that_gives_no_adapter_is_an_error(run, pytester, body, word):
    pytester.makeconftest(f"import pytest\n@pytest.fixture\ndef mcp_adapter():\n    {body}\n")
    said = error_of(run())
    assert "the fixture mcp_adapter of conftest.py" in said
    assert word in said


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("refrence", "did you mean 'reference'?"),
        (
            "nowhere:acme",
            "there is no module 'nowhere'; install it, or name its folder in the ini option pythonpath",
        ),
        ("acme_elsewhere:acme", "No module named 'acme_sdk' at "),
        ("acme_unclosed:acme", "SyntaxError: '(' was never closed (acme_unclosed.py, line 1)"),
        ("acme_testing:acne", "did you mean 'acme'?"),
        ("acme_testing:Claims", "name what @adapter(...) made"),
        ("acme_broken:acme", "ZeroDivisionError"),
    ],
)
def test_a_name_in_the_ini_file_that_leads_nowhere_is_an_error(run, pytester, name, word):
    pytester.makepyfile(
        acme_testing=declared(), acme_broken="1 / 0", acme_elsewhere="import acme_sdk", acme_unclosed="f("
    )
    pytester.makeini(f"[pytest]\npythonpath = .\nmcp_adapters = {name}")
    said = error_of(run())
    assert "mcp_adapters in tox.ini" in said
    assert name.partition(":")[0] in said
    assert word in said


def test_an_adapter_that_is_no_generator_is_an_error_where_it_is_declared(run, pytester):
    pytester.makeconftest(declared().replace("yield", "return") + hook("acme"))
    result = run(alone=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "no generator" in result.stderr.str()


def test_such_an_adapter_in_a_nested_conftest_is_an_error_as_well(run, pytester):
    # Not called tests: pytest loads the conftest files of such folders before it collects.
    pytester.mkdir("checks").joinpath("conftest.py").write_text(
        declared().replace("yield", "return") + hook("acme")
    )
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stdout.str().count("no generator") == 1
    assert "Traceback" not in result.stdout.str()
