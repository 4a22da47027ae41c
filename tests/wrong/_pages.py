"""A client that keeps pages, each for its own lifetime, and asks for the lapsed ones alone.

By itself it breaks nothing: it is another right way, and makes no promise of a list that is of one moment.
"""

from __future__ import annotations

from itertools import count

from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.toollist import ToolList
from mcp_conformance_reference.walk import Walk

from tests.wrong._client import Client

__all__ = ["KeepsPages"]


class KeepsPages(Client):
    """Keeps single pages, as long as what stands for hearing of changes stands."""

    def enter(self):
        self.pages = {}
        self.walks = count(1)

    def tool_list_type(self, connected, settings):
        pages = self.pages

        class Forgetting(ToolList):
            async def refresh(self):
                pages.clear()
                return await super().refresh()

            def invalidate(self):
                pages.clear()
                super().invalidate()

        return Forgetting(connected, settings)

    def key(self, coverage, asked, cursor):
        """What a page is kept under; `asked` are the cursors of the walk so far."""
        return coverage, cursor

    def walk_type(self, *parts):
        client, pages = self, self.pages

        class Keeping(Walk):
            def __init__(self, *parts):
                super().__init__(*parts)
                self.number = next(client.walks)
                self.asked = []

            async def listing(self):
                try:
                    return await super().listing()
                except ListFailed as error:
                    return await self.broken_off(error)

            async def broken_off(self, error):
                """A kept page may have led to a cursor that is dead: start over, without any."""
                if not pages:
                    raise error
                pages.clear()
                self.asked.clear()
                return await super().listing()

            async def page(self, cursor):
                coverage = self._connection.coverage()
                key = client.key(coverage, self.asked, cursor)
                self.asked.append(cursor)
                _, kept = pages.get(key, (0, None))
                if kept is not None and self._settings.now() < kept.received_at + kept.lifetime:
                    return kept
                page = await super().page(cursor)
                number, _ = pages.get(key, (0, None))
                if not (self._overtaken() or coverage is None or self.number < number):
                    pages[key] = self.number, page
                return page

            def expiry(self, pages):
                """The list as a whole is put together anew each time."""
                return None if super().expiry(pages) is None else self._settings.now()

        return Keeping(*parts)
