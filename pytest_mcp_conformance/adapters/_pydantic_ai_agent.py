"""One run of pydantic-ai's agent with a toolset, whose model makes the calls that it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

__all__ = ["run_of"]


def run_of(toolset: Any) -> Any:
    """The verb `run` of a toolset."""

    async def run(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        said = [ToolCallPart(name, arguments, f"call-{n}") for n, (name, arguments) in enumerate(calls)]
        ahead = iter(said)

        def model(messages: list[Any], info: Any) -> ModelResponse:
            return ModelResponse(parts=[next(ahead, TextPart("done"))])

        ran = await Agent(FunctionModel(model), toolsets=[toolset]).run("call")
        asked = [message for message in ran.all_messages() if message.kind == "request"]
        parts = [part for message in asked for part in message.parts]
        shown = {part.tool_call_id: part.content for part in parts if hasattr(part, "tool_call_id")}
        return [shown[call.tool_call_id] for call in said]

    return run
