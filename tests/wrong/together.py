"""Wrong wrappers that hold several servers in one object."""

from __future__ import annotations

from mcp_conformance_reference.errors import ClientError
from mcp_conformance_reference.several import SeveralClients, ToolOf

from pytest_mcp_conformance.contract.caching import SERVERS_NEVER_SHARE_AN_ENTRY
from pytest_mcp_conformance.contract.calls import FAILED_CALL_IS_NEVER_REDIRECTED
from pytest_mcp_conformance.contract.tools import (
    SAME_NAME_ON_TWO_SERVERS_IS_NOT_SHADOWED,
    TOOLS_OF_ONE_NAME_ARE_TOLD_APART,
)
from tests.wrong._together import Together
from tests.wrong._wrong import breaks


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


@breaks(TOOLS_OF_ONE_NAME_ARE_TOLD_APART)
class RefusesTheClash(Together):
    """Two tools of one name are an error, which names them, and nothing can be set against it."""

    class kind(SeveralClients):
        async def list_tools(self):
            tools = await super().list_tools()
            names = [tool.tool.name for tool in tools]
            if len(set(names)) < len(names):
                raise ValueError(f"two servers have tools of one name: {names}")
            return tools


@breaks(TOOLS_OF_ONE_NAME_ARE_TOLD_APART)
class TellsApartByTheServersOwnName(Together):
    """Tools are prefixed by what a server calls itself, and the table by name holds one of two."""

    class kind(SeveralClients):
        async def list_tools(self):
            return list({f"said_{tool.tool.name}": tool for tool in await super().list_tools()}.values())


@breaks(SERVERS_NEVER_SHARE_AN_ENTRY)
class OneListForAll(Together):
    """The list of the first server is kept for all of the object."""

    class kind(SeveralClients):
        async def list_tools(self):
            tools = await super().list_tools()
            first, *others = self.clients
            return [self.tool_type(server, tool.tool) for tool in tools[:1] for server in (first, *others)]


@breaks(FAILED_CALL_IS_NEVER_REDIRECTED)
class TriesTheNext(Together):
    """A call that fails is tried on the next server that has a tool of this name."""

    class kind(SeveralClients):
        async def call_tool(self, tool, arguments=None):
            try:
                return await tool(arguments)
            except ClientError:
                tools = await self.list_tools()
                named = (
                    each for each in tools if each.tool.name == tool.tool.name and each.name != tool.name
                )
                return await next(named)(arguments)
