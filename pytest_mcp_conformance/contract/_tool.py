"""A tool as the wrapper hands it out, read from whatever object the wrapper uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._errors import AdapterError

__all__ = ["Tool", "names_of", "tool_of", "tools_of"]


@dataclass(frozen=True)
class Tool:
    """One tool as handed out. An adapter may return these, SDK tools, objects with `.name`, or names.

    Attributes:
        name: What the user would call.
        description: Its text, or `None` where the wrapper shows none.
        input_schema: Its input schema, or `None` where the wrapper shows none.
        output_schema: Its output schema, or `None` where there is none or the wrapper shows none.
        handle: The very object that the wrapper handed out; it goes back to `call_tool`.
    """

    name: str
    description: str | None = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    handle: Any = field(default=None, compare=False, repr=False)


def tool_of(handed_out: Any) -> Tool:
    """Read one tool.

    Raises:
        AdapterError: It is no name and has no name.
    """
    if isinstance(handed_out, Tool):
        return (
            handed_out
            if handed_out.handle is not None
            else Tool(
                handed_out.name,
                handed_out.description,
                handed_out.input_schema,
                handed_out.output_schema,
                handed_out.name,
            )
        )
    if isinstance(handed_out, str):
        return Tool(handed_out, handle=handed_out)
    name = _read(handed_out, "name")
    if not isinstance(name, str):
        raise AdapterError(
            f"list_tools gave {_short(handed_out)}, which has no name: "
            "give names, objects with .name, or pytest_mcp_conformance.Tool"
        )
    return Tool(
        name,
        _read(handed_out, "description"),
        _read(handed_out, "input_schema", "inputSchema"),
        _read(handed_out, "output_schema", "outputSchema"),
        handed_out,
    )


def tools_of(handed_out: Any) -> list[Tool]:
    """Read a listing: an iterable of tools, or an SDK result that carries `tools`.

    Raises:
        AdapterError: It cannot be iterated, or holds something that is not a tool.
    """
    if hasattr(handed_out, "tools") and not isinstance(handed_out, Mapping):
        handed_out = handed_out.tools
    if isinstance(handed_out, str) or not isinstance(handed_out, Iterable):
        raise AdapterError(
            f"list_tools gave {_short(handed_out)}, not a list of tools: return an iterable of tools or names"
        )
    return [tool_of(each) for each in handed_out]


def names_of(tools: Iterable[Tool]) -> list[str]:
    """The names of tools, sorted: in which order they are handed out is for one rule alone to judge."""
    return sorted(tool.name for tool in tools)


def _read(holder: Any, *names: str) -> Any:
    """The first of these that is there. No further one is looked at: its name may be a deprecated one."""
    for name in names:
        if isinstance(holder, Mapping):
            if name in holder:
                return holder[name]
        elif hasattr(holder, name):
            return getattr(holder, name)
    return None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
