"""The proxy of fastmcp over a `StatefulProxyClient`: one session behind for each session in front."""

from importlib.metadata import version

from pytest_mcp_conformance.adapters._fastmcp import transport_of
from pytest_mcp_conformance.adapters._fastmcp_mounts import together_of
from pytest_mcp_conformance.adapters._fastmcp_proxy import ALOUD, META, MODULE, user_of
from pytest_mcp_conformance.contract import WAYS, Claims, adapter


@adapter(
    "fastmcp-proxy-stateful",
    version=version("fastmcp"),
    claims=Claims(  # by the docstrings of `StatefulProxyClient` and `ProxyClient`
        proxies=True,
        call_meta=META,
        progress=True,  # "Supports forwarding [...] logging, progress"
        callbacks=True,
        clock=True,
        eras=("handshake",),  # "defaults to the handshake era"
        transports=WAYS,
    ),
)
async def adapter_(dial):
    """Its close is `clear`, which disconnects the clients of all sessions in front."""
    transport = transport_of(dial)
    behind = MODULE.StatefulProxyClient(transport)
    proxy = MODULE.FastMCPProxy(client_factory=behind.new_stateful, **ALOUD)

    async def close():
        await behind.clear()
        await transport.close()  # a StdioTransport keeps its child beyond each session, until this

    verbs = {"close": close} if hasattr(behind, "clear") else {}  # since 2.11
    async with user_of(proxy, "handshake", together=together_of(MODULE), **verbs) as wrapper:
        yield wrapper
    await transport.close()
