"""The checker on histories that are made by hand: what it finds, and what is legal."""

from __future__ import annotations

import pytest

import pytest_mcp_conformance
from pytest_mcp_conformance.contract import RULES
from pytest_mcp_conformance.history import History, Listed
from pytest_mcp_conformance.history.model.faults import FAULTS
from tests.history.checker_page import PAGE, findings_table
from tests.history.plays import written
from tests.history.schedules import play_schedule
from tests.history.soundness import adapter_of
from tests.history.telling import NOTICE, Telling
from tests.history.watched import WATCHED
from tests.right import RIGHT
from tests.wrong import WRONG


@pytest.fixture
def told():
    telling = Telling()
    telling.list("old", ttl=3_600_000)
    return telling


def test_a_list_from_before_a_notice(told):
    told.add(**NOTICE)
    told.settle()
    told.serve(told.want(), "old")
    assert told.found() == [("stale-after-notice", "CCH-12")]


def test_a_notice_binds_only_who_claims_to_react(told):
    told.add(**NOTICE)
    told.settle()
    told.serve(told.want(), "old")
    assert told.found(reacts_to_list_changed=False) == []


def test_a_notice_that_may_not_have_been_read_is_no_fault(told):
    told.add(**NOTICE)
    told.serve(told.want(), "old")
    assert told.found() == []


def test_a_notice_within_the_delay_that_is_claimed_is_no_fault(told):
    told.add(**NOTICE)
    told.settle()
    told.at = 0.2
    told.serve(told.want(), "old")
    assert told.found(reacts_to_list_changed=0.3) == []
    told.at = 0.4
    told.serve(told.want(), "old")
    assert told.found(reacts_to_list_changed=0.3) == [("stale-after-notice", "CCH-12")]


def test_a_list_that_was_wanted_before_the_notice_may_be_of_before(told):
    op = told.want()
    told.add(**NOTICE)
    told.settle()
    told.serve(op, "old")
    assert told.found() == []


def test_a_notice_on_another_connection_says_nothing_of_this_one(told):
    told.open(2)
    told.add(**{**NOTICE, "connection": 2})
    told.settle()
    told.serve(told.want(), "old")
    assert told.found() == []


def test_an_old_list_after_a_failed_refetch_is_allowed(told):
    told.add(**NOTICE)
    told.settle()
    op, id = told.want(), told.ask()
    told.add(kind="failed", connection=1, id=id, method="tools/list", code=-32603)
    told.serve(op, "old")
    assert told.found() == []


def test_tools_that_are_missing_prove_nothing(told):
    told.add(**NOTICE)
    told.settle()
    op = told.want()
    told.answer(told.ask(), "old", "new")
    told.serve(op, "old")
    assert told.found() == []


def test_an_overtaken_listing_that_is_kept():
    told = Telling()
    op, id = told.want(), told.ask()
    told.add(**NOTICE)
    told.settle()
    told.answer(id, "old")
    told.serve(op, "old")
    assert told.found() == []  # whoever waited since before the notice may have it
    told.settle()
    told.serve(told.want(), "old")
    assert told.found() == [("overtaken-listing-kept", "CCH-13")]


def test_a_fetch_from_before_the_notice_that_is_joined():
    told = Telling()
    id = told.ask()
    told.add(**NOTICE)
    told.settle()
    op = told.want()
    told.answer(id, "old")
    told.serve(op, "old")
    assert told.found() == [("older-fetch-joined", "CCH-14")]


def test_pages_of_two_generations():
    told = Telling()
    first = told.want()
    told.answer(told.ask(), "old", next="c" * 16)
    told.add(**NOTICE)
    told.settle()
    told.answer(told.ask(cursor="c" * 16), "new")
    told.serve(first, "old", "new")
    assert told.found() == []
    told.serve(told.want(), "old", "new")
    assert told.found() == [("two-generations-glued", "PAG-9")]


@pytest.mark.parametrize(
    ("verb", "kind", "name"),
    [
        ("invalidate", "invalidated", "stale-after-invalidate"),
        ("refresh", "refreshed", "stale-after-refresh"),
    ],
)
def test_a_list_from_before_the_application_spoke(told, verb, kind, name):
    told.settle()
    told.verb(verb, kind)
    told.serve(told.want(), "old")
    assert told.found() == [(name, "CCH-24")]


@pytest.mark.parametrize(("ttl", "rule"), [(0, "CCH-5"), (-1, "CCH-8"), (5000, "CCH-9")])
def test_a_list_that_has_lapsed(ttl, rule):
    told = Telling()
    told.list("old", ttl=ttl)
    told.at = 5.0
    told.serve(told.want(), "old")
    assert told.found() == [("stale-after-lapse", rule)]
    assert told.found(clock=False) == []


def test_a_list_whose_lifetime_runs_is_served(told):
    told.at = 3599.0
    told.serve(told.want(), "old")
    assert told.found() == []


def test_an_older_listing_that_is_answered_last():
    told = Telling()
    older, newer = told.ask(), told.ask()
    told.answer(newer, "new")
    told.answer(older, "old")
    told.settle()
    told.serve(told.want(), "old")
    assert told.found() == [("older-listing-written", "CCH-15")]


def test_a_list_of_a_connection_that_was_replaced():
    told = Telling()
    told.list("old")
    told.add(kind="closed", connection=1, how="server")
    told.open(2)
    told.settle()
    told.serve(told.want(), "old")
    assert told.found() == [("list-of-a-dead-connection", "CCH-22")]
    assert told.found(dials_per_operation=True) == []


def test_an_old_tool_in_a_new_list(told):
    told.add(**NOTICE)
    told.settle()
    op = told.want()
    told.answer(told.ask(), "new")
    told.serve(op, "old", "new")
    assert told.found() == [("old-tool-in-a-new-list", "TOOL-6")]


