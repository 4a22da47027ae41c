"""Semantic Kernel's MCP plugins: each tool is a function on the plugin, where a kernel finds it."""

from semantic_kernel import Kernel
from semantic_kernel.connectors import mcp
from semantic_kernel.connectors.ai import function_calling_utils as shown
from semantic_kernel.functions import KernelArguments, KernelPlugin

from pytest_mcp_conformance.contract import WAYS, Claims, Tool, Wrapper, adapter

CLAIMS = Claims(
    caches_listings=True,  # MCPPluginBase.load_tools sets the tools on the plugin, once, when it connects
    reacts_to_list_changed=0.0,  # MCPPluginBase.message_handler: "will trigger a reload of the tools"
    own_timeout=30.0,  # MCPPluginBase.__init__: request_timeout is "used for all requests"
    binds_tools=True,
    clock=True,
    eras=("handshake",),
    transports=WAYS,
)


@adapter("semantic-kernel", claims=CLAIMS)
async def adapter_(dial):
    """A plugin, and the functions that a kernel to which it is added finds there."""

    async def list_tools():
        return [_tool(found) for found in KernelPlugin.from_object(plugin.name, plugin)]

    async def call_tool(tool, arguments):
        if isinstance(tool, str):
            return "\n".join(map(str, await plugin.call_tool(tool, **arguments)))
        return "\n".join(map(str, (await tool.invoke(Kernel(), KernelArguments(**arguments))).value))

    async def bind(name):
        return KernelPlugin.from_object(plugin.name, plugin)[name]

    async with _plugin(dial) as plugin:
        verbs = {"refresh": plugin.load_tools, "close": plugin.close}
        yield Wrapper(list_tools=list_tools, call_tool=call_tool, bind=bind, **verbs)


def _plugin(dial):
    if dial.transport == "stdio":
        command, *arguments = dial.command
        return mcp.MCPStdioPlugin("server", command, args=arguments, request_timeout=30)
    if dial.transport == "memory":
        kind = type("OverMemory", (mcp.MCPPluginBase,), {"get_mcp_client": lambda self: dial.streams()})
        return kind("server", request_timeout=30)
    return mcp.MCPStreamableHttpPlugin("server", dial.url, headers=dial.headers, request_timeout=30)


def _tool(found):
    function = shown.kernel_function_metadata_to_function_call_format(found.metadata)["function"]
    return Tool(found.name, function["description"], function["parameters"], handle=found)
