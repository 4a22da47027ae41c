"""Wrong wrappers of TOOL."""

from __future__ import annotations

from dataclasses import replace

from mcp_conformance_reference.calls import Caller
from mcp_conformance_reference.definitions import definition_of
from mcp_conformance_reference.handles import ListedTool
from mcp_conformance_reference.toollist import ToolList

from pytest_mcp_conformance.contract.tools import (
    CHANGED_DEFINITION_IS_HANDED_OUT_NEW,
    EDITED_DEFINITION_CHANGES_NOTHING,
    REMOVED_TOOL_DISAPPEARS,
    SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED,
)
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


@breaks(EDITED_DEFINITION_CHANGES_NOTHING)
class ChecksByWhatItHandedOut(Client):
    """The check reads the very schema that the caller was handed."""

    class handle_type(ListedTool):
        @property
        def listed(self):
            if not hasattr(self, "_entry"):
                self._entry = super().listed
            return self._entry

    class caller_type(Caller):
        def definition_of_handle(self, tool):
            super().definition_of_handle(tool)
            return definition_of(tool.listed)


@breaks(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED)
class LastLoadedWins(Client):
    """All tools are in one table by name."""

    def hand_out(self, listed):
        for known in listed.all():
            self.shared[known.name] = self
        return super().hand_out(listed)

    async def call_tool(self, tool, arguments=None, **more):
        name = getattr(tool, "name", tool)
        owner = self.shared.get(name, self)
        return await Client.call_tool(owner, name, arguments, **more)


@breaks(CHANGED_DEFINITION_IS_HANDED_OUT_NEW)
class DefinitionsAreKeptByName(Client):
    """A name that is known keeps its first definition."""

    class tool_list_type(ToolList):
        def write(self, flight, listing):
            first = self.__dict__.setdefault("first", {})
            kept = tuple(first.setdefault(known.name, known) for known in listing.definitions)
            return super().write(flight, replace(listing, definitions=kept))


@breaks(CHANGED_DEFINITION_IS_HANDED_OUT_NEW)
class ArgumentsOfTheFirstSchema(Client):
    """Arguments that the first schema of a name does not know are left out."""

    def enter(self):
        self.known = {}

    def hand_out(self, listed):
        for definition in listed.all():
            self.known.setdefault(definition.name, definition.listed["inputSchema"]["properties"])
        return super().hand_out(listed)

    async def call_tool(self, tool, arguments=None, **more):
        takes = self.known[tool.name]
        return await super().call_tool(
            tool, {key: value for key, value in arguments.items() if key in takes}, **more
        )


@breaks(REMOVED_TOOL_DISAPPEARS)
class ListOnlyGrows(Client):
    """A new listing is merged into the old one."""

    class tool_list_type(ToolList):
        def write(self, flight, listing):
            if self.newest is not None:
                names = {known.name for known in listing.definitions}
                gone = tuple(known for known in self.listed.all() if known.name not in names)
                listing = replace(listing, definitions=listing.definitions + gone)
            return super().write(flight, listing)


@breaks(REMOVED_TOOL_DISAPPEARS)
class OneViewIsForgotten(Client):
    """A removed tool stays in another view of the tools."""

    async def names(self):
        seen = self.__dict__.setdefault("seen", {})
        for tool in await self.list_tools():
            seen[tool.name] = tool
        return list(seen)

    async def list_tools(self):
        tools = await super().list_tools()
        self.__dict__.setdefault("seen", {}).update({tool.name: tool for tool in tools})
        return tools
