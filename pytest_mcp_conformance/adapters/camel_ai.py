"""CAMEL's `MCPToolkit` with one server: function tools that an agent awaits by `func.async_call`."""

from pytest_mcp_conformance.adapters._camel import BY_CONFIG, LIMIT, connected
from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter


@adapter(
    "camel-ai",
    claims=Claims(
        caches_listings=True,  # MCPClient._try_connect: lists once, when it connects; get_tools reads that
        own_timeout=LIMIT if BY_CONFIG else None,  # MCPToolkit and MCPClient, `timeout`
        binds_tools=True,
        clock=True,
        eras=("handshake",),
        transports=("http", "stdio", "loopback") if BY_CONFIG else ("stdio",),
    ),
)
async def adapter_(dial):
    """A toolkit over one server."""

    async def list_tools():
        return [_tool(each) for each in toolkit.get_tools()]

    async def call_tool(tool, arguments):
        if isinstance(tool, str):
            if BY_CONFIG:
                return await toolkit.call_tool(tool, arguments)
            tool = await bind(tool)
        called = getattr(tool.func, "async_call", tool.func)  # as ChatAgent does
        return await called(**arguments)

    async def bind(name):
        return next(each for each in toolkit.get_tools() if each.get_function_name() == name)

    async with connected(dial) as toolkit:
        yield Wrapper(list_tools=list_tools, call_tool=call_tool, bind=bind, close=toolkit.disconnect)


def _tool(found):
    shown = found.get_openai_tool_schema()["function"]
    return Tool(shown["name"], shown["description"], shown["parameters"], handle=found)
