"""A client and a server of mcp 2.x that are traced: `python traced.py FILE` writes their spans as lines.

With `alone` after it the client alone is traced, and the server is another process.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.recording.shop import shop

spans = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)


async def visit(alone: bool) -> None:
    """List, call well and badly, change the tools, and list again."""
    child = StdioServerParameters(command=sys.executable, args=[str(Path(__file__).parent / "shop.py")])
    async with Client(stdio_client(child) if alone else shop, mode="legacy") as client:
        await client.list_tools()
        await client.call_tool("price", {"item": "pen"})
        await client.call_tool("price", {"item": "nothing"})
        await client.call_tool("restock", {})
        await client.list_tools()


anyio.run(visit, "alone" in sys.argv)
Path(sys.argv[1]).write_text("\n".join(span.to_json(indent=None) for span in spans.get_finished_spans()))
