"""One run of LlamaIndex's agent with the tools of a spec, whose model makes the calls that it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.llms import ChatMessage, mock

__all__ = ["run_of"]


def run_of(spec: Any) -> Any:
    """The verb `run` of a spec; None where the installed core has no model for it."""
    if not hasattr(mock, "MockFunctionCallingLLM"):  # since core 0.14
        return None
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.base.llms.types import ToolCallBlock

    async def run(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        said = [
            ToolCallBlock(tool_call_id=f"call-{n}", tool_name=name, tool_kwargs=arguments)
            for n, (name, arguments) in enumerate(calls)
        ]
        ahead = iter([ChatMessage(role="assistant", blocks=[call]) for call in said])

        def say(messages: Any, **asked: Any) -> Any:
            return next(ahead, ChatMessage(role="assistant", content="done"))

        model = mock.MockFunctionCallingLLM(response_generator=say)
        agent: Any = FunctionAgent(tools=await spec.to_tool_list_async(), llm=model)
        ran = await agent.run("call", max_iterations=2 * len(said) + 1)
        shown = {each.tool_id: each.tool_output.content for each in ran.tool_calls}
        return [shown[call.tool_call_id] for call in said]

    return run
