"""Every relative link of the pages leads somewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

from tests.docs.examples import ROOT, pages

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_somewhere(page):
    targets = [each for each in LINK.findall(_prose(page)) if not re.match(r"[a-z]+:", each)]
    assert [each for each in targets if not _is_there(page, each)] == []


def _is_there(page: Path, target: str) -> bool:
    name, _, section = target.partition("#")
    path = (page.parent / name).resolve() if name else page
    return path.exists() and (not section or section in _sections(path))


@lru_cache
def _sections(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _prose(page), re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


@lru_cache
def _prose(page: Path) -> str:
    return CODE.sub("", page.read_text(encoding="utf-8"))
