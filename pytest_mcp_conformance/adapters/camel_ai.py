"""CAMEL's `MCPToolkit` with one server: function tools that an agent awaits by `func.async_call`."""

from inspect import signature

from camel.toolkits import MCPToolkit

from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter

LIMIT = 30.0
ONCE = {"max_retries": 1} if "max_retries" in signature(MCPToolkit).parameters else {}  # since 0.2.90


@adapter(
    "camel-ai",
    claims=Claims(
        caches_listings=True,  # MCPClient._try_connect: lists once, when it connects; get_tools reads that
        own_timeout=LIMIT,  # MCPToolkit and MCPClient, `timeout`; with one try, as two may take twice as long
        binds_tools=True,
        clock=True,
        eras=("handshake",),
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial):
    """A toolkit over one server, as its configuration file would name it."""
    servers = {"mcpServers": {"server": dial.settings()}}
    toolkit = MCPToolkit(config_dict=servers, timeout=LIMIT, **ONCE)

    async def list_tools():
        return [_tool(each) for each in toolkit.get_tools()]

    async def call_tool(tool, arguments):
        if isinstance(tool, str):
            return await toolkit.call_tool(tool, arguments)
        return await tool.func.async_call(**arguments)  # as ChatAgent does

    async def bind(name):
        return next(each for each in toolkit.get_tools() if each.get_function_name() == name)

    async with toolkit:
        yield Wrapper(list_tools=list_tools, call_tool=call_tool, bind=bind, close=toolkit.disconnect)


def _tool(found):
    shown = found.get_openai_tool_schema()["function"]
    return Tool(shown["name"], shown["description"], shown["parameters"], handle=found)
