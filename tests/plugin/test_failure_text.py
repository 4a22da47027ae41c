"""A maintainer reads one block, from the rule to the command that shows it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_mcp_conformance.contract import Judgement, Played, Verdict
from pytest_mcp_conformance.plugin.failure import failure_text
from pytest_mcp_conformance.plugin.gaps import Gaps
from pytest_mcp_conformance.plugin.judging import Judged
from pytest_mcp_conformance.plugin.options import Options

ITEM = "mcp-conformance::overtaken_listing[acme-memory-handshake]"
OPTIONS = Options((), frozenset({"CCH-13"}), False, ("handshake",), "memory", False, Gaps(), None, ())
BROKEN = Judgement(
    "CCH-13",
    Verdict.BROKEN,
    "assert ['old'] == ['new']",
    (
        "#3 asked tools/list",
        "#5 list_changed (-> 1)",
        "#6 answered ['old']",
        "#7 served ['old']",
    ),
    "mcp 2.3.0 alone keeps this rule",
)
PLAYED = Played("overtaken_listing", "acme", "1.4.0", judgements=(BROKEN,), clock="virtual")
TEXT = """\
CCH-13 MUST (kit)  A listing still in flight when its list was invalidated MUST be discarded.
     scenario  overtaken_listing
     clock     virtual
     assert ['old'] == ['new']
     history   #3 asked tools/list | #5 list_changed (-> 1) | #6 answered ['old'] | #7 served ['old']
     check     compare the generation before and after the listing
               do not store from a callback that sees no notice
               do not let the answer clear a flag that was set while it was out
     why       The answer was built before the change: kept, it hides the change until the next notice.
     source    kit, rests on 2026-07-28 server/utilities/caching, "Interaction with Notifications"
     sdk       mcp 2.3.0 alone keeps this rule
     again     pytest "mcp-conformance::overtaken_listing[acme-memory-handshake]" --mcp-conformance"""


def text(*judgements: Judgement, options: Options = OPTIONS, item: str = ITEM, virtual: bool = True) -> str:
    return failure_text(Judged(PLAYED, judgements, ()), item, options, virtual=virtual)


def test_the_block_reads_from_the_rule_to_the_command():
    assert text(BROKEN) == TEXT


def test_a_block_is_printed_as_it_is(adapter, run):
    adapter("CCH-13=broken")
    result = run("mcp-conformance::overtaken_listing[acme-memory-handshake]")
    result.stdout.fnmatch_lines(
        [
            "CCH-13 MUST (kit)  A listing still in flight *",
            "     scenario  overtaken_listing",
            "     clock     virtual",
            "     assert ?'old'? == ?'new'?",
            "     history   *",
            "     check     *",
            "     why       *",
            "     source    *",
            "     sdk       mcp 2.3.0 alone keeps this rule",
            '     again     pytest "*::overtaken_listing?acme-memory-handshake?" --mcp-conformance',
        ],
        consecutive=False,
    )


def test_nothing_of_ours_is_traced(adapter, run):
    adapter("CCH-13=broken")
    for style in ("auto", "long", "short", "native", "line"):
        output = run(f"--tb={style}").stdout.str()
        assert "CCH-13 MUST" in output
        assert "Traceback" not in output
        assert ".py:" not in output


def test_every_rule_of_an_item_has_a_block():
    assert text(BROKEN, BROKEN) == f"{TEXT}\n\n{TEXT}"


def test_every_broken_rule_is_named_in_the_headline_whichever_of_them_fails_the_item():
    leak = Judgement("CONN-9", Verdict.BROKEN, "left after close: connection 1 is still open", hard=True)
    warning = replace(BROKEN, rule="CONN-5")
    shown = failure_text(
        Judged(replace(PLAYED, judgements=(warning, leak)), (leak,), ()), ITEM, OPTIONS
    ).splitlines()
    assert shown[0] == "broken: CONN-9, CONN-5"
    assert [line[:6] for line in shown if line.startswith("CONN-")] == ["CONN-9", "CONN-5"]
    assert shown.count("     verdict   broken, a warning without --mcp-strict") == 1


def test_a_known_gap_beside_a_failure_is_not_named():
    leak = Judgement("CONN-9", Verdict.BROKEN, hard=True)
    judged = Judged(replace(PLAYED, judgements=(BROKEN, leak)), (leak,), ((BROKEN, "known"),))
    assert failure_text(judged, ITEM, OPTIONS).startswith("CONN-9 SHOULD  ")


@pytest.mark.parametrize("verdict", [Verdict.NOT_TESTABLE, Verdict.UNKNOWN])
def test_what_is_not_broken_says_what_it_is(verdict):
    lines = text(replace(BROKEN, verdict=verdict, detail="connect raised OSError")).splitlines()
    assert lines[3:5] == [f"     verdict   {verdict}", "     found     connect raised OSError"]


def test_words_stand_before_the_assertion():
    lines = text(replace(BROKEN, detail="served the old list\nassert 1 == 2\n +  where 1 = f()")).splitlines()
    assert lines[3:6] == [
        "     found     served the old list",
        "     assert 1 == 2",
        "      +  where 1 = f()",
    ]


def test_rows_without_a_text_are_left_out():
    assert "sdk  " not in text(replace(BROKEN, sdk="", history=()))
    assert "history" not in text(replace(BROKEN, sdk="", history=()))


def test_the_clock_is_named_wherever_something_was_played():
    real = replace(PLAYED, clock="real, bounded by 5 s", trouble=("it died",))
    shown = failure_text(Judged(real, (BROKEN,), ()), ITEM, OPTIONS).splitlines()
    assert shown.count("     clock     real, bounded by 5 s") == 2
    assert "clock" not in failure_text(Judged(replace(PLAYED, clock=""), (BROKEN,), ()), ITEM, OPTIONS)


def test_the_variant_stands_with_the_scenario():
    judged = Judged(replace(PLAYED, variant="late"), (BROKEN,), ())
    assert "     scenario  overtaken_listing (late)" in failure_text(judged, ITEM, OPTIONS).splitlines()


def test_the_command_repeats_the_options_without_which_nothing_would_be_seen():
    again = text(BROKEN, options=replace(OPTIONS, wrappers=("ac*",), strict=True)).splitlines()[-1]
    assert again == f'     again     pytest "{ITEM}" --mcp-conformance --mcp-wrapper=acme --mcp-strict'


def test_the_command_for_a_test_of_the_users_own_needs_no_flag():
    again = text(BROKEN, item="tests/test_mcp.py::test_mcp[x]", virtual=False).splitlines()[-1]
    assert again == '     again     pytest "tests/test_mcp.py::test_mcp[x]"'


def test_what_a_wrapper_says_is_shown_and_not_obeyed():
    shown = text(
        replace(
            BROKEN, detail="got \x1b[2J\x07 and \u202edrawkcab", history=("#1 \x1b]0;title\x07\r\n#9 forged",)
        )
    )
    assert r"got \x1b[2J\x07 and \u202edrawkcab" in shown
    assert r"#1 \x1b]0;title\x07\x0d #9 forged" in shown
    assert not any(ord(letter) < 32 and letter != "\n" for letter in shown)
