"""`assert mcp_history == listing_history` in a suite of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.outer import forget_the_run_around

ROOT = Path(__file__).parents[2]
KIT = ROOT / "pytest_mcp_conformance"
HELPERS = """

TOKEN = "tok-planted-7f3a91"

def ask(server, *frames):
    connection = server.open(lambda *frame: None, principal=None, headers={"authorization": TOKEN})
    for number, (method, params) in enumerate(frames):
        connection.receive({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    connection.closed_by_client()
"""
TEST = """
from helpers import ask

def test_{name}(mcp_server, mcp_history, listing_history):
    mcp_server.has_tools("a", "b")
    ask(mcp_server, {frames})
    assert mcp_history == listing_history
"""
LIST, PING = "('tools/list', {})", "('ping', {})"
CALL = "('tools/call', {'name': 'a', 'arguments': {'nonce': 'n'}})"


@pytest.fixture
def suite(pytester, monkeypatch):
    """Write tests into `test_own.py`, each with the frames that it sends, and run them with syrupy."""
    forget_the_run_around(monkeypatch)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    monkeypatch.setenv("COLUMNS", "200")
    pytester.makepyfile(helpers=HELPERS)

    def run(*arguments, source="", plugins=("syrupy", "xdist.plugin"), **tests):
        written = [TEST.format(name=name, frames=", ".join(frames)) for name, frames in tests.items()]
        if source or written:
            pytester.makepyfile(test_own="\n".join([source, *written]))
        named = [f"-p{name}" for name in ("pytest_mcp_conformance.plugin", *plugins)]
        return pytester.runpytest_subprocess(*named, "-vv", *arguments)

    return run


@pytest.fixture
def kept(pytester):
    """The texts that are kept for the tests of `test_own.py`, by their files' names."""

    def read():
        folder = pytester.path / "__snapshots__" / "test_own"
        return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}

    return read


def changes(result):
    """The lines of a failure's diff that differ, without their colours."""
    lines = [line.removeprefix("E").strip() for line in result.outlines if line.startswith("E ")]
    return [line for line in lines if line[:2] in ("- ", "+ ")]


def test_a_history_is_kept_beside_its_test(suite, kept):
    result = suite("--snapshot-update", list=[LIST], call=[CALL])
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["2 snapshots generated."])
    assert kept() == {
        "test_list.history": "handshake era, wire\n"
        "script: changed tools\n"
        "connection 1: opened\n"
        "connection 1: asked tools/list\n"
        "connection 1: answered tools/list: a[d1 i1 w1], b[d1 i1 w1]\n"
        "connection 1: closed by the client\n",
        "test_call.history": "handshake era, wire\n"
        "script: changed tools\n"
        "connection 1: opened\n"
        "connection 1: asked tools/call a with a.in1\n"
        "connection 1: answered tools/call a ok giving a.out1\n"
        "connection 1: closed by the client\n",
    }
    suite().assert_outcomes(passed=2)


def test_what_was_never_kept_fails_and_writes_nothing(suite, kept):
    result = suite(list=[LIST])
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*Snapshot 'test_list' does not exist!"])
    assert kept() == {}


def test_two_lines_that_change_places_are_two_lines_of_the_diff(suite):
    suite("--snapshot-update", list=[LIST, PING, CALL])
    result = suite(list=[PING, LIST, CALL])
    result.assert_outcomes(failed=1)
    # A request and its answer are two lines each.
    assert changes(result) == [
        "+ connection 1: asked ping",
        "+ connection 1: answered ping",
        "- connection 1: asked ping",
        "- connection 1: answered ping",
    ]


def test_the_diff_of_a_long_history_is_short(suite):
    frames = [CALL, LIST] * 150
    suite("--snapshot-update", list=[*frames, PING, CALL])
    result = suite(list=[*frames, CALL, PING])
    assert len(changes(result)) == 4, changes(result)
    result = suite(list=[*frames[:200], LIST, *frames[200:], PING, CALL])
    assert len(changes(result)) == 2, changes(result)
    apart = [*frames[:100], PING, *frames[100:500], PING, *frames[500:], PING, CALL]
    result = suite(list=apart)
    assert len(changes(result)) == 4, changes(result)
    assert len([line for line in result.outlines if line.startswith("E ")]) < 20


def test_a_new_history_is_taken_over_when_that_is_asked_for(suite, kept):
    suite("--snapshot-update", list=[LIST])
    result = suite("--snapshot-update", list=[PING])
    result.stdout.fnmatch_lines(["1 snapshot updated."])
    assert "ping" in kept()["test_list.history"]
    suite().assert_outcomes(passed=1)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_what_no_test_uses_is_reported_and_goes_with_an_update(suite, kept, workers):
    suite("--snapshot-update", *workers, list=[LIST], call=[CALL], ping=[PING])
    assert len(kept()) == 3
    result = suite("--snapshot-details", *workers, list=[LIST], ping=[PING])
    result.assert_outcomes(passed=2)
    assert result.ret != 0
    result.stdout.fnmatch_lines(
        ["2 snapshots passed. 1 snapshot unused.", "*test_call (*test_call.history)*"]
    )
    suite("--snapshot-update", *workers)
    assert set(kept()) == {"test_list.history", "test_ping.history"}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_what_was_not_selected_is_kept(suite, kept, workers):
    suite("--snapshot-update", list=[LIST], call=[CALL], ping=[PING])
    result = suite("-k", "list or ping", "--snapshot-update", *workers)
    result.assert_outcomes(passed=2, **({} if workers else {"deselected": 1}))
    assert result.ret == 0
    assert "unused" not in result.stdout.str()
    assert len(kept()) == 3


