"""The `MCPClient` of mcp-use, with one session for one server."""

import os

from pytest_mcp_conformance.contract import Claims, Wrapper, adapter

os.environ.setdefault("MCP_USE_ANONYMIZED_TELEMETRY", "false")  # it would go to other hosts
CLAIMS = Claims(
    redials=True,  # docstring of `BaseConnector.call_tool`: "automatic reconnection handling"
    isolates_principals=True,  # a client for each user
    callbacks=True,  # `logging_callback`
    eras=("handshake",),
    transports=("http", "stdio", "loopback"),
)


@adapter("mcp-use", claims=CLAIMS)
async def adapter_(dial):
    """A client with a configuration of one server; each verb is a method of its session."""
    from mcp_use import MCPClient

    logged = []

    async def hears(params):
        logged.append(str(params.data))

    token = dial.headers.get("Authorization", "").removeprefix("Bearer ")
    how = {"auth": token} if token else {}  # its header alone would have OAuth looked for without it
    client = MCPClient({"mcpServers": {"server": dial.settings(**how)}}, logging_callback=hears)

    async def list_tools():
        return await client.get_session("server").list_tools()

    async def call_tool(tool, arguments):
        return await client.get_session("server").call_tool(getattr(tool, "name", tool), arguments)

    async def found():
        return (await client.search_tools())["results"]

    async def connect():
        await client.create_session("server")

    try:
        await connect()
        yield Wrapper(
            list_tools=list_tools,
            call_tool=call_tool,
            reconnect=connect,
            close=client.close_all_sessions,
            accessors=lambda: {"search_tools": found},
            received=lambda: logged,
        )
    finally:
        await client.close_all_sessions()
