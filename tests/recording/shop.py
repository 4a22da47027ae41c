"""A real server of the SDK's own, of either major, that changes its tools: `python shop.py [http]`."""

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


def serve() -> None:
    """Serve over HTTP, on a port that is free."""
    more: dict[str, Any] = {"port": 0}
    if hasattr(shop, "settings") and hasattr(shop.settings, "port"):  # mcp 1.x
        shop.settings.port = 0
        more = {}
    shop.run("streamable-http", **more)


if __name__ == "__main__":
    serve() if "http" in sys.argv else shop.run("stdio")
