"""A finding is explained by the events that prove it, and whatever stands in them comes out harmless."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_mcp_conformance import Finding, explain
from pytest_mcp_conformance.history import KINDS, BrokenHistory, Entry, History, Listed, explain_all
from pytest_mcp_conformance.history.lanes import head, lanes
from pytest_mcp_conformance.history.plain import cells, word
from tests.history.plays import written
from tests.history.test_normal import KEPT

STALE = Finding("stale-after-notice", "CCH-12", "It served a, old, after notice #16.", (9, 16, 20))
HOSTILE = [
    "\x1b[2J",
    "\x1b]8;;http://x\x07",
    "\u202egnp.exe\u2066",
    "\x9b31m",
    "</text><script>alert(1)</script>",
    '"><image href="http://x"/>',
    "<!--",
    "]]>",
    "&amp;&#x1b;",
    "a\nb\r\tc",
    "\ufffe\uffff\ud800",
    "字" * 300,
    "a" + "\u0301" * 300,
    "x" * 5000,
    "",
    " ",
]
TAGS = {"svg", "title", "desc", "style", "text", "path", "circle"}
ATTRIBUTES = {
    *("class", "role", "viewBox", "width", "height", "x", "y", "cx", "cy", "r", "d", "text-anchor"),
}

names = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=()), max_size=20)
numbers = st.integers(0, 5)
tools = st.lists(st.builds(Listed, names, names, names, names, names), max_size=3).map(tuple)
times = st.floats()
entries = st.builds(
    Entry,
    n=st.integers(1, 9) | st.integers(1, 10**30),
    at=times,
    kind=st.sampled_from([*KINDS]),
    who=numbers,
    op=numbers,
    connection=numbers,
    server=names,
    principal=names,
    id=st.none() | names | st.integers() | times,
    method=names,
    list=st.sampled_from(["", "tools"]),
    generation=st.none() | st.integers(),
    cursor=names,
    next=names,
    ttl=st.none() | times,
    tools=st.none() | tools,
    more=st.integers(0, 10**30),
    lists=st.lists(names, max_size=3).map(tuple),
    subscription=st.none() | names,
    tool=names,
    verb=names,
    arguments=names,
    result=names,
    ok=st.none() | st.booleans(),
    outcome=st.sampled_from(["", "ok", "raised"]),
    error=names,
    code=st.none() | st.integers(),
    version=names,
    how=st.sampled_from(["", "client", "broken"]),
)
findings = st.builds(
    Finding,
    names,
    names,
    names,
    st.lists(st.integers(1, 12), max_size=6).map(tuple),
    st.sampled_from(["fault", "unknown"]),
)


def columns(line):
    """How many columns of a terminal a line takes."""
    return len(cells(line, 10**6))


def parsed(svg):
    """The elements of a picture, of which none may be of another kind than those it is drawn with."""
    root = ElementTree.fromstring(svg)
    found = [*root.iter()]
    assert {each.tag.partition("}")[2] for each in found} <= TAGS
    assert {name for each in found for name in each.attrib} <= ATTRIBUTES
    return root


def test_what_proves_a_finding_is_drawn_and_nothing_else():
    explained = explain(STALE, History.load(KEPT))
    assert explained.text.splitlines() == [
        "stale-after-notice (CCH-12)",
        "  It served a, old, after notice #16.",
        "     #  seconds  wrapper           server               notices",
        "     9    0.000  │                 ● answered tools/list (id 2): a, old",
        "     …             6 events between                     │",
        "    16    0.000  │                 │                    ● tools/list_changed",
        "     …             3 events between                     │",
        "    20    0.000  ● served: a (2), new                   │",
    ]
    assert [entry.n for entry in explained.entries] == [9, 16, 20]


def test_a_history_is_read_once_and_no_further_than_the_last_proof():
    read = []

    def history():
        for entry in History.load(KEPT):
            read.append(entry.n)
            yield entry

    other = Finding("lost", "CALL-1", "", (12, 14))
    first, second = explain_all([STALE, other], history())
    assert read == [*range(1, 21)]
    assert first == explain(STALE, History.load(KEPT))
    assert [entry.n for entry in second.entries] == [12, 14]


def test_a_proof_that_is_not_there_is_told():
    explained = explain(Finding("lost", "CALL-1", "It was lost.", (9, 99, 100)), History.load(KEPT))
    assert explained.text.splitlines()[-1] == "  not in this history: 99, 100"
    assert "not in this history: 99, 100" in explained.svg


def test_what_a_history_does_not_tell_is_no_fault():
    known, unknown = (
        explain(Finding("lost", "CALL-1", "", (14,), kind), [*History.load(KEPT)])
        for kind in ("fault", "unknown")
    )
    assert "does not tell" not in known.text
    assert "which this history does not tell" in unknown.text
    assert ('class="fault"' in known.svg, 'class="fault"' in unknown.svg) == (True, False)


def test_a_file_that_breaks_before_the_proof_is_an_error(tmp_path):
    path = written(tmp_path / "one", Entry(1, 0.0, "opened"), Entry(2, 0.0, "closed"), events=7)
    assert len(explain(Finding("x", "CALL-1", "", (1, 2)), History.load(path)).entries) == 2
    with pytest.raises(BrokenHistory):
        explain(STALE, History.load(path))


def test_a_definition_unlike_the_one_before_is_told_apart_and_a_poorer_view_is_not():
    def line(kind, *listed, **fields):
        return Entry(1, 0.0, kind, tools=listed, **fields)

    told = [
        text.rpartition("served: ")[2]
        for text in lanes(
            [
                line("served", Listed("a", "d", "i"), who=1),
                line("served", Listed("a", "d", "", "o"), who=1),
                line("served", Listed("a", "", "i", "p"), who=1),
                line("served", Listed("a"), Listed("b"), who=1, more=7),
            ]
        )
    ]
    assert [each.strip("│ ") for each in told] == ["a", "a", "a (2)", "a, b, and 7 more"]


def test_users_connections_servers_and_principals_are_told_apart():
    told = lanes(
        [
            Entry(1, 0.0, "entered", who=2, principal="ann"),
            Entry(2, 0.0, "opened", connection=1),
            Entry(3, 0.0, "opened", connection=2, server="b"),
        ]
    )
    words = [line[17:].strip("│ ●") for line in told]
    assert words == ["[2 ann] entered", "opened", "[2 b] opened"]


def test_a_picture_has_a_lane_for_each_user_and_each_connection():
    some = [
        Entry(1, 0.0, "served", who=1, tools=()),
        Entry(2, 0.0, "asked", connection=2, method="tools/list"),
        Entry(3, 0.0, "answered", connection=1, method="tools/list"),
        Entry(4, 0.0, "served", who=2, principal="ann", tools=()),
    ]
    root = parsed(explain(Finding("x", "TEN-1", "It is so.", (1, 2, 3, 4)), some).svg)
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:6] == ["x (TEN-1)", "wrapper", "wrapper 2 ann", "server", "server 2", "notices"]
    assert root[1].text == "It is so."


def test_a_picture_needs_nothing_else():
    svg = explain(STALE, History.load(KEPT)).svg
    assert "currentColor" in svg
    assert "prefers-color-scheme" in svg
    for word_ in ("script", "href", "url(", "@import", "@font-face", "<!", "<?", "onload"):
        assert word_ not in svg
    assert svg.count("http") == 1


@given(st.lists(entries, max_size=9), findings)
@example([Entry(1, float("nan"), "asked", id=float("inf"))], Finding("", "", "", ()))
def test_whatever_stands_in_a_history_comes_out_harmless(some, finding):
    explained = explain(finding, some)
    text = explained.text.split("\n")
    for line in [*text, *lanes(some), *lanes(some, width=40, gaps=True)]:
        assert line.isprintable()
    assert max(map(columns, text)) <= 80
    assert all(columns(line) <= 80 for line in lanes(some))
    assert all(columns(line) <= 40 for line in lanes(some, width=7))
    parsed(explained.svg)
    assert all(each == "\n" or each.isprintable() for each in explained.svg)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_makes_no_element_and_no_escape(name):
    def explained(name):
        some = [
            Entry(1, 0.0, "asked", method=name, tool=name, server="s", principal=name, id=name),
            Entry(2, 0.0, "served", who=1, principal="p", tools=(Listed(name), Listed(name, name))),
            Entry(3, 0.0, "raised", who=1, principal="p", verb=name, error=name),
        ]
        return explain(Finding(name, name, name, (1, 2, 3)), some)

    kinds = [[each.tag for each in parsed(explained(each).svg)] for each in (name, "a")]
    assert kinds[0] == kinds[1]
    assert explained(name).text.replace("\n", "").isprintable()


@pytest.mark.parametrize("width", [40, 80, 133])
def test_no_line_is_wider_than_it_may_be(width):
    told = [head(width), *lanes(History.load(KEPT), width=width)]
    assert len(told) == 27
    assert max(map(columns, told)) <= width


def test_wide_letters_and_accents_are_counted_as_a_terminal_does():
    assert cells("a字b", 4) == ["a", "字", "", "b"]
    assert cells("a字bc", 4) == ["a", "字", "", "…"]
    assert cells("a字b", 3) == ["a", " ", "…"]
    assert cells("e\u0301", 1) == ["e\u0301"]
    assert cells("abc", 0) == []


def test_a_plain_name_is_a_word_and_any_other_stands_in_quotes():
    assert [word(each) for each in ("a.b/c-1", "a b", 'a"', "", "名", "\x1b")] == [
        "a.b/c-1",
        '"a b"',
        '"a\\""',
        '""',
        "名",
        '"\\u001b"',
    ]
