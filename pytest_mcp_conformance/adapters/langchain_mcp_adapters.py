"""The `MultiServerMCPClient` of langchain-mcp-adapters by default: a session for each list and call."""

from contextlib import AsyncExitStack

from langchain_mcp_adapters.client import MultiServerMCPClient

from pytest_mcp_conformance.adapters import _langchain as ours
from pytest_mcp_conformance.contract import Claims, Wrapper, adapter

STATELESS = hasattr(MultiServerMCPClient, "session")  # before 0.1 it is entered, and loads its tools once
CLAIMS = Claims(  # the sections are those of https://docs.langchain.com/oss/python/langchain/mcp
    redials=STATELESS,  # "Quickstart": stateless by default, a fresh session for each tool invocation
    isolates_principals=True,  # "Tool interceptors": the credentials of the user of a run
    own_timeout=ours.LIMIT,  # `session_kwargs`
    limits_verbs=False,  # the same: "to pass to the ClientSession"
    progress=ours.HAS_HANDLERS,  # "Progress notifications"
    binds_tools=True,
    callbacks=ours.HAS_HANDLERS,  # "Logging"
    clock=True,
    eras=("handshake",),
    transports=("http", "stdio", "loopback", "sse"),
    lazy_connect=STATELESS,
    dials_per_operation=STATELESS,
    caches_listings=not STATELESS,
    same_task_close=not STATELESS,
    one_shot=not STATELESS,
)


@adapter(
    "langchain-mcp-adapters",
    claims=CLAIMS,
    shared=ours.common_settings,
)
async def adapter_(dial, settings):
    """A client of one server; its tools are called as LangChain tools."""
    logged = []

    async def hears(params, context):
        logged.append(str(params.data))

    connection, how = ours.connection_to(dial, settings), ours.handlers(hears)
    client = MultiServerMCPClient({"server": connection}, **how)

    async def set_principal(renewed):
        client.connections["server"]["headers"] = renewed.headers

    async with AsyncExitStack() as entered:
        session = None if STATELESS else (await entered.enter_async_context(client)).sessions["server"]
        how |= {"connection": connection} if STATELESS else {}
        verbs = ours.tool_verbs(client.get_tools, session, **how)
        if STATELESS and dial.transport != "stdio":  # headers are of HTTP
            verbs["set_principal"] = set_principal
        verbs["together"] = ours.together_of(settings) if STATELESS else None
        yield Wrapper(**verbs, received=lambda: logged)
