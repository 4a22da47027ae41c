"""One run of Agno's agent with a toolkit, whose model makes the calls that it is told to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse

__all__ = ["run_of"]


class Says(Model):
    """A model that says one thing after the other, and then that it is done.

    Args:
        said: The things.
    """

    def __init__(self, said: Sequence[ModelResponse]) -> None:
        super().__init__(id="scripted")
        self._ahead = iter(said)

    async def ainvoke(self, *asked: Any, **more: Any) -> ModelResponse:
        """The next thing."""
        return next(self._ahead, ModelResponse(role="assistant", content="done"))

    invoke = invoke_stream = ainvoke_stream = None  # nobody asks for them
    _parse_provider_response = _parse_provider_response_delta = None


def run_of(toolkit: Any) -> Any:
    """The verb `run` of a toolkit."""

    async def run(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        said = [
            {"id": f"call-{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(sent)}}
            for n, (name, sent) in enumerate(calls)
        ]
        model: Any = Says([ModelResponse(role="assistant", tool_calls=[call]) for call in said])
        ran: Any = await Agent(model=model, tools=[toolkit], telemetry=False).arun("call")
        shown = {each.tool_call_id: each.result for each in ran.tools or ()}
        return [shown[call["id"]] for call in said]

    return run
