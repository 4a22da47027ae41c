"""One job: an environment, a look at what is installed in it, and a run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_mcp_conformance.matrix.work.environment import NotMade, environment, versions_in
from pytest_mcp_conformance.matrix.work.playing import play

__all__ = ["do"]


def do(job: dict[str, Any], tell: Callable[[str], object], stop: threading.Event) -> dict[str, Any]:
    """Do a job; whatever goes wrong with the wrapper is part of what is returned.

    Args:
        job: Plain data: `folder`, `python`, `words`, `stamp`, `requirements`, and what `play` takes.
        tell: Told in a word or two what is done.
        stop: Set when this is to end.
    """
    folder = Path(job["folder"]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    tell("preparing its environment")
    try:
        environment(folder, job["python"], job["words"], job["stamp"], stop)
        there = versions_in(folder, job["requirements"], stop)
    except NotMade as error:
        if stop.is_set():
            return {"state": "stopped", "why": "the run was interrupted"}
        return {"state": "not-installed", "why": str(error)}
    said = {"python": there["python"], "versions": there["versions"]}
    if there["wrong"]:
        wanted, found = there["wrong"][0]
        name = f"version {found} is installed" if found else "nothing of that name is installed"
        return {**said, "state": "other-version", "why": f"the table says {wanted}, and {name}"}
    tell("playing")
    return {
        **said,
        **play(
            folder,
            job["wrapper"],
            module=job["module"],
            gaps=job["gaps"],
            workers=job["workers"],
            more=job["more"],
            limit=job["limit"],
            stop=stop,
        ),
    }
