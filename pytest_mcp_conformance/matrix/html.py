"""The page `index.html`: one file, in which whatever comes from a wrapper is text."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.history.svg import STYLE
from pytest_mcp_conformance.matrix.counting import (
    STATES,
    VERDICTS,
    always_broken,
    by_rule,
    never_broken,
    words_of,
)
from pytest_mcp_conformance.matrix.views import rows_of
from pytest_mcp_conformance.reports.text import plain

__all__ = ["html", "is_link"]

_TEMPLATES = Path(__file__).with_name("templates")


def html(data: Mapping[str, Any]) -> str:
    """The page about a document."""
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup, escape

    data = plain(data)  # nothing that is invisible or turns the direction of a text
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["link"] = is_link
    environment.filters["code"] = lambda text: Markup(_code(str(escape(text))))
    script = (_TEMPLATES / "page.js").read_text(encoding="utf-8")
    style = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    tallies = by_rule(data)
    return environment.get_template("index.html").render(
        data=data,
        rows=rows_of(data, Markup),
        areas=data["areas"],
        rules=data["rules"],
        tallies={each.rule: each for each in tallies},
        never=never_broken(tallies),
        always=always_broken(tallies),
        verdicts=VERDICTS,
        states=STATES,
        words_of=words_of,
        script=Markup(script),
        style=Markup(style + STYLE.replace("}", "}\n")),
        allowed=f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
    )


def _code(escaped: str) -> str:
    """Words in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def is_link(text: str) -> bool:
    """Whether a text may become a link: an address of the web, and nothing else."""
    return re.fullmatch(r"https?://[^\s\"'<>\\]+", text) is not None and text.isprintable()