def test_a_page_is_accused_of_each_fault_once(told):
    told.settle()
    told.verb("invalidate", "invalidated")
    told.serve(told.want(), "old")
    told.serve(told.want(), "old")
    told.add(**NOTICE)
    told.settle()
    told.serve(told.want(), "old")
    told.serve(told.want(), "old")
    assert told.found() == [("stale-after-invalidate", "CCH-24"), ("stale-after-notice", "CCH-12")]


def test_a_list_of_another_principal_that_was_stale_already():
    told = Telling()
    told.add(kind="opened", connection=2, principal="ann")
    told.add(kind="entered", who=2, principal="ann")
    told.add(kind="wanted", who=2, op=90, principal="ann")
    told.add(kind="asked", connection=2, method="tools/list", id=1, principal="ann")
    own = {"principal": "ann", "tools": (Listed("hers"),)}
    told.add(kind="answered", connection=2, method="tools/list", id=1, ttl=5000, **own)
    told.add(kind="served", who=2, op=90, **own)
    told.at = 5.0
    told.add(kind="wanted", who=2, op=91, principal="ann")
    told.add(kind="served", who=2, op=91, **own)
    told.serve(told.want(), "hers")
    assert told.found() == [("stale-after-lapse", "CCH-9"), ("list-of-another-principal", "CCH-3")]


def test_an_answer_to_what_nobody_asked(told):
    told.add(kind="replied", connection=1, id=7)
    assert told.found() == [("answer-to-nobody", "NTC-15")]


def test_a_request_of_the_server_may_be_answered(told):
    told.add(kind="requested", connection=1, id=7, method="ping")
    told.add(kind="replied", connection=1, id=7)
    assert told.found() == []


def test_a_race_between_an_answer_and_its_cancellation_is_no_fault(told):
    id = told.ask()
    told.answer(id, "old")
    told.add(kind="cancelled", connection=1, id=id, how="client")
    assert told.found() == []
    told.add(kind="cancelled", connection=1, id=99, how="client")
    assert told.found() == [("cancelled-what-is-not-open", "CALL-7")]


@pytest.mark.parametrize(("made", "cancelled"), [("-7", -7), (-7, "-7"), (7, "7"), (7.5, "7.5"), ("x", "x")])
def test_a_cancellation_may_name_its_request_by_a_number_or_a_word(told, made, cancelled):
    told.add(kind="asked", connection=1, method="tools/call", id=made)
    told.add(kind="answered", connection=1, method="tools/call", id=made)
    told.add(kind="cancelled", connection=1, id=cancelled, how="client")
    assert told.found() == []


def test_a_list_that_was_listed_many_times_is_still_of_the_past_after_a_notice(told):
    for _ in range(100):
        told.list("old")
    told.add(**NOTICE)
    told.settle()
    told.serve(told.want(), "old")
    assert told.found() == [("stale-after-notice", "CCH-12")]


def test_a_list_that_was_listed_on_many_connections_may_be_of_one_that_is_forgotten(told):
    for connection in range(2, 42):
        told.open(connection)
        told.answer(told.ask(connection), "old", connection=connection)
        told.add(**{**NOTICE, "connection": connection})
    told.settle()
    told.serve(told.want(), "old")
    assert told.found() == []  # the first connection had no notice


def test_a_long_history_is_forgotten_and_what_comes_late_is_still_found(told):
    for _ in range(600):
        told.list("old")
    told.add(kind="asked", connection=1, method="tools/list", id=600)
    assert told.found() == [("id-used-again", "CALL-4")]


def test_a_file_is_checked_and_one_that_is_unfinished_has_left_nothing_open(tmp_path, told):
    told.add(kind="left", who=1)
    whole = History.load(written(tmp_path / "one", *told.entries))
    cut = History.load(written(tmp_path / "two", *told.entries, events=-1))
    assert [each.name for each in pytest_mcp_conformance.check(whole)] == ["connection-never-closed"]
    assert [*pytest_mcp_conformance.check(cut)] == []


def test_every_fault_cites_rules_that_there_are():
    assert [f.name for f in FAULTS.values() for rule in f.rules if rule not in RULES] == []


def test_the_page_is_up_to_date():
    page = PAGE.read_text(encoding="utf-8")
    assert findings_table() in page
    assert [name for name in WATCHED if f"| `{name}` |" not in page] == []
    assert set(WATCHED) <= {wrong.name for wrong in WRONG}


@pytest.mark.parametrize("seed", range(30))
def test_no_schedule_of_the_reference_gives_a_finding(seed):
    adapter = adapter_of("reference")
    shown = play_schedule(seed, adapter, adapter.claims.eras[seed % len(adapter.claims.eras)])
    assert (shown.trouble, shown.findings) == ("", ())


@pytest.mark.parametrize("adapter", RIGHT, ids=lambda adapter: adapter.name)
def test_no_schedule_of_a_right_wrapper_of_another_make_gives_a_finding(adapter):
    eras = adapter.claims.eras or ("handshake",)
    shown = [play_schedule(seed, adapter, eras[seed % len(eras)]) for seed in range(6)]
    assert [each.findings for each in shown if each.findings or each.trouble] == []


def test_a_fault_that_showed_in_a_schedule_is_found():
    signs, names = WATCHED["cch_12_notice_is_only_logged"]
    shown = [play_schedule(s, adapter_of("cch_12_notice_is_only_logged"), "handshake") for s in range(12)]
    faulty = [each for each in shown if any(each.showed[sign] for sign in signs)]
    assert faulty
    assert any(finding.name in names for each in faulty for finding in each.findings)
