"""A client that hands out single pages as well, each to whoever gives its cursor.

By itself it breaks nothing: it is another right way.
"""

from __future__ import annotations

from pytest_mcp_conformance.contract import Tool
from tests.wrong._client import Client

__all__ = ["GivesSinglePages"]


class GivesSinglePages(Client):
    """Beside the whole list there is one page at a time."""

    def verbs(self):
        return {"list_page": self.list_page}

    async def list_page(self, cursor):
        """The tools of one page, and the cursor of the next."""
        with self.verb("list_page") as life:
            connection = await life.dialler.connected()
            walk = self.walk_type(connection, self._settings, lambda: False)
            page = await walk.page(self.asked_for(cursor))
            definitions, _ = walk.collect([page])
            return [Tool(known.name) for known in definitions], page.next_cursor

    def asked_for(self, cursor):
        """By which cursor a page is asked for."""
        return cursor
