"""Write the generated pages: `python -m tests.generate`, on mcp 2.x, which speaks both eras."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor

from pytest_mcp_conformance.adapters import sdk_major
from tests import coverage
from tests.matrix import PACKAGED, broken_by, judging, packaged
from tests.pages import REFERENCE, kill_matrix, rule_pages, schema_of_histories
from tests.wrong import WRONG


def rules_broken_by(name: str) -> tuple[str, ...]:
    """The rules that the wrong wrapper of this name breaks."""
    wrong = next(wrong for wrong in WRONG if wrong.name == name)
    return broken_by(wrong, judging(wrong))


def main() -> None:
    """Write them all, and say which ones changed."""
    if sdk_major() < 2:
        sys.exit("the kill matrix covers both eras: install mcp 2.x to write it")
    with ProcessPoolExecutor(2 * (os.cpu_count() or 1)) as workers:  # some of what is played waits really
        names = [wrong.name for wrong in WRONG]
        kills = dict(zip(names, workers.map(rules_broken_by, names, chunksize=4), strict=True))
        places = list(coverage.places())
        found = dict(zip(places, workers.map(coverage.said, *zip(*places, strict=True)), strict=True))
    pages = {
        **rule_pages(),
        REFERENCE / "kill-matrix.md": kill_matrix(kills),
        REFERENCE / "coverage.md": coverage.page(found),
        PACKAGED: packaged(),
        **dict([schema_of_histories()]),
    }
    for path, text in pages.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        changed = not path.exists() or path.read_text(encoding="utf-8") != text
        path.write_text(text, encoding="utf-8")
        print(f"{'wrote' if changed else 'kept '} {path.relative_to(REFERENCE.parents[1])}")  # noqa: T201


if __name__ == "__main__":
    main()
