"""A few entries as a picture: a lane down for each user and each connection, time downwards.

One `svg` element without script, font, image or link. Every text in it is cleaned and escaped; its colours
are those of the text around it, and of the reader's choice of light or dark where it stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pytest_mcp_conformance.history.entry import Entry
from pytest_mcp_conformance.history.lanes import time_of
from pytest_mcp_conformance.history.plain import cells, word
from pytest_mcp_conformance.history.words import Words, lane_of

__all__ = ["STYLE", "drawn"]

STYLE = (
    ".mcp-lanes{color:inherit;font:12px ui-monospace,monospace}"
    ".mcp-lanes text{fill:currentColor}"
    ".mcp-lanes .lane{stroke:currentColor;stroke-opacity:.3}"
    ".mcp-lanes .way{stroke:currentColor;fill:none}"
    ".mcp-lanes circle{fill:currentColor}"
    ".mcp-lanes .fault{fill:#d1242f}"
    ".mcp-lanes .quiet{fill-opacity:.7}"
    ":root.mcp-lanes{background:#fff;color:#1f2328}"
    "@media(prefers-color-scheme:dark){:root.mcp-lanes{background:#0d1117;color:#e6edf3}"
    ".mcp-lanes .fault{fill:#ff7b72}}"
)
"""How pictures look; a page that holds many says it once."""

_WIDE = 880
_FIRST, _LAST = 130, 780
_ROW, _TOP = 36, 66
_LETTER = 7.4
_WAY = 70
_TO_SERVER = frozenset({"asked", "told", "replied"})
_TO_WRAPPER = frozenset({"answered", "failed", "requested", "noticed"})

Lane = tuple[int, int, str]


def drawn(
    entries: Sequence[Entry],
    *,
    title: str,
    told: str,
    fault: bool = True,
    times: bool = True,
    style: str = STYLE,
) -> str:
    """The picture of some entries.

    Args:
        entries: The entries, in order.
        title: What stands above it, clean.
        told: The same in a sentence, clean; whoever cannot see the picture is told this.
        fault: Whether the last entry is where the fault shows.
        times: Whether it says when each happened.
        style: Its style sheet; empty where the page around it has it.
    """
    places = _places(entries)
    words = Words()
    high = _TOP + _ROW * (len(entries) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="mcp-lanes" role="img" '
        f'viewBox="0 0 {_WIDE} {high}" width="{_WIDE}" height="{high}">',
        f"<title>{escape(title)}</title><desc>{escape(told)}</desc>",
        f"<style>{style}</style>" if style else "",
        _text(8, 20, title, _WIDE - 16),
    ]
    between = (_LAST - _FIRST) / max(len(places) - 1, 1)
    for (_, _, name), x in places.items():
        parts.append(f'<path class="lane" d="M{x} {_TOP - 14}V{high - 10}"/>')
        parts.append(_text(x, _TOP - 20, name, int(between) - 8, more=' text-anchor="middle" class="quiet"'))
    for at, entry in enumerate(entries, 1):
        wrong = fault and at == len(entries)
        parts += _row(entry, _TOP + _ROW * at, places, words(entry), wrong=wrong, times=times)
    return "".join([*parts, "</svg>"])


def _places(entries: Sequence[Entry]) -> dict[Lane, int]:
    """The lanes from left to right, and where each is."""
    there = {_lane(entry) for entry in entries}
    for number, name in enumerate(("wrapper", "server", "notices")):
        if all(lane[0] != number for lane in there):
            there.add((number, 0, name))
    ordered = sorted(there)
    step = (_LAST - _FIRST) / (len(ordered) - 1)
    return {lane: round(_FIRST + step * at) for at, lane in enumerate(ordered)}


def _lane(entry: Entry) -> Lane:
    kind = lane_of(entry)
    if kind == 2:
        return 2, 0, "notices"
    number = entry.who or entry.connection
    who = "".join(f" {word(each)}" for each in (entry.server, entry.principal) if each)
    name = "wrapper" if kind == 0 else "server"
    return kind, number, f"{name}{f' {number}' if number > 1 else ''}{who}"


def _row(entry: Entry, y: int, places: dict[Lane, int], said: str, *, wrong: bool, times: bool) -> list[str]:
    x = places[_lane(entry)]
    shade = ' class="fault"' if wrong else ""
    parts = [
        _text(8, y + 4, f"#{entry.n}", 48, more=' class="quiet"'),
        _text(56, y + 4, time_of(entry.at), 64, more=' class="quiet"') if times else "",
        f'<circle cx="{x}" cy="{y}" r="4"{shade}/>',
    ]
    if not entry.who and entry.kind in _TO_SERVER | _TO_WRAPPER:  # short: whose verb it was is not known
        begin, end = (x - _WAY, x - 6) if entry.kind in _TO_SERVER else (x, x - _WAY)
        tip = -6 if end > begin else 6
        parts.append(f'<path class="way" d="M{begin} {y}H{end}m{tip} -4L{end} {y}l{tip} 4"/>')
    right, left = _WIDE - 8 - x, x - 128
    if len(said) * _LETTER <= right - 8 or right >= left:
        parts.append(_text(x + 8, y - 7, said, right - 8, more=shade))
    else:
        parts.append(_text(x - 8, y - 7, said, left, more=f' text-anchor="end"{shade}'))
    return parts


def _text(x: float, y: float, text: str, room: float, *, more: str = "") -> str:
    shown = "".join(cells(text, max(int(room / _LETTER), 1)))
    return f'<text x="{x}" y="{y}"{more}>{escape(shown)}</text>'
