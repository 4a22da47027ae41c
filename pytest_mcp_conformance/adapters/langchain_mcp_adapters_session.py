"""LangChain tools of langchain-mcp-adapters over one session that its user opened, as its README shows."""

from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession

from pytest_mcp_conformance.adapters import _langchain as ours
from pytest_mcp_conformance.contract import WAYS, Claims, Wrapper, adapter

CLAIMS = Claims(  # the sections are those of https://docs.langchain.com/oss/python/langchain/mcp
    isolates_principals=True,  # "Stateful sessions": each user opens one
    own_timeout=ours.LIMIT,  # `session_kwargs`
    limits_verbs=False,  # the same: "to pass to the ClientSession"
    progress=ours.HAS_HANDLERS,  # "Progress notifications"
    binds_tools=True,
    callbacks=ours.HAS_HANDLERS,  # "Logging"
    clock=True,
    eras=("handshake",),
    transports=WAYS,
    same_task_close=True,  # the SDK's session
    one_shot=True,
)


@adapter(
    "langchain-mcp-adapters-session",
    version=version("langchain-mcp-adapters"),
    claims=CLAIMS,
    shared=ours.common_settings,
)
async def adapter_(dial, settings):
    """A session of the client; over memory, which it does not take, one that the user made."""
    logged = []

    async def hears(params, context=None):
        logged.append(str(params.data))

    how = ours.handlers(hears)
    async with AsyncExitStack() as stack:
        if dial.transport == "memory":
            read, write = await stack.enter_async_context(dial.streams())
            session = await stack.enter_async_context(
                ClientSession(read, write, logging_callback=hears, **settings)
            )
            await session.initialize()
        else:
            connections = {"server": ours.connection_to(dial, settings)}
            client = MultiServerMCPClient(connections, **how)
            session = await stack.enter_async_context(client.session("server"))
        verbs = ours.tool_verbs(partial(load_mcp_tools, session, **how), session, **how)
        yield Wrapper(**verbs, received=lambda: logged)
