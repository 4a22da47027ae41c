"""A stdio transport of its own, for wrappers that end their children wrongly."""

from __future__ import annotations

import json
import subprocess
from contextlib import asynccontextmanager

import anyio
from anyio.streams.text import TextReceiveStream

from pytest_mcp_conformance.server.ways._wire import decode, encode

__all__ = ["child_streams"]


@asynccontextmanager
async def child_streams(command, end):
    """The (read, write) pair of a child, which `await end(process)` ends once its stdin is closed."""
    process = await anyio.open_process(list(command), stderr=subprocess.DEVNULL)
    heard, read = anyio.create_memory_object_stream(100)
    write, said = anyio.create_memory_object_stream(0)

    async def hear():
        async with heard:
            rest = ""
            async for text in TextReceiveStream(process.stdout):
                *lines, rest = (rest + text).split("\n")
                for line in lines:
                    await heard.send(decode(json.loads(line)))

    async def say():
        async with said:
            async for message in said:
                await process.stdin.send(json.dumps(encode(message)).encode() + b"\n")

    async with anyio.create_task_group() as both:
        both.start_soon(hear)
        both.start_soon(say)
        try:
            yield read, write
        finally:
            both.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await process.stdin.aclose()
                await end(process)
                await process.stdout.aclose()
