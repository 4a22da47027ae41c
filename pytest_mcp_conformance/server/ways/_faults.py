"""Faults that streamable HTTP itself plays: statuses, and bodies that break off."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from pytest_mcp_conformance.server.faults import HANGS_UP, SILENT, SLOW, Fault
from pytest_mcp_conformance.server.ways._messages import SSE, Reply
from pytest_mcp_conformance.server.ways._streams import Body

__all__ = ["farewell", "reply_of"]


def reply_of(fault: Fault) -> Reply:
    """The response that a fault gives: a status that nothing else in it tells, or a body that breaks off."""
    if not fault.status:
        return Reply(200, {"content-type": SSE}, Body(_cut()))
    return Reply.text(fault.status, "scripted", **dict(fault.headers))


async def farewell(fault: Fault | None) -> Reply:
    """The response to a DELETE.

    Raises:
        ConnectionResetError: The fault is that the connection is lost.
    """
    if fault is None:
        return Reply(200)
    if fault.name == HANGS_UP.name:
        raise ConnectionResetError("the connection was cut")
    if fault.name in (SILENT.name, SLOW.name):
        await anyio.sleep(fault.seconds if fault.name == SLOW.name else float("inf"))
        return Reply(200)
    return reply_of(fault)


async def _cut() -> AsyncIterator[bytes]:
    yield b'event: message\ndata: {"jsonrpc": "2.0", '
    raise ConnectionResetError("the connection was cut")
