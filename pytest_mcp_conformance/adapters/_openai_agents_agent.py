"""One run of an agent of openai-agents with a server, whose model makes the calls that it is told to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

__all__ = ["run_of"]

DONE = ResponseOutputMessage(
    id="done",
    content=[ResponseOutputText(annotations=[], text="done", type="output_text")],
    role="assistant",
    status="completed",
    type="message",
)


class Says(Model):
    """A model that says one thing after the other, and then that it is done.

    Args:
        said: The things.
    """

    def __init__(self, said: Sequence[Any]) -> None:
        self._ahead = iter(said)

    async def get_response(self, *asked: Any, **more: Any) -> ModelResponse:
        """The next thing."""
        return ModelResponse(output=[next(self._ahead, DONE)], usage=Usage(), response_id=None)

    def stream_response(self, *asked: Any, **more: Any) -> Any:
        """Nobody asks for it."""
        raise NotImplementedError


def run_of(server: Any) -> Any:
    """The verb `run` of a server."""

    async def run(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        said = [
            ResponseFunctionToolCall(
                name=name, arguments=json.dumps(arguments), call_id=f"call-{n}", type="function_call"
            )
            for n, (name, arguments) in enumerate(calls)
        ]
        agent: Any = Agent("agent", model=Says(said), mcp_servers=[server])
        ran = await Runner.run(
            agent, "call", max_turns=2 * len(said) + 1, run_config=RunConfig(tracing_disabled=True)
        )
        items: Any = ran.new_items
        shown = {each.raw_item["call_id"]: each.output for each in items if hasattr(each, "output")}
        return [shown[call.call_id] for call in said]

    return run
