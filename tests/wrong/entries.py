"""More wrong wrappers of TOOL: about entries of a listing that are long, odd, alike, or no tools at all."""

from __future__ import annotations

import re

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.definitions import definition_of
from mcp_conformance_reference.errors import ListFailed
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.walk import LeftOut, Walk

from pytest_mcp_conformance.contract.tools import (
    DEFINITION_IS_HANDED_OUT_WHOLE,
    MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS,
    NAME_GOES_BACK_AS_LISTED,
    ORDER_IS_KEPT_AND_NAMES_COME_ONCE,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(ORDER_IS_KEPT_AND_NAMES_COME_ONCE)
class SortsByName(Client):
    """Tools are handed out in the order of their names."""

    class walk_type(Walk):
        def collect(self, pages):
            definitions, left_out = super().collect(pages)
            return tuple(sorted(definitions, key=lambda known: known.name)), left_out


@breaks(ORDER_IS_KEPT_AND_NAMES_COME_ONCE)
class PagesAreStrungTogether(Client):
    """The tools of all pages are handed out, a name that is on two of them twice."""

    class walk_type(Walk):
        def collect(self, pages):
            definitions, left_out = super().collect(pages)
            names = [entry.get("name") for page in pages for entry in page.entries if isinstance(entry, dict)]
            twice = [known for known in definitions if names.count(known.name) > 1]
            return (*definitions, *twice), left_out

    def hand_out(self, listed):
        found = self._life.tools.newest.listing.definitions
        return [self.handle_type(listed.bind(known), self) for known in found]


@breaks(ORDER_IS_KEPT_AND_NAMES_COME_ONCE)
class ShowsTheFirstAndChecksTheLast(Client):
    """The first tool of a name is handed out, and the schema of the last one judges."""

    def enter(self):
        self.last = {}

    class walk_type(Walk):
        def read_entry(self, entry):
            known = super().read_entry(entry)
            if not isinstance(known, LeftOut):
                self._settings.parts.last[known.name] = known
            return known

    class caller_type(Caller):
        def definition_of_handle(self, tool, listing):
            super().definition_of_handle(tool, listing)
            return self._settings.parts.last[tool.name]


@breaks(DEFINITION_IS_HANDED_OUT_WHOLE)
class KeepsTheFieldsThatItKnows(Client):
    """Of a definition the fields are kept that the client knows."""

    class walk_type(Walk):
        def read_entry(self, entry):
            known = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta")
            if isinstance(entry, dict):
                entry = {key: value for key, value in entry.items() if key in known}
            return super().read_entry(entry)


@breaks(DEFINITION_IS_HANDED_OUT_WHOLE)
class OneTableOfDefinitions(Client):
    """The `$defs` of all tools go into one table, by their names."""

    def enter(self):
        self.table = {}

    def handle_type(self, binding, owner):
        entry = binding.definition.listed
        schema = entry["inputSchema"]
        if "$defs" in schema:
            schema["$defs"] = {
                name: self.table.setdefault(name, part) for name, part in schema["$defs"].items()
            }

        class Showing(ListedTool):
            listed = property(lambda tool: definition_of(entry).listed)

        return Showing(binding, owner)


@breaks(DEFINITION_IS_HANDED_OUT_WHOLE)
class AnUnknownFieldIsAnError(Client):
    """A field that is not known makes the listing fail."""

    class walk_type(Walk):
        def read_entry(self, entry):
            if isinstance(entry, dict) and "later" in entry:
                raise ListFailed("tools/list", "extra fields are not permitted: later")
            return super().read_entry(entry)


@breaks(DEFINITION_IS_HANDED_OUT_WHOLE)
class AScopeOfALaterRevisionIsJudged(Client):
    """A scope that the revision spoken does not know of is held to what a later one says of it."""

    class walk_type(Walk):
        def read(self, raw):
            scope = raw.get("cacheScope", "private")
            if self._connection.session.era == "handshake" and scope not in ("public", "private"):
                raise ListFailed("tools/list", "cacheScope: should be 'public' or 'private'")
            return super().read(raw)


@breaks(DEFINITION_IS_HANDED_OUT_WHOLE)
class AListingHoldsToolsAlone(Client):
    """A field beside the tools that no revision knows makes the listing fail."""

    class walk_type(Walk):
        def read(self, raw):
            known = ("tools", "nextCursor", "resultType", "ttlMs", "cacheScope", "_meta")
            more = [key for key in raw if key not in known]
            if more:
                raise ListFailed("tools/list", f"extra fields are not permitted: {more}")
            return super().read(raw)


@breaks(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS)
class OneBadEntryIsNoTools(Client):
    """A listing that cannot be read is taken for a server without tools."""

    class walk_type(Walk):
        def collect(self, pages):
            definitions, left_out = super().collect(pages)
            return (() if left_out else definitions), left_out


@breaks(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS)
class StopsAtTheBadEntry(Client):
    """Entries are read up to the first one that is no tool."""

    class walk_type(Walk):
        stopped = False

        def read_entry(self, entry):
            read = LeftOut(entry, "it is behind a bad one") if self.stopped else super().read_entry(entry)
            self.stopped = isinstance(read, LeftOut)
            return read


@breaks(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS)
class FailsWithoutSayingWhere(Client):
    """A listing with an entry that is no tool fails, and nobody is told which it is."""

    class walk_type(Walk):
        def collect(self, pages):
            definitions, left_out = super().collect(pages)
            if left_out:
                raise ListFailed("tools/list", "the answer is invalid")
            return definitions, left_out


@breaks(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS)
class AClosedSchemaIsAnError(Client):
    """A listing with an input schema that is closed fails, and nobody is told whose it is."""

    class walk_type(Walk):
        def read_entry(self, entry):
            schema = entry.get("inputSchema") if isinstance(entry, dict) else None
            if isinstance(schema, dict) and "additionalProperties" in schema:
                raise ListFailed("tools/list", "the answer is invalid")
            return super().read_entry(entry)


@breaks(MALFORMED_ENTRY_SPARES_THE_GOOD_TOOLS)
class AClosedPropertyIsAnError(Client):
    """A listing with an argument that is a closed object fails, and nobody is told whose it is."""

    class walk_type(Walk):
        def read_entry(self, entry):
            schema = entry.get("inputSchema") if isinstance(entry, dict) else None
            properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
            if any(isinstance(part, dict) and "additionalProperties" in part for part in properties.values()):
                raise ListFailed("tools/list", "the answer is invalid")
            return super().read_entry(entry)


@breaks(NAME_GOES_BACK_AS_LISTED)
class LowersNames(Client):
    """Names go back in small letters."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            return await super().send(connection, plan._replace(name=plan.name.lower()), arguments)


@breaks(NAME_GOES_BACK_AS_LISTED)
class NamesGoBackAsShown(Client):
    """Signs that a model may not like are replaced where a tool is shown, and so they go back."""

    class caller_type(Caller):
        async def send(self, connection, plan, arguments):
            return await super().send(connection, plan._replace(name=in_one_form(plan.name)), arguments)


@breaks(NAME_GOES_BACK_AS_LISTED)
class OneTableOfForms(Client):
    """Tools are found by the form in which they are shown: of two of one form the last one is called."""

    def enter(self):
        self.table = {}

    async def list_tools(self):
        tools = await super().list_tools()
        self.table = {in_one_form(tool.name): tool for tool in tools}
        return tools

    async def call_tool(self, tool, arguments=None):
        name = getattr(tool, "name", tool)
        return await super().call_tool(self.table.get(in_one_form(name), tool), arguments)


def in_one_form(name):
    return re.sub(r"[^a-zA-Z0-9_]", "_", name)
