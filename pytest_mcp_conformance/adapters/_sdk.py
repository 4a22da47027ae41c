"""What the SDK's session and its client have in common: claims, and the verbs that list and call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_mcp_conformance.adapters._calls import hears_progress, name_of
from pytest_mcp_conformance.contract import WAYS, Claims

__all__ = ["CLAIMS", "LIMIT", "verbs_of"]

LIMIT = 30.0

CLAIMS = Claims(
    follows_pages=False,
    isolates_principals=True,
    own_timeout=LIMIT,
    limits_verbs=False,  # Client: "Timeout for read operations"
    call_meta=True,
    progress=True,
    clock=True,
    one_shot=True,
    same_task_close=True,
    transports=WAYS,
)


def verbs_of(sdk: Any, limit_of: Callable[[float], Any] = float) -> dict[str, Any]:
    """The verbs of a session or a client.

    Args:
        sdk: What lists and calls.
        limit_of: Gives a limit of so many seconds as it takes them.
    """

    async def list_tools() -> Any:
        return (await sdk.list_tools()).tools

    async def call_tool(tool: Any, arguments: dict[str, Any], **how: Any) -> Any:
        return await sdk.call_tool(name_of(tool), arguments, **how)

    async def call_with(tool: Any, arguments: dict[str, Any], meta: Any, on_progress: Any) -> Any:
        return await call_tool(tool, arguments, meta=meta, progress_callback=hears_progress(on_progress))

    async def call_within(tool: Any, arguments: dict[str, Any], seconds: float) -> Any:
        return await call_tool(tool, arguments, read_timeout_seconds=limit_of(seconds))

    return {
        "list_tools": list_tools,
        "call_tool": call_tool,
        "call_with": call_with,
        "call_within": call_within,
    }