def test_a_second_history_of_a_test_has_a_name_of_its_own(suite, kept):
    source = """
from helpers import ask

def test_twice(mcp_server, mcp_history, listing_history):
    assert mcp_history == listing_history(name="before")
    ask(mcp_server, ('ping', {}))
    assert mcp_history == listing_history
"""
    suite("--snapshot-update", source=source).assert_outcomes(passed=1)
    assert len({*kept().values()}) == len(kept()) == 2
    suite().assert_outcomes(passed=1)


def test_a_history_that_was_loaded_compares_as_well(suite, kept, pytester):
    source = """
from pytest_mcp_conformance import History

def test_loaded(listing_history):
    assert History.load({path!r}) == listing_history
"""
    file = ROOT / "tests" / "history" / "lists_and_calls.history.jsonl"
    suite("--snapshot-update", source=source.format(path=str(file))).assert_outcomes(passed=1)
    assert "holder 1: served tools: " in kept()["test_loaded.history"]
    suite().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("compared", "told"),
    [
        ("[1] == listing_history", "*a snapshot of a history was compared with list: compare mcp_history, *"),
        ("mcp_history == listing_history(exclude=print)", "*a history is compared as a whole: *"),
    ],
)
def test_what_is_no_history_is_refused(suite, kept, compared, told):
    source = f"def test_own(mcp_history, listing_history):\n    assert {compared}\n"
    result = suite("--snapshot-update", source=source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([told])
    assert kept() == {}


SECRETS = """
import os
import pytest
from helpers import TOKEN, ask

def test_secret(mcp_server, mcp_history, listing_history, monkeypatch):
    monkeypatch.setenv("API_KEY", TOKEN)
    schema = {"type": "object", "title": TOKEN}
    mcp_server.has_tools({"name": "a", "description": TOKEN, "inputSchema": schema})
    mcp_server.answers("a", text=TOKEN, is_error=True)
    mcp_server.fails("tools/list", -32001, TOKEN)
    meta = {"_meta": {"key": TOKEN}}
    call = {"name": "a", "arguments": {"key": TOKEN, "from": os.environ["API_KEY"]}, **meta}
    with pytest.raises(KeyError), mcp_history.calling("a", {"key": TOKEN}):
        raise KeyError(TOKEN)
    with mcp_history.wanting() as wanted:
        wanted.served([{"name": "a", "description": TOKEN}])
    ask(mcp_server, ("tools/list", {"cursor": TOKEN, **meta}), ("tools/list", meta), ("tools/call", call))
    history = [*mcp_server.ledger]
    assert sum(TOKEN in str(event.message) for event in history) >= 5  # it was on the wire
    assert any(TOKEN in str(event.headers) for event in history)
    assert mcp_history == listing_history
"""


def test_a_token_is_in_no_snapshot_wherever_it_was(suite, kept):
    suite("--snapshot-update", source=SECRETS).assert_outcomes(passed=1)
    (text,) = kept().values()
    assert "tools/call" in text
    assert "planted" not in text


def test_without_syrupy_the_remedy_is_named(suite):
    source = "import sys\nsys.modules['syrupy'] = None\ndef test_own(listing_history): pass\n"
    result = suite(source=source, plugins=())
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*UsageError: *pip install 'pytest-mcp-conformance?snapshots?'*"])


def test_a_syrupy_that_takes_no_part_is_named(suite):
    result = suite(source="def test_own(listing_history): pass\n", plugins=())
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*UsageError: listing_history needs the plugin syrupy*"])


def test_another_fixture_of_that_name_is_named(suite):
    source = """
import pytest

@pytest.fixture
def snapshot():
    return "mine"

def test_own(listing_history): pass
"""
    result = suite(source=source)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*UsageError: listing_history needs syrupy's fixture snapshot, * gave str*"])


SCENARIO = """
def test_mcp(mcp_scenario, mcp_history, listing_history):
    mcp_scenario.play()
    assert mcp_history == listing_history
"""


def files_of_the_kit():
    return {path for path in KIT.rglob("*") if "__pycache__" not in path.parts}


def test_packaged_scenarios_write_under_the_root_of_the_user_alone(suite, kept, pytester):
    before = files_of_the_kit()
    played = ("--mcp-conformance", "--mcp-wrapper=reference", "--mcp-rule=CCH-13", "--mcp-era=handshake")
    for update in (("--snapshot-update",), ("-n", "2")):
        result = suite(*played, "--mcp-history=seen", *update, source=SCENARIO)
        assert result.ret == 0
    assert len([*(pytester.path / "seen").iterdir()]) == 2 * len(kept())
    assert any("served tools" in text for text in kept().values())
    assert files_of_the_kit() == before
