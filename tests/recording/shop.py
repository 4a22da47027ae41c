"""A real server of the SDK's own, of either major, that changes its tools: `python shop.py [PORT]`."""

from __future__ import annotations

import sys
from typing import Any

try:
    from mcp.server.mcpserver import Context, MCPServer
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer  # type: ignore[no-redef]

shop = MCPServer("shop")


@shop.tool()
def price(item: str) -> int:
    """The price of an item."""
    if item == "nothing":
        raise ValueError(f"no price of {item}")
    return len(item)


def refund(item: str) -> str:
    """Take an item back."""
    return f"{item} taken back"


@shop.tool()
async def restock(context: Context) -> str:  # type: ignore[type-arg]
    """Have one tool more, and say so."""
    shop.add_tool(refund)
    if hasattr(context, "notify_tools_changed"):
        await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "restocked"


def serve(port: int) -> None:
    """Serve over HTTP; 127.0.0.1:PORT/mcp."""
    more: dict[str, Any] = {"port": port}
    if hasattr(shop, "settings") and hasattr(shop.settings, "port"):
        shop.settings.port = port
        more = {}
    shop.run("streamable-http", **more)


if __name__ == "__main__":
    serve(int(sys.argv[1])) if len(sys.argv) > 1 else shop.run("stdio")
