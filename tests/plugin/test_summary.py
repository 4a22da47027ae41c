"""The section at the end of a run: what came out for each wrapper, and what to look at."""

from __future__ import annotations

from tests.plugin.helpers import declared, hook

GAPS = '[[gap]]\nrule = "NTC-1"\nwrapper = "acme"\nreason = "waits for 2.0"\nlink = "https://example.org/7"\n'


def section(run, *arguments: str) -> list[str]:
    """The lines of the section."""
    lines = run(*arguments).outlines
    start = next(at for at, line in enumerate(lines) if " MCP conformance " in line)
    end = next(
        (at for at, line in enumerate(lines[start + 1 :], start + 1) if line.startswith("=")), len(lines)
    )
    return [line for line in lines[start + 1 : end] if line]


def test_each_wrapper_has_a_line_of_counts(run, pytester):
    pytester.makeconftest(
        declared("CCH-13=broken CALL-1=not-claimed") + declared(name="other") + hook("acme", "other")
    )
    lines = section(run)
    assert lines[0] == "acme 1.0: 3 kept, 1 broken, 1 not claimed"
    assert lines[-1] == "other 1.0: 5 kept"


def test_what_is_to_be_looked_at_has_a_line_each(adapter, run, pytester):
    pytester.path.joinpath("gaps.toml").write_text(GAPS)
    adapter(
        "CCH-13=broken CCH-15=unknown CALL-1=not-testable NTC-1=broken TOOL-2=broken "
        "claim:caches_listings=yes"
    )
    lines = section(run, "--mcp-known-gaps=gaps.toml")
    assert [line[:24].rstrip() for line in lines[1:]] == [
        "  claim         caches_l",
        "  broken        CCH-13 M",
        "  unknown       CCH-15 M",
        "  not-testable  CALL-1 M",
        "  known gap     NTC-1 MU",
        "  warning       broken:",
    ]
    assert lines[5].endswith("waits for 2.0  <https://example.org/7>")


def test_trouble_is_told_with_its_item(adapter, run):
    adapter("trouble")
    item = "mcp-conformance::one_request_a_call[acme-memory-modern]"
    lines = section(run, "--mcp-rule=CALL-1")[1:]
    assert lines == [f"  trouble       task 'poller' is still running  [{item}]"]


def test_a_fault_of_the_sdk_is_marked_as_inherited(adapter, run, monkeypatch):
    from dataclasses import replace

    from tests.plugin import stand_in

    judgement = stand_in._judgement
    monkeypatch.setattr(stand_in, "_judgement", lambda *given: replace(judgement(*given), inherited=True))
    adapter("CALL-1=broken")
    assert section(run)[1].endswith("[inherited: the bare SDK does the same]")


def test_a_run_without_items_says_nothing(adapter, run):
    adapter()
    assert " MCP conformance " not in run("-k", "nothing_of_this_name").stdout.str()


def test_the_header_names_what_judges(adapter, run):
    adapter()
    run().stdout.fnmatch_lines(["mcp-conformance: contract 1.0, mcp *"])


def test_a_run_without_a_terminal_still_writes_its_report(adapter, run, pytester):
    adapter()
    assert run("-p", "no:terminal", "--mcp-report=out.json").ret == 0
    assert (pytester.path / "out.json").exists()
