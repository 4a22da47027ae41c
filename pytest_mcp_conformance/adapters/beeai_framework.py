"""BeeAI's `MCPTool`: `from_client` opens a session over given streams, and its tools keep it open."""

from weakref import ref

from beeai_framework.tools.mcp import MCPTool

from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS, Claims, Tool, Wrapper, adapter


@adapter(
    "beeai-framework",
    claims=Claims(
        caches_listings=True,  # MCPTool.from_session lists once, and its user keeps the tools
        binds_tools=True,
        clock=True,
        eras=("handshake",),
        transports=WAYS,
    ),
)
async def adapter_(dial):
    """The tools of one session. Letting them go closes it, so they are handed out by weak references."""
    tools = {tool.name: tool for tool in await MCPTool.from_client(streams_of(dial))}

    async def list_tools():
        return [
            Tool(name, tool.description, tool.input_schema.model_json_schema(), handle=ref(tool))
            for name, tool in tools.items()
        ]

    async def call_tool(tool, arguments):
        bound = tools[tool] if isinstance(tool, str) else tool()
        return (await bound.run(arguments)).result

    async def bind(name):
        return ref(tools[name])

    yield Wrapper(list_tools=list_tools, call_tool=call_tool, bind=bind)
    tools.clear()
