"""Wrappers that read the first page only, though they do not say so: PAG-1 tells it, and no other rule."""

from __future__ import annotations

from pytest_mcp_conformance.history import Event
from pytest_mcp_conformance.scenarios._connect import Connect
from pytest_mcp_conformance.scenarios._judge import NotClaimed
from pytest_mcp_conformance.server import ScriptedServer

__all__ = ["FIRST_PAGE_ONLY", "must_ask_for_a_second_page", "names_a_page"]

FIRST_PAGE_ONLY = "lists the first page only, which is about PAG-1"

LONG = 250
"""The tools of a page that nobody takes for the last one because it is short."""


async def must_ask_for_a_second_page(server: ScriptedServer, connect: Connect) -> None:
    """Go on with a wrapper that walks, however it does that.

    Nothing is done where a second page was asked for. Where none was, the reason may lie in the pages of the
    scenario, so one more holder lists from a server with a long first page and a plain cursor.

    Raises:
        NotClaimed: The wrapper asks for the first page, and for no other, there as well.
    """
    if _asked_on(server):
        return
    server.recovers()
    server.pages([f"t{n}" for n in range(LONG)], ["last"])
    mark = server.ledger.mark
    holder = await connect.attempt(server)
    if holder.error is None:
        await holder.try_names()
        if server.ledger.listings(since=mark) and not _asked_on(server):
            raise NotClaimed(FIRST_PAGE_ONLY)


def names_a_page(request: Event) -> bool:
    """True for a request for a page that is not the first."""
    return "cursor" in request.params


def _asked_on(server: ScriptedServer) -> bool:
    return bool(server.ledger.frames("tools/list", where=names_a_page))
