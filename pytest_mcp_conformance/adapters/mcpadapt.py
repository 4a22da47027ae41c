"""`MCPAdapt` of mcpadapt as an async context manager, the way that its docstring recommends."""

from inspect import isawaitable, signature

from mcp import StdioServerParameters
from mcpadapt.core import MCPAdapt, ToolAdapter

from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter

HAS_LIMIT = "client_session_timeout_seconds" in signature(MCPAdapt).parameters
CLAIMS = Claims(
    isolates_principals=True,  # an object for each user
    own_timeout=5.0 if HAS_LIMIT else None,  # the default, by its docstring
    binds_tools=True,
    clock=True,
    eras=("handshake",),
    transports=("http", "stdio", "loopback"),
    same_task_close=True,  # as the session inside
    one_shot=True,
)


class Tools(ToolAdapter):
    """Adapts tools to the kit as it would to an agent framework."""

    def adapt(self, func, mcp_tool):
        """One tool, with the function that calls it."""
        return Tool(mcp_tool.name, mcp_tool.description, mcp_tool.inputSchema, mcp_tool.outputSchema, func)

    async_adapt = adapt


@adapter("mcpadapt", claims=CLAIMS)
async def adapter_(dial):
    """The tools are those of `atools`; a name is called on the session."""
    if dial.transport == "stdio":
        way = StdioServerParameters(**dial.settings())
    else:
        way = dial.settings(transport="streamable-http")
    client = MCPAdapt(way, Tools())

    async def call_tool(tool, arguments):
        if isinstance(tool, str):
            return await client.sessions[0].call_tool(tool, arguments)
        return await tool(arguments)

    async def list_tools():
        listed = client.atools()
        return await listed if isawaitable(listed) else listed  # a plain function before 0.1.7

    async def bind(name):
        return next(tool.handle for tool in await list_tools() if tool.name == name)

    async with client:
        yield Wrapper(list_tools=list_tools, call_tool=call_tool, bind=bind)
