"""mcp-proxy: a server in front of an SDK session, and the SDK session of a user who comes in there."""

import mcp.shared.memory
from mcp import ClientSession
from mcp_proxy.mcp_server import create_single_instance_routes
from mcp_proxy.proxy_server import create_proxy_server
from starlette.applications import Starlette

from pytest_mcp_conformance.adapters._calls import hears_progress, name_of, page_params
from pytest_mcp_conformance.adapters._transports import streams_of
from pytest_mcp_conformance.contract import WAYS, Claims, Wrapper, adapter

CLAIMS = Claims(
    proxies=True,
    follows_pages=False,  # passes each page on
    call_meta=True,
    progress=True,
    clock=True,
    one_shot=True,
    same_task_close=True,
    eras=("handshake",),
    transports=WAYS,
)


@adapter("mcp-proxy", claims=CLAIMS)
async def adapter_(dial):
    """The parts that `run_mcp_server` puts together, over the way in of this run."""
    memory = mcp.shared.memory
    async with streams_of(dial) as (read, write), ClientSession(read, write) as behind:
        proxy = await create_proxy_server(behind)
        routes, manager = create_single_instance_routes(proxy, stateless_instance=False)
        async with memory.create_connected_server_and_client_session(proxy) as user:

            async def list_page(cursor):
                page = await user.list_tools(params=page_params(cursor))
                return page.tools, page.nextCursor

            async def call_tool(tool, arguments, meta=None, on_progress=None):
                how = {"progress_callback": hears_progress(on_progress), "meta": meta}
                return await user.call_tool(name_of(tool), arguments, **how)

            yield Wrapper(
                list_tools=user.list_tools,
                call_tool=call_tool,
                call_with=call_tool,
                refresh=user.list_tools,
                list_page=list_page,
                front=lambda: Starlette(routes=routes, lifespan=lambda app: manager.run()),
            )
