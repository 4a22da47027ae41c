"""Wrong wrappers that hold several servers in one object."""

from __future__ import annotations

from mcp_conformance_reference.several import SeveralClients, ToolOf

from pytest_mcp_conformance.adapters.reference import together_of
from pytest_mcp_conformance.contract.tools import SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED
from tests.wrong._client import Client
from tests.wrong._wrong import breaks


class Together(Client):
    """A client beside whose verbs one holds several servers; by itself it breaks nothing."""

    kind = SeveralClients

    def verbs(self):
        return {"together": together_of(self.kind)}


class Unmarked(ToolOf):
    """A tool under its own name."""

    def __init__(self, server, tool):
        super().__init__(server, tool)
        self.name = tool.name


@breaks(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED)
class OneTableForAll(Together):
    """The tools of all servers are in one table by name, and the last one stays."""

    class kind(SeveralClients):
        async def list_tools(self):
            return list({tool.tool.name: tool for tool in await super().list_tools()}.values())


@breaks(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED)
class FirstOfThatName(Together):
    """Both tools are shown, and whichever is called, the first server that has one of that name gets it."""

    class kind(SeveralClients):
        tool_type = Unmarked

        async def call_tool(self, tool, arguments=None):
            name = getattr(tool, "name", tool)
            first = next(each for each in await self.list_tools() if each.name == name)
            return await first(arguments)


@breaks(SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED)
class ClashIsAnObscureError(Together):
    """Two tools of one name end in an error that says nothing of them."""

    class kind(SeveralClients):
        async def list_tools(self):
            tools = await super().list_tools()
            if len({tool.tool.name for tool in tools}) < len(tools):
                raise RuntimeError("cannot start")
            return tools
