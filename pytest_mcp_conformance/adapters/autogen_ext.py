"""The `McpWorkbench` of autogen-ext."""

from contextlib import AsyncExitStack

from autogen_ext.tools import mcp

from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter

HTTP = ("http", "loopback") if hasattr(mcp, "StreamableHttpServerParams") else ()  # since 0.6


@adapter(
    "autogen-ext",
    claims=Claims(
        isolates_principals=True,  # a workbench for each user
        own_timeout=30.0,  # `read_timeout_seconds`, or `sse_read_timeout` over HTTP
        limits_verbs=False,  # "for SSE read operations"
        clock=True,
        eras=("handshake",),
        transports=("stdio", *HTTP),
    ),
)
async def adapter_(dial):
    """A started workbench, whose tools are schemas for a model, and called by name."""
    if dial.transport == "stdio":
        way = mcp.StdioServerParams(**dial.settings(), read_timeout_seconds=30.0)
    else:
        way = mcp.StreamableHttpServerParams(**dial.settings(), sse_read_timeout=30.0)
    workbench = mcp.McpWorkbench(way)

    async def list_tools():
        listed = await workbench.list_tools()
        return [Tool(each["name"], each["description"], each["parameters"]) for each in listed]

    async def call_tool(name, arguments):
        result = await workbench.call_tool(name, arguments)
        return {"content": result.to_text(), "isError": result.is_error}

    async def close():
        entered.pop_all()  # what is stopped already is not stopped once more
        await workbench.stop()

    async with AsyncExitStack() as entered:
        await entered.enter_async_context(workbench)
        yield Wrapper(list_tools=list_tools, call_tool=call_tool, close=close)
