"""The pages: data becomes text and never markup, and what is in the repository is what would be written."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mcp_conformance.contract import RULES, UsageError
from pytest_mcp_conformance.matrix.counting import always_broken, by_rule, never_broken
from pytest_mcp_conformance.matrix.document import document, entry_of, loaded
from pytest_mcp_conformance.matrix.html import html, is_link
from pytest_mcp_conformance.matrix.markdown import markdown
from pytest_mcp_conformance.matrix.pages import pages, write
from pytest_mcp_conformance.matrix.table import read_table
from tests.wrappers_matrix.sample import BROKEN, entry, sample

ROOT = Path(__file__).parents[2]
MATRIX = ROOT / "docs" / "matrix"
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></pre></details></svg><svg onload=alert(1)>",
    "\x1b[2J\x1b]0;title\x07\u202eolleh\u200b",
    "a | b | c\n\n# heading\n[link](javascript:alert(1)) `code` ![i](http://x/y)",
    "{{ 7 * 7 }}{% raw %}",
    "]]>--><!--",
]


class Seen(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.ids, self.depth = [], [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in ("meta", "input", "path", "circle"):
            self.depth.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("path", "circle"):
            assert self.depth.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def hostile(text):
    """A matrix in which every text of a wrapper's is this one."""
    rule = {**BROKEN, "detail": text, "item": text, "reason": text, "confirmed": text, "link": text}
    rule["drawn"] = [{**each, "tool": text, "principal": text} for each in BROKEN["drawn"]]
    odd = entry(
        "acme", "1.0", {"CCH-12": rule, "CCH-13": {**rule, "verdict": "known-gap", "inherited": True}}
    )
    told = [{"detail": text, "items": 1, "item": text}]
    odd |= {"adapter": text, "package": text, "version": text, "sdk": text, "python": text, "pins": [text]}
    odd |= {"state": text, "why": text, "claims": {text: [text]}, "trouble": told, "printed": told}
    odd |= {"probes": [{"claim": text, "says": True, "wire": False, "detail": text}]}
    odd["rules"]["CALL-1"] = {"verdict": "not-claimed", "level": "MUST", "detail": text}
    return document([odd, odd])


def shape(page):
    """What of a page is markup: it may not depend on what wrappers say."""
    seen = Seen(page)
    assert seen.depth == []
    names = [(tag, name) for tag, name, _ in seen.attributes]
    return seen.tags, names


PLAIN = shape(html(hostile("x")))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_never_obeyed(text):
    page = html(hostile(text))
    assert shape(page) == PLAIN
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e]", page)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e]", markdown(hostile(text)))


@settings(max_examples=30)
@given(st.text(max_size=60))
def test_no_text_at_all_becomes_markup(text):
    # With a letter more it is neither a state, nor a package that the page knows, nor a link.
    assert shape(html(hostile(f"{text}<"))) == PLAIN


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_cell_of_the_markdown(text):
    plain, odd = markdown(hostile("x")).splitlines(), markdown(hostile(text)).splitlines()
    assert len(odd) == len(plain)
    for line, same in zip(plain, odd, strict=True):
        for sign in "|`<[":
            unescaped = rf"(?<!\\)(?:\\\\)*{re.escape(sign)}"
            assert len(re.findall(unescaped, same)) == len(re.findall(unescaped, line))


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("https://example.org/acme/issues/7?a=b#c", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://example.org/ x", False),
        ('https://example.org/"onclick=', False),
        ("https://example.org/\u202egro", False),
        ("//example.org", False),
        ("ftp://example.org", False),
    ],
)
def test_only_addresses_of_the_web_become_links(text, may):
    assert is_link(text) is may
    hrefs = [
        value for tag, name, value in Seen(html(hostile(text))).attributes if (tag, name) == ("a", "href")
    ]
    outside = [href for href in hrefs if not re.fullmatch(r"#[\w.-]+|matrix\.(json|md)", href)]
    assert set(outside) == ({text} if may else set())


def test_the_page_asks_nobody_for_anything():
    page = html(sample())
    seen = Seen(page)
    asks = {"src", "srcset", "data", "action", "background", "poster", "formaction"}
    assert [each for each in seen.attributes if each[1] in asks] == []
    assert not {"link", "img", "iframe", "object", "embed", "base"} & {*seen.tags}
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert len(seen.ids) == len({*seen.ids})


def test_every_link_within_the_page_leads_somewhere():
    seen = Seen(html(sample()))
    hrefs = {value[1:] for tag, name, value in seen.attributes if name == "href" and value.startswith("#")}
    assert hrefs - {*seen.ids} == set()


def test_the_page_tells_what_a_maintainer_needs():
    texts = " ".join(" ".join(Seen(html(sample())).texts).split())
    for told in (
        RULES["CALL-2"].text,
        "the user was handed a, which had gone",
        "one side request is let to replace the result",
        "played by hand against a server of forty lines, twice",
        "inherited from the SDK",
        "not judged yet",
        "served: a",
        "164 more rules look inside parts that it does not hand out",
    ):
        assert told in texts


def test_rules_are_listed_that_none_and_that_every_wrapper_breaks():
    tallies = by_rule(sample())
    assert [each.rule for each in always_broken(tallies)] == ["CALL-2"]
    never = [each.rule for each in never_broken(tallies)]
    assert "CCH-13" in never
    assert {"CCH-12", "CALL-2", "TOOL-1"} & {*never} == set()


def test_files_are_written_and_read_again(tmp_path):
    folder = tmp_path / "a" / "b"
    assert loaded(folder / "matrix.json") is None
    names = [path.name for path in write(folder, sample())]
    assert names == ["matrix.json", "matrix.md", "index.html"]
    told = loaded(folder / "matrix.json")
    assert told == json.loads(json.dumps(sample()))
    assert entry_of(told, "blue", "0.2")["state"] == "judged"
    assert entry_of(told, "blue", "0.3") is None
    (folder / "matrix.json").write_text('{"format": 99}')
    with pytest.raises(UsageError, match="no matrix of format 1"):
        loaded(folder / "matrix.json")


@pytest.mark.skipif(not MATRIX.is_dir(), reason="no matrix was written here")
def test_the_pages_of_the_repository_are_made_of_its_data():
    told = loaded(MATRIX / "matrix.json")
    for name, text in pages(told).items():
        assert (MATRIX / name).read_text(encoding="utf-8") == text, f"{name} is stale: tox -e matrix"


@pytest.mark.skipif(not MATRIX.is_dir(), reason="no matrix was written here")
def test_every_row_of_the_table_is_in_the_matrix():
    told = loaded(MATRIX / "matrix.json")
    missing = [row.key for row in read_table() if entry_of(told, row.adapter, row.version) is None]
    assert missing == [], "tox -e matrix"
