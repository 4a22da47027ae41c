"""LlamaIndex's `McpToolSpec` over its `BasicMCPClient`, which dials for each operation."""

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

from pytest_mcp_conformance.adapters._llama_index_agent import run_of
from pytest_mcp_conformance.contract import Claims, Tool, Wrapper, adapter

LIMIT = 30


@adapter(
    "llama-index-tools-mcp",
    claims=Claims(  # by the docstrings of llama_index.tools.mcp.client.BasicMCPClient
        isolates_principals=True,  # headers: "to pass by sse client or streamable http client"
        own_timeout=float(LIMIT),  # timeout: "for HTTP operations in seconds", and of each session
        limits_verbs=False,  # the same
        clock=True,
        lazy_connect=True,
        dials_per_operation=True,  # _run_session: "Create and initialize a session", around each operation
        eras=("handshake",),  # _run_session: initialize
        transports=("http", "stdio", "loopback"),
    ),
)
async def adapter_(dial):
    """The tools as an agent gets them, and each called as `FunctionTool`."""
    if dial.transport == "stdio":
        command, *arguments = dial.command
        client = BasicMCPClient(command, args=arguments, timeout=LIMIT)
    else:
        client = BasicMCPClient(dial.url, headers=dial.headers, timeout=LIMIT)
    spec = McpToolSpec(client=client)

    async def list_tools():
        return [_shown(tool) for tool in await spec.to_tool_list_async()]

    async def call(tool, sent):
        by_name = isinstance(tool, str)
        return await client.call_tool(tool, sent) if by_name else (await tool.acall(**sent)).raw_output

    yield Wrapper(list_tools=list_tools, call_tool=call, read_resource=client.read_resource, run=run_of(spec))


def _shown(tool):
    about = tool.metadata
    return Tool(about.name, about.description, about.get_parameters_dict(), handle=tool)
