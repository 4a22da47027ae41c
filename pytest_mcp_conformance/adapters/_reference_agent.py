"""An agent above a client, as frameworks have it: the tools, a call, what came of it, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_conformance_reference import ReferenceClient
from mcp_conformance_reference.errors import ClientError

__all__ = ["Agent"]


class Agent:
    """Runs a model that makes the calls that it is told to.

    Args:
        client: Whose tools it has.
    """

    def __init__(self, client: ReferenceClient) -> None:
        self.client = client

    async def run(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        """The verb: before each step the model is shown the tools, and after it what came of the call."""
        shown = []
        for name, arguments in calls:
            tools = await self.tools()
            shown.append(await self.outcome(tools.get(name, name), arguments))
        return shown

    async def tools(self) -> dict[str, Any]:
        """The tools of one step, by name."""
        return {tool.name: tool for tool in await self.client.list_tools()}

    async def outcome(self, tool: Any, arguments: dict[str, Any]) -> Any:
        """What the model is shown of a call: its result, or what went wrong."""
        try:
            return await self.client.call_tool(tool, arguments)
        except ClientError as error:
            return f"error: {error}"
