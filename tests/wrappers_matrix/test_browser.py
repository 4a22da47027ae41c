"""The page in a browser: it is not blank, it fits a narrow screen, and its filter and its sections work."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import zlib

import pytest

from pytest_mcp_conformance.matrix.html import html
from tests.wrappers_matrix.sample import sample

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--virtual-time-budget=2000",
)


@pytest.fixture
def page(tmp_path):
    """The page of the sample."""
    path = tmp_path / "index.html"
    path.write_text(html(sample()), encoding="utf-8")
    return path


@pytest.fixture
def browse(page):
    """Open the page, or another file beside it, with flags and a hash; returns what is printed."""

    def open_it(*flags, where="", file=page):
        user = f"--user-data-dir={page.parent / 'user'}"
        command = [BROWSER, *FLAGS, user, *flags, f"{file.as_uri()}{where}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    return open_it


def pixels(path):
    """Width, height, and the different colours of a PNG of 8 bits a channel, roughly: every 7th pixel."""
    data = path.read_bytes()
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    wide = {2: 3, 6: 4}[kind]
    at, packed = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    raw = zlib.decompress(packed)
    rows = [raw[y * (width * wide + 1) + 1 : (y + 1) * (width * wide + 1)] for y in range(height)]
    return width, height, {row[x : x + wide] for row in rows for x in range(0, len(row), 7 * wide)}


def open_details(dom):
    """The ids of the areas that are open."""
    return {
        found[1]
        for tag in re.findall(r"<details[^>]*>", dom)
        if re.search(r"\sopen\b", tag) and (found := re.search(r'id="([^"]+)"', tag))
    }


def shown_rules(dom):
    """The rules that are told and not filtered out, wrapper by wrapper."""
    tags = re.findall(r'<details class="(rule[^"]*)" data-rule="([^"]+)"', dom)
    return [name for classes, name in tags if "out" not in classes.split()]


@pytest.mark.parametrize(("width", "scheme"), [(1280, 1), (400, 0)])
def test_the_page_is_not_blank(browse, tmp_path, width, scheme):
    picture = tmp_path / "page.png"
    colours = f"--blink-settings=preferredColorScheme={scheme}"
    browse(f"--screenshot={picture}", f"--window-size={width},900", colours)
    _, high, colours = pixels(picture)
    assert high == 900
    assert len(colours) > 20


def test_everything_is_closed_at_first_and_a_link_opens_its_area(browse):
    assert open_details(browse("--dump-dom")) == set()
    assert open_details(browse("--dump-dom", where="#w-acme-1.0-CCH")) == {"w-acme-1.0-CCH"}


@pytest.mark.parametrize(
    ("where", "rules", "areas", "told"),
    [
        ("", ["CCH-12", "CALL-2", "CALL-2"], set(), ""),
        (
            "#verdict=known-gap",
            ["CALL-2", "CALL-2"],
            {"w-acme-1.0-CALL", "w-blue-0.2-CALL"},
            "2 verdicts of 2 wrappers",
        ),
        ("#inherited=no&verdict=broken", ["CCH-12"], {"w-acme-1.0-CCH"}, "1 verdict of 1 wrapper"),
        ("#q=handed%20CCH-12%20gone", ["CCH-12"], {"w-acme-1.0-CCH"}, "1 verdict of 1 wrapper"),
        ("#q=no+such+word", [], set(), "0 verdicts of 0 wrappers"),
    ],
)
def test_the_filter_shows_what_is_asked_for(browse, where, rules, areas, told):
    dom = browse("--dump-dom", where=where)
    assert shown_rules(dom) == rules
    assert open_details(dom) == areas
    assert re.search(r"<output[^>]*>([^<]*)</output>", dom)[1] == told


def test_an_area_filter_takes_the_other_columns_away(browse):
    dom = browse("--dump-dom", where="#area=CALL")
    heads = re.findall(r'<th role="columnheader" scope="col" data-area="(\w+)"(?: class="(\w*)")?', dom)
    assert [name for name, classes in heads if classes != "out"] == ["CALL"]


def test_without_its_script_everything_is_there_and_no_other_script_runs(browse, page):
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace('"use strict";', '"use another";'), encoding="utf-8")
    dom = browse("--dump-dom")
    assert shown_rules(dom) == ["CCH-12", "CALL-2", "CALL-2"]
    assert re.search(r'<form class="filter"[^>]* hidden', dom)


@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_sticks_out_to_the_side(browse, page, width):
    # The page's own policy lets no other script run, so whoever measures it stands around it.
    around = page.with_name("around.html")
    around.write_text(
        f"<!doctype html><title></title><iframe id=f src={page.name} "
        f"style='width:{width}px;height:900px;border:0'></iframe>"
        "<script>f.onload = () => {"
        "for (const each of f.contentDocument.querySelectorAll('details')) each.open = true;"
        "const root = f.contentDocument.documentElement;"
        "document.title = `${root.scrollWidth} of ${root.clientWidth}` }</script>",
        encoding="utf-8",
    )
    dom = browse("--dump-dom", "--allow-file-access-from-files", "--window-size=1400,1000", file=around)
    wide, room = re.search(r"<title>(\d+) of (\d+)</title>", dom).groups()
    assert int(wide) <= int(room) == width
