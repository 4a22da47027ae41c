"""fastmcp's `Client`, with its response cache where it has one (4.x)."""

from functools import partial

from fastmcp import Client

from pytest_mcp_conformance.adapters._calls import hears_log, hears_progress, name_of
from pytest_mcp_conformance.adapters._fastmcp import MODERN, RAW, cache_of, transport_of
from pytest_mcp_conformance.adapters._fastmcp_config import together_of
from pytest_mcp_conformance.contract import WAYS, Claims, Wrapper, adapter

LIMIT = 30.0


@adapter(
    "fastmcp",
    claims=Claims(  # the docstrings of `fastmcp.Client` and of its methods: the parameters that are named
        caches_listings=MODERN,  # cache
        own_timeout=LIMIT,  # timeout, init_timeout, call_tool(timeout)
        limits_verbs=False,  # timeout: "for requests"
        call_meta=True,  # call_tool(meta)
        progress=True,  # call_tool(progress_handler)
        callbacks=True,  # log_handler
        answers_input=MODERN,  # input_required_max_rounds
        isolates_principals=True,
        clock=True,
        eras=("handshake", "modern") if MODERN else ("handshake",),
        transports=WAYS,
    ),
)
async def adapter_(dial):
    """One client, entered once, in the era that it finds for itself; each verb is a method of its own."""
    heard = []
    timeouts = {"timeout": LIMIT, "init_timeout": LIMIT}
    client = Client(transport_of(dial), log_handler=hears_log(heard), **timeouts, **cache_of(dial))

    async def call_tool(tool, arguments, timeout=LIMIT, **how):
        return await client.call_tool(name_of(tool), arguments, timeout=timeout, **RAW, **how)

    async def call_with(tool, arguments, meta, on_progress):
        how = {"meta": meta, "progress_handler": hears_progress(on_progress)}
        return await call_tool(tool, arguments, **how)

    async with client:
        yield Wrapper(
            list_tools=client.list_tools,
            call_tool=call_tool,
            call_with=call_with,
            call_within=call_tool,
            refresh=partial(client.list_tools, **({"cache_mode": "refresh"} if MODERN else {})),
            close=client.close,
            read_resource=client.read_resource,
            received=lambda: heard,
            together=None if dial.transport == "memory" else together_of(LIMIT),  # a config has no streams
        )
    await client.close()  # StdioTransport keeps its child beyond the block, until this
